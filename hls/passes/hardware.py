"""What the language has and hardware has not yet: the one table that says so.

A part that gets built takes its row out of here.
"""

from dataclasses import dataclass

from ..diag import CompileError, Diagnostic
from ..ir import Function, Module, Op, walk
from .alone import NEEDLESS

__all__ = ["ATTRIBUTES", "OPERATIONS", "check_hardware"]


@dataclass(frozen=True)
class Missing:
    """``what`` is not yet in hardware; ``instead`` says what to write until it is."""

    what: str
    instead: str


#: operation -> why it is refused
OPERATIONS: dict[str, Missing] = {
    "mem_fence": Missing("a memory fence", "within one work-item accesses are already in order"),
    "channel_read": Missing("reading a channel or pipe", "pass the data through a __global buffer, or run it in the emulator"),
    "channel_write": Missing("writing a channel or pipe", "pass the data through a __global buffer, or run it in the emulator"),
    "printf": Missing("printf", "store the value into a __global buffer, or run it in the emulator"),
}

#: attributes of kernels (first) and of memories (second) that hardware does not follow yet: they are warned of
ATTRIBUTES: tuple[frozenset[str], frozenset[str]] = (
    frozenset({"num_simd_work_items", "num_compute_units", "autorun", "scheduler_target_fmax_mhz", "num_share_resources",
               "max_share_resources", "use_stall_enable_clusters"}),
    frozenset({"numbanks", "bankwidth", "bank_bits", "singlepump", "doublepump", "numreadports", "numwriteports", "merge",
               "max_replicates", "private_copies", "max_private_copies", "simple_dual_port", "static_array_offset",
               "force_pow2_depth", "memory", "register", "buffer_location"}),
)


def check_hardware(module: Module) -> list[Diagnostic]:
    """Warnings for attributes that are not followed; raises CompileError naming all that cannot be built yet."""
    errors, warnings = [], []
    for function in module.functions.values():
        errors += _operations(function)
        warnings += _attributes(function)
    if errors:
        raise CompileError(*dict.fromkeys(errors))
    return list(dict.fromkeys(warnings))


def _operations(function: Function) -> list[Diagnostic]:
    return [_error(OPERATIONS[op.opcode], op) for op in walk(function.body)
            if op.opcode in OPERATIONS and (function.attrs.get("ndrange") or op.opcode not in NEEDLESS)]


def _error(missing: Missing, node: Op) -> Diagnostic:
    return Diagnostic(f"{missing.what} is not yet in hardware", node.span, missing.instead)


def _attributes(function: Function) -> list[Diagnostic]:
    kernel, memory = ATTRIBUTES
    found = [(name, function.span, function.name) for name in function.attrs if name in kernel]
    found += [(name, m.span, m.name) for m in function.memories.values() for name, _ in m.attrs if name in memory]
    return [Diagnostic(f"the attribute '{name}' of '{owner}' is not yet followed by hardware", span, "", "warning")
            for name, span, owner in found]

"""Target legality: tables of language features that hardware does not support, or not yet.

Supporting one means deleting its row here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ...diag import Code, CompileError, Diagnostic
from ...ir import Attr, Function, Module, walk
from ...ir.launch import compute_units
from ..manager import Form, ModulePass
from ..memory.storage_attributes import OF_MEMORIES
from .link_printf import console_of, printf_calls

__all__ = ["ATTRIBUTES", "CheckLegality", "check_hardware"]


#: attributes of kernels (first) and of memories (second) that hardware ignores so far, with a warning
ATTRIBUTES: tuple[frozenset[str], frozenset[str]] = (
    frozenset({Attr.NUM_SHARE_RESOURCES, Attr.MAX_SHARE_RESOURCES, Attr.USE_STALL_ENABLE_CLUSTERS}),
    frozenset({Attr.STATIC_ARRAY_OFFSET, Attr.FORCE_POW2_DEPTH}),
)

#: memory attributes that have no effect on the result, and why; for others the warning says only that they are ignored
REASONS: dict[str, str] = {
    Attr.STATIC_ARRAY_OFFSET: "every memory is a separate RAM that begins at address 0, so there is no offset",
    Attr.FORCE_POW2_DEPTH: "a bank has only the words that are used; block RAMs have a fixed depth, and LUT RAMs would "
    "only grow",
    Attr.REGISTER: "local memory is shared by work-items and stays in RAM; a private array is kept in registers",
    Attr.MERGE: "a single value is a register; arrays are merged",
}
#: reasons for attributes that shape a memory where there is none
OF_REGISTERS = "a single value is a register; an array is kept in memory"

#: attribute -> values of it that request the default behaviour
DONE_ANYWAY = {Attr.FORCE_POW2_DEPTH: (0,)}


@dataclass(frozen=True)
class CheckLegality(ModulePass):
    """Target legality check. Before and after: a linked program. Raises CompileError for what hardware cannot do;
    ``warn`` receives a warning for each attribute that is ignored."""

    warn: Callable[[Diagnostic], None] | None = None

    name = "check-legality"
    requires = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The same module."""
        for warning in check_hardware(module):
            if self.warn:
                self.warn(warning)
        return module


def check_hardware(module: Module) -> list[Diagnostic]:
    """Warnings for ignored attributes; raises CompileError naming everything that hardware does not support."""
    errors, warnings = [], []
    for function in module.functions.values():
        errors += _with_units(function)
        warnings += _attributes(function)
    warnings += _silent(module)
    if errors:
        raise CompileError(*dict.fromkeys(errors))
    return list(dict.fromkeys(warnings))


def _silent(module: Module) -> list[Diagnostic]:
    """A warning at the first printf, where hardware does not print."""
    kernels = [kernel for kernel in module.kernels if console_of(kernel) is None]
    calls = list(dict.fromkeys(op for kernel in kernels for op in printf_calls(module, kernel)))
    if not calls:
        return []
    more = len(calls) - 1
    others = f", here and in {more} more call{'s' if more > 1 else ''}" if more else ""
    return [
        Diagnostic(
            f"printf prints nothing on the board{others}",
            calls[0].span,
            "run it in the emulator to see the text, or compile with --printf, or store the value into a __global "
            "buffer",
            "warning",
            code=Code.LEFT_OUT_OF_HARDWARE,
        )
    ]


def _with_units(function: Function) -> list[Diagnostic]:
    """Warn of channel calls in kernels with several compute units: the order of the values differs from run to run."""
    if prod(compute_units(function)) == 1 or not function.attrs.get(Attr.NDRANGE) or function.attrs.get(Attr.AUTORUN):
        return []
    calls = [op for op in walk(function.body) if op.opcode in ("channel_read", "channel_write")]
    return [
        Diagnostic(
            "a channel call in a kernel of several compute units: work-groups are assigned to units at run time, so "
            "the order of the values would be undefined",
            op.span,
            "remove num_compute_units, let a kernel of one unit read or write the channel, or make it autorun: "
            "each copy then has the "
            "channel of an array that get_compute_id names",
            code=Code.UNITS_WITH_CHANNELS,
        )
        for op in calls
    ]


def _attributes(function: Function) -> list[Diagnostic]:
    kernel, memory = ATTRIBUTES
    found = [
        (name, function.span, function.name)
        for name, value in function.attrs.items()
        if name in kernel and value not in DONE_ANYWAY.get(name, ())
    ]
    found += [
        (name, m.asked_at(name), m.name)
        for m in function.memories.values()
        for name, value in m.attrs
        if name in memory and value not in DONE_ANYWAY.get(name, ())
    ]
    found += [
        (Attr.REGISTER, m.asked_at(Attr.REGISTER), m.name)
        for m in function.memories.values()
        if m.space == "local" and Attr.REGISTER in dict(m.attrs)
    ]
    found += [
        (name, m.asked_at(name), m.name)
        for m in function.memories.values()
        if m.onchip and m.length == 1
        for name, _ in m.attrs
        if name in OF_MEMORIES
    ]
    reasons = dict.fromkeys(OF_MEMORIES, OF_REGISTERS) | REASONS
    warnings = [
        Diagnostic(
            f"the attribute '{name}' of '{owner}' is not implemented in hardware yet"
            if name not in reasons
            else f"the attribute '{name}' of '{owner}' has no effect",
            span,
            reasons.get(name, ""),
            "warning",
            code=Code.ATTRIBUTE_NO_EFFECT,
        )
        for name, span, owner in found
    ]
    if prod(compute_units(function)) > 1 and not (function.attrs.get(Attr.NDRANGE) or function.attrs.get(Attr.AUTORUN)):
        warnings.append(
            Diagnostic(
                f"num_compute_units has no effect on '{function.name}': a single work-item kernel has no "
                "work-groups to distribute",
                function.span,
                "call get_global_id(0), or make it autorun: then it has as many copies",
                "warning",
                code=Code.ATTRIBUTE_NO_EFFECT,
            )
        )
    if function.attrs.get(Attr.NUM_SIMD_WORK_ITEMS, 1) > 1 and not function.attrs.get(Attr.NDRANGE):
        warnings.append(
            Diagnostic(
                f"num_simd_work_items has no effect on '{function.name}': it is a single work-item kernel",
                function.span,
                "call get_global_id(0), or remove the attribute",
                "warning",
                code=Code.ATTRIBUTE_NO_EFFECT,
            )
        )
    return warnings

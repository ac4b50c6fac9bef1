"""printf linking: a channel of the program for each kernel that prints."""

from dataclasses import dataclass
from math import prod

from ...ir import Attr, Function, MemoryObject, Module, Op, reachable, walk
from ...ir.clone import clone_module
from ...ir.printing import Format, record_type
from ..manager import Form, ModulePass
from .names import unused_name
from .replicate_autorun import compute_units

__all__ = ["LinkPrintf", "console_of", "printed_formats", "printf_calls", "why_silent"]


@dataclass(frozen=True)
class LinkPrintf(ModulePass):
    """printf linking. Before: a linked program. After: each `printf` that a printing kernel reaches has the number of
    its format, and each such kernel has a channel for its records (:mod:`hls.ir.printing`), which leads out of the
    design. Kernels that cannot print (:func:`why_silent`) get no channel."""

    name = "link-printf"
    requires = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The linked program."""
        result = clone_module(module)
        numbers: dict[Format, int] = {}
        for kernel in result.kernels:
            calls = printf_calls(result, kernel)
            if not calls or why_silent(result, kernel):
                continue
            for op in calls:
                op.attrs[Attr.FORMAT_NUMBER] = numbers.setdefault(_format(op), len(numbers))
            name = unused_name(f"printf_{kernel.name}", {*result.channels, *result.functions})
            attrs = ((Attr.IO, name), (Attr.PRINTS, True))
            records = record_type([_format(op) for op in calls])
            result.channels[name] = MemoryObject(name, "channel", records, span=calls[0].span, attrs=attrs)
            kernel.attrs[Attr.CONSOLE] = name
        return result


def why_silent(module: Module, kernel: Function) -> str:
    """Why hardware cannot print what a kernel prints; empty if it can."""
    if prod(compute_units(kernel)) > 1 and kernel.attrs.get(Attr.NDRANGE):
        return f"kernel '{kernel.name}' has several compute units"
    if kernel.attrs.get(Attr.NUM_SIMD_WORK_ITEMS, 1) > 1 and kernel.attrs.get(Attr.NDRANGE):
        return f"kernel '{kernel.name}' computes several work-items at a time"
    if any(op.opcode == "barrier" for one in reachable(module, kernel) for op in walk(one.body)):
        return f"work-items of kernel '{kernel.name}' wait at barriers"
    return ""


def console_of(kernel: Function) -> str | None:
    """The name of the channel that a kernel prints to; None if it has none."""
    return kernel.attrs.get(Attr.CONSOLE)


def printed_formats(module: Module) -> tuple[Format, ...]:
    """The formats of a program, by their numbers."""
    found = {
        op.attrs[Attr.FORMAT_NUMBER]: _format(op)
        for one in module.functions.values()
        for op in walk(one.body)
        if op.opcode == "printf" and Attr.FORMAT_NUMBER in op.attrs
    }
    return tuple(found[number] for number in sorted(found))


def printf_calls(module: Module, kernel: Function) -> list[Op]:
    """Each `printf` that a kernel reaches, also through helpers."""
    return [op for one in reachable(module, kernel) for op in walk(one.body) if op.opcode == "printf"]


def _format(op: Op) -> Format:
    return Format(op.attrs[Attr.FORMAT], tuple(value.type for value in op.operands[1:]))

"""printf linking: a channel of the program for each kernel that prints."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...ir import Attr, Function, MemoryObject, Module, Op, Region, reachable, walk
from ...ir.clone import clone_module
from ...ir.launch import most_dims
from ...ir.printing import Format, record_type
from ..manager import Form, ModulePass
from .names import unused_name

__all__ = ["MADE", "PASSED", "LinkPrintf", "console_of", "printed_formats", "printf_calls", "record_place"]

#: of the place of a record: how many barriers its work-item has passed
PASSED = "passed"
#: of the place of a record: how many calls its work-item has made before, where hardware does not keep their order
MADE = "made"


@dataclass(frozen=True)
class LinkPrintf(ModulePass):
    """printf linking. Before: a linked program. After: each `printf` that a printing kernel reaches has the number of
    its format, and each such kernel has a channel for its records (:mod:`hls.ir.printing`), which leads out of the
    design. Those of a kernel with many work-items have places."""

    name = "link-printf"
    requires = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The linked program."""
        result = clone_module(module)
        numbers: dict[Format, int] = {}
        for kernel in result.kernels:
            calls = printf_calls(result, kernel)
            if not calls:
                continue
            for op in calls:
                op.attrs[Attr.FORMAT_NUMBER] = numbers.setdefault(_format(op), len(numbers))
            name = unused_name(f"printf_{kernel.name}", {*result.channels, *result.functions})
            places = len(record_place(result, kernel))
            attrs = ((Attr.IO, name), (Attr.PRINTS, True), *(((Attr.PLACES, places),) if places else ()))
            records = record_type([_format(op) for op in calls], places)
            result.channels[name] = MemoryObject(name, "channel", records, span=calls[0].span, attrs=attrs)
            kernel.attrs[Attr.CONSOLE] = name
        return result


def record_place(module: Module, kernel: Function) -> tuple[tuple[str, int], ...]:
    """What the lanes hold that say the place of a record of a kernel: work-item functions with their dimensions, and
    ``PASSED`` for the barriers that have been passed, and ``MADE`` for the calls made, where barriers are among these.
    Nothing for a single work-item."""
    if not kernel.attrs.get(Attr.NDRANGE):
        return ()
    sizes = (*(kernel.attrs.get(Attr.WORK_GROUP_SIZE) or (0, 0, 0)), 1, 1)
    dims = range(most_dims(kernel) - 1, -1, -1)
    waits = any(op.opcode == "barrier" for one in reachable(module, kernel) for op in walk(one.body))
    return (
        *(("group_id", dim) for dim in dims),
        *(((PASSED, 0),) if waits else ()),
        *(("local_id", dim) for dim in dims if sizes[dim] != 1),
        *(() if _keeps_order(list(_steps(module, kernel.body))) else ((MADE, 0),)),
    )


def _steps(module: Module, region: Region) -> Iterator[set[str]]:
    """What each operation of a region does, in order: "printf", "barrier" or both; calls are what they call."""
    for op in region.ops:
        if op.opcode == "call" and op.attrs[Attr.CALLEE] in module.functions:
            yield from _steps(module, module.functions[op.attrs[Attr.CALLEE]].body)
        elif op.regions:
            inside = set().union(*(step for inner in op.regions for step in _steps(module, inner)))
            yield inside | {"if"} if "barrier" in inside else inside
        elif op.opcode in ("printf", "barrier"):
            yield {op.opcode}


def _keeps_order(steps: Sequence[set[str]]) -> bool:
    """Whether work-items print in the order of the program (:mod:`hls.passes.order.order_group_channels`): nothing
    prints inside of what may wait at a barrier or not, and between two calls on both sides of that is a barrier at
    which all wait."""
    printed = uncertain = False
    for step in steps:
        if "if" in step:
            if "printf" in step:
                return False
            uncertain |= printed
        elif "barrier" in step:
            printed = uncertain = False
        elif "printf" in step:
            if uncertain:
                return False
            printed = True
    return True


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

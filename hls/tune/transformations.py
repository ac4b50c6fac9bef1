"""Knobs that change how a program is built without more copies of anything: what it promises of its loops and buffers,
how its loops are nested, what its loads may run ahead of, how its arrays and work-groups are made.

These are candidates by the form of the program alone: :mod:`.offered` keeps those that gain something.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..ir import Attr, Function, MemoryObject, Module, Op, Value, walk
from ..model.workload import Workload
from .knobs import Knob, group_text, powers, trips

__all__ = ["transformations"]

MOST_LEVELS = 4  #: of a nest that are made one loop
MOST_BANKS = 8
#: parts of a kernel (1: one that loads and one that computes), and copies of it, that are tried
PARTS = (1, 2, 4)
#: work-groups of one dimension that are tried, in work-items
GROUPS = (16, 64, 256)
#: sizes of the constant cache in bytes that are tried
CONSTANT_CACHES = (4096, 65536)
#: what a program asks of an array's banks
_BANKED = frozenset({Attr.NUMBANKS, Attr.BANK_BITS, Attr.REGISTER})


def transformations(module: Module, workloads: Sequence[Workload], main: str) -> tuple[Knob, ...]:
    """The candidates of a program as the front end leaves it, for the kernels that ``workloads`` launch and the helper
    functions, each place once."""
    launched = {one.kernel for one in workloads}
    found: list[Knob] = []
    for function in module.functions.values():
        if function.kind != "kernel":
            found += [*_of_loops(function, workloads, main), *_banks(function)]
        elif function.name in launched and function.span is not None:
            mine = [one for one in workloads if one.kernel == function.name]
            of_loops = (*_of_loops(function, workloads, main), *_banks(function))
            of_kernel = (*_restrict(function), *_parts(function), *_groups(function, mine))
            found += [replace(one, kernel=function.name) for one in (*of_loops, *of_kernel)]
    if any(_is_constant(one) for kernel in module.kernels if kernel.name in launched for one in _buffers(kernel)):
        found.append(Knob("constant cache bytes", "const_cache_bytes", None, (None, *CONSTANT_CACHES)))
    return tuple({(one.kind, one.name): one for one in found}.values())


def _of_loops(function: Function, workloads: Sequence[Workload], main: str) -> Iterator[Knob]:
    for op in walk(function.body):
        if op.opcode != "loop" or op.span is None or trips(op, workloads, main)[0] < 2:
            continue
        name = f"{op.attrs.get(Attr.LABEL, 'loop')}@{op.span.line}"
        if ("", 0) not in op.attrs.get(Attr.IVDEP, ()) and any(_may_meet(one, function) for one in walk(op.regions[0])):
            yield Knob(f"ivdep {name}", "ivdep", op.span, (None, 1))
        levels = _levels(op)
        if levels > 1 and Attr.LOOP_COALESCE not in op.attrs:
            yield Knob(f"coalesce {name}", "loop_coalesce", op.span, (None, *range(2, min(levels, MOST_LEVELS) + 1)))
        loads = any(_is_load_of_buffer(one, function) for one in walk(op.regions[0]))
        if loads and levels == 1 and Attr.FEED_FORWARD not in op.attrs and not _ahead(function):
            yield Knob(f"loads ahead {name}", "loads_ahead", op.span, (None, 1))


def _levels(loop: Op) -> int:
    """How many loops, each the only one directly in the one around it, are nested from the loop on."""
    inside = [op for op in loop.regions[0].ops if op.opcode == "loop"]
    return 1 + (_levels(inside[0]) if len(inside) == 1 else 0)


def _ahead(function: Function) -> bool:
    """Whether the kernel is split already, or has work-items, whose loads run ahead of one another."""
    return bool(function.attrs.get(Attr.FEED_FORWARD) or function.attrs.get(Attr.NDRANGE))


def _may_meet(op: Op, function: Function) -> bool:
    """Whether it changes a buffer or an array, of which loads of other iterations may wait."""
    return op.opcode in ("store", "atomic") and _memory(op.operands[0], function) is not _VARIABLE


def _is_load_of_buffer(op: Op, function: Function) -> bool:
    if op.opcode != "load":
        return False
    found = _memory(op.operands[0], function)
    return isinstance(found, MemoryObject) and found.space == "global"


_VARIABLE = object()


def _memory(address: Value, function: Function) -> MemoryObject | object | None:
    """The memory that an address is computed from; ``_VARIABLE`` for one element of its own, None where that is not
    evident, as for a pointer that is a parameter of a helper function."""
    while address.op is not None and address.op.opcode != "addr" and address.op.operands:
        address = address.op.operands[0]
    if address.op is None or address.op.opcode != "addr":
        return None
    found = function.memories.get(address.op.attrs[Attr.MEM])
    return _VARIABLE if found is not None and found.length == 1 else found


def _banks(function: Function) -> Iterator[Knob]:
    for memory in function.memories.values():
        length, asked = memory.length or 0, {name for name, _ in memory.attrs}
        if memory.space in ("local", "private") and length > 1 and memory.span is not None and not _BANKED & asked:
            name = f"banks {memory.name}@{memory.span.line}"
            yield Knob(name, "numbanks", memory.span, (None, 1, *powers(min(MOST_BANKS, length))))


def _buffers(kernel: Function) -> list[MemoryObject]:
    return [one for one in kernel.memories.values() if one.space == "global" and one.length is None]


def _is_constant(memory: MemoryObject) -> bool:
    return any(name == Attr.CONSTANT_MEMORY for name, _ in memory.attrs)


def _restrict(kernel: Function) -> Iterator[Knob]:
    buffers = _buffers(kernel)
    open_to_others = [one for one in buffers if not (one.restrict or one.volatile or _is_constant(one)) and one.span]
    if open_to_others and len(buffers) > 1 and any(_may_meet(op, kernel) for op in walk(kernel.body)):
        places = tuple(one.span for one in open_to_others if one.span is not None)
        yield Knob(f"restrict {kernel.name}", "restrict", kernel.span, (None, 1), places)


def _parts(kernel: Function) -> Iterator[Knob]:
    loops = any(op.opcode == "loop" for op in walk(kernel.body))
    loads = any(_is_load_of_buffer(op, kernel) for op in walk(kernel.body))
    if loops and loads and not _ahead(kernel) and not kernel.attrs.get(Attr.AUTORUN):
        yield Knob(f"feed-forward {kernel.name}", "feed_forward", kernel.span, (None, *PARTS))


def _groups(kernel: Function, launches: Sequence[Workload]) -> Iterator[Knob]:
    """The size of work-groups of all launches, where the kernel does not require one, and others of one dimension that
    divide all launches."""
    sizes = {one.local_size for one in launches}
    if not kernel.attrs.get(Attr.NDRANGE) or kernel.attrs.get(Attr.WORK_GROUP_SIZE) or len(sizes) != 1:
        return
    (size,) = sizes
    most = kernel.attrs.get(Attr.MAX_WORK_GROUP_SIZE)
    found = [size]
    if math.prod(size[1:]) == 1 and most is None:
        found += [(n,) for n in GROUPS if n != size[0] and all(one.global_size[0] % n == 0 for one in launches)]
    sizes_tried = map(group_text, found)
    yield Knob(f"group size {kernel.name}", "reqd_work_group_size", kernel.span, (None, *sizes_tried))

"""The two parts of a kernel: one that makes loads and sends what they give, one that receives it and does the rest."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from ...ir import (
    BOOL,
    I64,
    Attr,
    Builder,
    Function,
    MemoryObject,
    Op,
    Region,
    Value,
    has,
    memory_name,
    predicate,
    regions,
    walk,
)
from ...ir.clone import clone_function
from ...ir.launch import whole_of
from ...ir.rewrite import rewrite
from ..scalar.dead_code_elimination import DeadCodeElimination
from .access_slice import AccessSlice, written_memory
from .movable_loads import is_effect

__all__ = ["Cut", "compute_part", "memory_part", "with_bits"]

#: a value that is sent once an iteration counts this much more with each loop around it
_DEEPER = 16


@dataclass(frozen=True)
class Cut:
    """Where a kernel is cut. ``loads`` move, ``bits`` are conditions (i1) that are sent instead of what they are
    computed from. ``names`` are the channels by the value that each passes: a result of the loads, or a bit."""

    loads: tuple[Op, ...]
    names: Mapping[Value, str]
    bits: tuple[Value, ...] = ()

    @property
    def values(self) -> tuple[Value, ...]:
        """All values that may be sent."""
        return (*(load.result for load in self.loads), *self.bits)


def compute_part(function: Function, cut: Cut) -> tuple[Function, tuple[Value, ...]]:
    """(the kernel with a read of a channel in the place of each moved load and each bit, the values that are read).

    A value that nothing of the part needs is not received. To find these, a load from a memory of the channel's name
    stands for the read at first, as unused loads are dead and unused reads are not.
    """
    part = clone_function(function)
    twins = _twins(function, part)
    loads = {twins[load]: load.result for load in cut.loads}
    bits = {twins[bit.defining_op]: bit for bit in cut.bits}
    for value in cut.values:
        part.memories[cut.names[value]] = MemoryObject(cut.names[value], "global", value.type, 1)

    def stand_in(op: Op, b: Builder) -> list[Value] | None:
        value = loads.get(op, bits.get(op))
        if value is None:
            return None
        wanted = predicate(op) if op in loads else b.true()
        return [b.value("load", b.addr(cut.names[value]), wanted, result=value.type, name=value.name)]

    rewrite(part.body, stand_in)
    part = _tidy(part)
    received = {memory_name(op) for op in walk(part.body) if op.opcode == "load"} & set(cut.names.values())
    rewrite(part.body, lambda op, b: _read(op, b, received))
    part.memories = {name: one for name, one in part.memories.items() if name not in cut.names.values()}
    return _tidy(part), tuple(value for value in cut.values if cut.names[value] in received)


def _read(op: Op, b: Builder, received: Collection[str]) -> list[Value] | None:
    if op.opcode != "load" or memory_name(op) not in received:
        return None
    attrs = {Attr.CHANNEL: memory_name(op), Attr.BLOCKING: True, Attr.BETWEEN_PARTS: True}
    return [b.value("channel_read", b.const(0, I64), op.operands[1], result=op.result.type, attrs=attrs)]


def memory_part(function: Function, name: str, cut: Cut, sent: Iterable[Value]) -> Function:
    """The kernel of that name that makes the loads, and sends the values in program order; it keeps nothing else but
    what decides addresses and paths."""
    senders = {value.defining_op: value for value in sent}
    chosen = AccessSlice(function).of(senders)
    part = clone_function(function)
    originals = {twin: op for op, twin in _twins(function, part).items()}
    own = {key: value for key, value in part.attrs.items() if key not in (Attr.PARTS, Attr.SHARES)}
    part.name, part.attrs = name, {**own, Attr.PART_OF: whole_of(function), Attr.LOADS_FOR: function.name}
    _drop(part.body, {op for op, original in originals.items() if is_effect(op) and original not in chosen})
    for region in list(regions(part.body)):
        _send(region, {op: cut.names[senders[originals[op]]] for op in region.ops if originals[op] in senders})
    return _tidy(part)


def _send(region: Region, sent: Mapping[Op, str]) -> None:
    """Write the results of these operations of the region to channels."""
    before, region.ops = region.ops, []
    for op in before:
        region.ops.append(op)
        if op in sent:
            b = Builder(region, op.span)
            wanted = predicate(op) if op.opcode == "load" else b.true()
            attrs = {Attr.CHANNEL: sent[op], Attr.BLOCKING: True, Attr.BETWEEN_PARTS: True}
            b.op("channel_write", b.const(0, I64), wanted, op.result, attrs=attrs)


def with_bits(function: Function, cut: Cut, stays: Callable[[Op], bool] = lambda op: False) -> Cut:
    """The cut with those conditions added that are cheaper to send than what only they need.

    A candidate is a condition that the memory part computes anyway, other than one of which ``stays`` says that nothing
    may be received in its place. Each is tried in program order, and kept if fewer bits are sent with it.
    """
    computed = AccessSlice(function).of(cut.loads)
    least = _cost(function, cut)
    for op in walk(function.body):
        if op not in computed or not has(op, "pure") or has(op, "constant") or op.result.type != BOOL or stays(op):
            continue
        tried = replace(cut, bits=(*cut.bits, op.result))
        if (cost := _cost(function, tried)) < least:
            cut, least = tried, cost
    return cut


def _cost(function: Function, cut: Cut) -> int:
    """The bits that cross the cut, each weighted by how deep in loops it is sent."""
    depths = _depths(function)
    _, received = compute_part(function, cut)
    return sum(value.type.bits * _DEEPER ** depths[value.defining_op] for value in received)


def _depths(function: Function) -> dict[Op, int]:
    found: dict[Op, int] = {}
    work = [(function.body, 0)]
    while work:
        region, depth = work.pop()
        found |= dict.fromkeys(region.ops, depth)
        work += [(inner, depth + 1) for op in region.ops for inner in op.regions]
    return found


def _twins(function: Function, copy: Function) -> dict[Op, Op]:
    """The operation of the copy for each one of the function."""
    return dict(zip(walk(function.body), walk(copy.body), strict=True))


def _drop(region: Region, unwanted: set[Op]) -> None:
    """Remove operations; nothing that stays alive may use their results."""
    for each in list(regions(region)):
        each.ops = [op for op in each.ops if op not in unwanted]


def _tidy(part: Function) -> Function:
    """The part without dead code, and without the arrays that it does not read."""
    while True:
        part = DeadCodeElimination().run(part)
        read = {memory_name(op) for op in walk(part.body) if op.opcode in ("load", "atomic")}
        unread = {op for op in walk(part.body) if (name := written_memory(op)) and _is_idle(part, name, read)}
        if not unread:
            break
        _drop(part.body, unread)
    part.memories = {name: one for name, one in part.memories.items() if not _is_idle(part, name, read)}
    return part


def _is_idle(part: Function, name: str, read: Collection[str]) -> bool:
    """Whether a memory is one of the kernel's own that the part does not read. A local argument belongs to the
    kernel's interface, and stays."""
    memory = part.memories[name]
    return memory.onchip and memory.length is not None and name not in read

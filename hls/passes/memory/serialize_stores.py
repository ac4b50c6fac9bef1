"""Store serialization: stores of one iteration that may alias share one unit, which keeps their order, rather than
wait for each other's write to complete."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...analysis.dependence.dependence import Dependence, Kind
from ...analysis.loops.loop_tree import Loop
from ...analysis.memory.must_alias import MustAlias
from ...ir import (
    I8,
    I64,
    Attr,
    Builder,
    Function,
    MemoryObject,
    Op,
    Region,
    Value,
    may_share,
    memory_name,
    moved_type,
    walk,
)
from ...ir.accesses import lane_mask, orders_accesses, predicate, reaches_memory
from ...ir.clone import clone_function
from ...ir.snippets import counted_loop
from ..manager import Form, FunctionPass

__all__ = ["SerializeStores", "is_used_beside"]

#: cycles until a store is acknowledged by memory; a group is limited to so many members that serializing them costs no
#: more
ROUND_TRIP = 100
_MOST = 32


@dataclass(frozen=True)
class SerializeStores(FunctionPass):
    """Store serialization on one port. Before: a flat kernel without tokens, whose equal and adjacent accesses are
    joined. After: stores of one iteration to one buffer that may write the same bytes, in that iteration or soon after,
    with no access between them, are one store in a loop of its own, which executes them in order: an iteration takes as
    many cycles as it has such stores.

    Two units would need a fence between them, a round trip to memory for each pair of stores in each iteration. If the
    enclosing loop also loads from the buffer, or accesses a buffer that may overlap, nothing changes: run-time address
    comparison needs stores that are in the same loop as the loads.
    """

    address_bits: int = 64
    name = "serialize-stores"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which each group is one store in a loop of its own; equal if no loop stores to a memory twice."""
        result = clone_function(function)
        if not any(
            len(stores) > 1
            for loop in walk(result.body)
            if loop.opcode == "loop"
            for stores in _by_memory(loop).values()
        ):
            return result
        places = MustAlias(result, self.address_bits)
        groups = [group for loop in places.tree.loops.values() for group in _groups(places, loop)]
        for body, group in groups:
            _join(body, group, self.address_bits)
        return result


def _by_memory(loop: Op) -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {}
    for op in loop.regions[0].ops:
        if op.opcode == "store":
            found.setdefault(memory_name(op), []).append(op)
    return found


def _groups(places: MustAlias, loop: Loop) -> Iterable[tuple[Region, list[Op]]]:
    """The stores of the loop's body to be serialized, in order."""
    for name, stores in _by_memory(loop.op).items():
        memory = places.function.memories[name]
        mine = [
            op for op in stores if lane_mask(op) is None and not op.attrs.keys() & {Attr.ALONE, Attr.WRITER, Attr.UNIT}
        ]
        if (
            memory.space != "global"
            or len(mine) < 2
            or is_used_beside(places.function.memories, memory, loop.body, set(mine))
        ):
            continue
        for group in _meeting(places, loop, mine):
            if len(group) <= _MOST and _may_sink(loop.body, group):
                yield loop.body, group


def is_used_beside(memories: dict[str, MemoryObject], memory: MemoryObject, body: Region, mine: set[Op]) -> bool:
    """Whether anything else in the loop accesses the memory, or one that may overlap it."""
    return any(
        reaches_memory(op) and op not in mine and may_share(memory, memories[memory_name(op)]) for op in walk(body)
    )


def _meeting(places: MustAlias, loop: Loop, stores: list[Op]) -> list[list[Op]]:
    """Groups of stores of one type that would wait for each other, directly or transitively."""
    groups: list[list[Op]] = []
    for store in stores:
        joined = [group for group in groups if any(_waits(places, loop, other, store, len(stores)) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(op for group in joined for op in group), store])
    return [group for group in groups if len(group) > 1]


def _waits(places: MustAlias, loop: Loop, one: Op, other: Op, count: int) -> bool:
    def soon(fact: Dependence) -> bool:
        near = fact.loop is None or fact.loop is loop.op and fact.distance * count < ROUND_TRIP
        return fact.kind is Kind.WAW and not fact.overlap and near

    return moved_type(one) == moved_type(other) and any(soon(fact) for fact in places.between(one, other))


def _may_sink(body: Region, group: list[Op]) -> bool:
    """Whether all may be executed at the position of the last one."""
    first, last = body.ops.index(group[0]), body.ops.index(group[-1])
    return not any(
        orders_accesses(op)
        for between in body.ops[first:last]
        for op in [between, *(inner for part in between.regions for inner in walk(part))]
    )


def _join(body: Region, group: list[Op], address_bits: int) -> None:
    """Replace the group by one loop at the position of its last store."""
    place = body.ops.index(group[-1])
    before = Builder(Region(), group[0].span)
    offsets = before.value("array", *(_offset(op, before, address_bits) for op in group))
    data = before.value("array", *(op.operands[1] for op in group))
    given = before.value("array", *(predicate(op) for op in group))
    some = predicate(group[0])
    for op in group[1:]:
        some = some if predicate(op) is some else before.value("or", some, predicate(op))
    name, trips = memory_name(group[0]), len(group)
    lines = tuple(dict.fromkeys(op.span.line for op in group if op.span))

    def store(turn: Value, b: Builder) -> None:
        pointer = b.addr(name, b.value("extract", offsets, turn))
        value, on = b.value("extract", data, turn), b.value("extract", given, turn)
        b.op("store", pointer, value, on, attrs={Attr.TURNS: trips, Attr.LINES: lines})

    label, attrs = f"stores to {name}", {Attr.TRIP_COUNT: trips}
    counted_loop(trips, label, before, store, enable=some, counter=I8, name="turn", attrs=attrs)
    body.ops[place : place + 1] = before.region.ops
    gone = set(group)
    body.ops = [op for op in body.ops if op not in gone]


def _offset(op: Op, b: Builder, address_bits: int) -> Value:
    """The offset of a store, extended to all bits of an address."""
    (place,) = op.operands[0].defining_op.operands
    if place.type.bits == I64.bits:
        return place
    return b.value("sext" if place.type.bits >= address_bits else "zext", place, result=I64)

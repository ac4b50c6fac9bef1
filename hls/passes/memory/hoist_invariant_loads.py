"""Loads of one place that nobody writes while a loop runs are made once, before it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...analysis.predicates.implication import follows, implied
from ...ir import (
    Builder,
    Function,
    MemoryObject,
    Op,
    Region,
    Value,
    has,
    lane_mask,
    loops_inside_out,
    may_share,
    memory_name,
    moved_type,
    walk,
)
from ...ir.accesses import predicate, reaches_memory
from ...ir.clone import clone_function, clone_ops
from ...ir.rewrite import constant, resolve
from ...ir.storage import zero
from ..manager import Form, FunctionPass

__all__ = ["HoistInvariantLoads", "Writes", "computing"]

#: effects behind which work-items, or other kernels, may have written what is read next
_MEETINGS = {"barrier", "mem_fence", "channel_fence", "fence", "meet", "group", "call"}


@dataclass(frozen=True)
class HoistInvariantLoads(FunctionPass):
    """Before: flat, without tokens. After: a load in a loop (the innermost first) whose address and condition stay the
    same there, of a buffer that nothing in the loop may write, stands before the loop; where an equal one is there
    already, as for a bound that is read before the first iteration and again for each of the others, that one's value
    is taken.

    No load is made that the program would not make: an enabled loop runs at least once. A bound that is loaded in each
    iteration is known as late as memory answers; as a value from outside it is one of a loop that counts.
    """

    name = "hoist-invariant-loads"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        writes = Writes(result)
        values: dict[Value, Value] = {}
        for region, loop in list(loops_inside_out(result.body)):
            _Loop(region, loop, writes, values).run()
        resolve(result.body, values)
        return result


class Writes:
    """Who may write what a load reads."""

    def __init__(self, function: Function):
        self.memories = function.memories
        self.all = [op for op in walk(function.body) if reaches_memory(op) and op.opcode != "load"]

    def movable(self, op: Op) -> bool:
        """Whether the operation is a load that reads as a whole, of a buffer in which nobody else looks for it."""
        return (
            op.opcode == "load"
            and lane_mask(op) is None
            and self._memory(op).space == "global"
            and not self._memory(op).volatile
        )

    def between(self, load: Op, ops: Iterable[Op]) -> bool:
        """Whether the value of the load may be another one behind some of these operations than before."""
        for op in ops:
            if op.opcode in _MEETINGS and (
                op.opcode != "barrier" or any(self._meet(load, other) for other in self.all)
            ):
                return True
            if reaches_memory(op) and op.opcode != "load" and self._meet(load, op):
                return True
        return False

    def _meet(self, load: Op, write: Op) -> bool:
        return may_share(self._memory(load), self._memory(write))

    def _memory(self, access: Op) -> MemoryObject:
        return self.memories[memory_name(access)]


class _Loop:
    """One loop of ``region``; ``values`` gets what takes the place of each loaded value."""

    def __init__(self, region: Region, loop: Op, writes: Writes, values: dict[Value, Value]):
        self.region, self.loop, self.writes, self.values = region, loop, writes, values
        (self.body,) = loop.regions
        self.inside = list(walk(self.body))
        #: values of loads that take place under the very condition that they had in the loop
        self.exact: set[Value] = set()

    def run(self):
        place = self.region.ops.index(self.loop)
        before = Builder(Region(), self.loop.span)
        taken: dict[Op, Value] = {}
        for load in [op for op in self.body.ops if self.writes.movable(op)]:
            if self.writes.between(load, self.inside):
                continue
            value = self._made_before(load, place)
            if value is None:
                value = self._moved(load, before)
            if value is not None:
                taken[load] = value
        if taken:
            self._replace(taken)
            self.region.ops[place:place] = before.region.ops

    def _replace(self, taken: dict[Op, Value]):
        """Take the loads out of the body; where one does not take place its value still is 0."""
        ops, self.body.ops = self.body.ops, []
        b = Builder(self.body)
        for op in ops:
            if op not in taken:
                self.body.ops.append(op)
                continue
            value, on = taken[op], predicate(op)
            if constant(on) != 1 and value not in self.exact:
                value = b.value("select", on, value, b.const(zero(value.type), value.type))
            self.values[op.result] = value

    def _made_before(self, load: Op, place: int) -> Value | None:
        """The value of an equal load in front of the loop that is made whenever the loop runs."""
        facts = implied(self.loop.operands[0])
        for k in range(place - 1, -1, -1):
            op = self.region.ops[k]
            if op.opcode == "load" and _alike(op, load) and self.writes.movable(op) and follows(predicate(op), facts):
                return op.result
            if self.writes.between(load, [op, *(inner for part in op.regions for inner in walk(part))]):
                return None
        return None

    def _moved(self, load: Op, before: Builder) -> Value | None:
        """The value of the load, made in front of the loop; None where its address or its condition changes."""
        needed = _invariant([load.operands[0], predicate(load)], self.body)
        if needed is None:
            return None
        copies: dict[Value, Value] = {}
        before.region.ops += clone_ops(needed, copies)
        pointer, given = (copies.get(v, v) for v in (load.operands[0], predicate(load)))
        before.span = load.span
        enable = self.loop.operands[0]
        on = given if enable is given or constant(enable) == 1 else before.value("and", enable, given)
        on = enable if constant(given) == 1 else on
        value = before.value(
            "load", pointer, on, result=moved_type(load), attrs=dict(load.attrs), name=load.result.name
        )
        self.exact.add(value)
        return value


def _alike(one: Op, other: Op) -> bool:
    return one.operands[0] is other.operands[0] and moved_type(one) == moved_type(other)


def computing(values: Iterable[Value], ops: Sequence[Op]) -> list[Op] | None:
    """Those of the operations, in order, that compute the values; None where one of them is not pure."""
    needed, found = set(values), []
    for op in reversed(ops):
        if needed.intersection(op.results):
            if not has(op, "pure"):
                return None
            found.insert(0, op)
            needed.update(op.operands)
    return found


def _invariant(values: list[Value], body: Region) -> list[Op] | None:
    """Operations of the body, in order, that compute the values from what is there before the loop; None where they are
    not."""
    inside = computing(values, body.ops)
    if inside is None or {*values, *(v for op in inside for v in op.operands)}.intersection(body.args):
        return None
    return inside

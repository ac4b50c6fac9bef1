"""A load that is made in any case is made before loops, and other conditions, under which the same place is read."""

from dataclasses import dataclass

from ...ir import Builder, Function, Op, Region, Value, moved_type, regions, walk
from ...ir.accesses import memory_name, predicate
from ...ir.clone import clone_function, clone_ops
from ...ir.rewrite import constant, resolve
from ...ir.same import same_value
from ...ir.storage import zero
from ..manager import Form, FunctionPass
from .hoist_invariant_loads import Writes, computing

__all__ = ["HoistRedundantLoads"]


@dataclass(frozen=True)
class HoistRedundantLoads(FunctionPass):
    """Before: flat, without tokens. After: an unconditional load of a region, of a place that is also read before,
    under a condition or in a loop of the region, stands in front of all of these, which take its value; nothing in
    between may write the buffer.

    No place is read that the program would not read. A text that is compared with a pattern in ``while (q && p[q] !=
    text[i]) q = next[q]; if (p[q] == text[i]) ...`` is loaded as soon as ``i`` is known; under the condition it would
    be when ``q`` is, so that each iteration would wait for memory.
    """

    name = "hoist-redundant-loads"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        writes = Writes(result)
        values: dict[Value, Value] = {}
        # looked for at once: most programs have few such buffers, or none
        conditional = {
            memory_name(op) for op in walk(result.body) if writes.movable(op) and constant(predicate(op)) != 1
        }
        for region in list(regions(result.body)):
            for load in [
                op
                for op in region.ops
                if writes.movable(op) and constant(predicate(op)) == 1 and memory_name(op) in conditional
            ]:
                _Early(region, load, writes, values).run()
        resolve(result.body, values)
        return result


class _Early:
    """One unconditional load of ``region``; ``values`` gets what takes the place of each loaded value."""

    def __init__(self, region: Region, load: Op, writes: Writes, values: dict[Value, Value]):
        self.region, self.load, self.writes, self.values = region, load, writes, values

    def run(self):
        first, others = self._others()
        if not others:
            return
        end = self.region.ops.index(self.load)
        needed = computing(self.load.operands, self.region.ops[first:end])
        if needed is None:
            return
        copies: dict[Value, Value] = {}
        early = Builder(Region(ops=clone_ops([*needed, self.load], copies)), self.load.span)
        value = copies[self.load.result]
        self.values[self.load.result] = value
        self.region.ops[end : end + 1] = []
        for home, op in others:
            self._replace(home, op, value)
        self.region.ops[first:first] = early.region.ops

    def _others(self) -> tuple[int, list[tuple[Region, Op]]]:
        """Where the first of the other loads of the place is among the operations of the region, and all of them with
        their regions."""
        first, found = 0, []
        for k in range(self.region.ops.index(self.load) - 1, -1, -1):
            op = self.region.ops[k]
            if self.writes.between(self.load, walk(Region(ops=[op]))):
                break
            mine = [
                (home, other)
                for home in (Region(ops=[op]), *(r for inner in op.regions for r in regions(inner)))
                for other in home.ops
                if self._alike(other)
            ]
            if mine:
                first = k
                found += [(self.region if home.ops == [op] else home, other) for home, other in mine]
        return first, found

    def _alike(self, other: Op) -> bool:
        return (
            self.writes.movable(other)
            and constant(predicate(other)) != 1
            and memory_name(other) == memory_name(self.load)
            and moved_type(other) == moved_type(self.load)
            and same_value(other.operands[0], self.load.operands[0])
        )

    def _replace(self, home: Region, op: Op, value: Value):
        """What reads the place under a condition has its value there, and 0 elsewhere, as before."""
        b = Builder(Region(), op.span)
        self.values[op.result] = b.value("select", predicate(op), value, b.const(zero(value.type), value.type))
        place = home.ops.index(op)
        home.ops[place : place + 1] = b.region.ops

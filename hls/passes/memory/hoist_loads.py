"""Load hoisting: LICM and partial redundancy elimination of loads."""

from dataclasses import dataclass

from ...analysis.loops.backward_slice import pure_slice
from ...analysis.memory.clobbers import Clobbers
from ...analysis.predicates.implication import follows, implied
from ...ir import Builder, Function, Op, Region, Value, loops_inside_out, memory_name, moved_type, regions, walk
from ...ir.accesses import predicate
from ...ir.clone import clone_function, clone_ops
from ...ir.rewrite import constant
from ...ir.same import same_place
from ..manager import Form, FunctionPass
from .masked_values import MaskedValues

__all__ = ["HoistLoads"]


@dataclass(frozen=True)
class HoistLoads(FunctionPass):
    """Load hoisting by LICM and partial redundancy elimination (LLVM: LICM; GVN, load PRE). Before: flat, without
    tokens. After, where no operation in between may write what is read:

    - *Partially redundant loads*: an unconditional load of a region, of an address that is also loaded earlier, under a
      condition or in a loop of the region, moves before all of these loads, which take its value. In a text search,
      ``while (q && p[q] != text[i]) q = next[q]; if (p[q] == text[i]) ...``, the unconditional load of ``text[i]``
      executes as soon as ``i`` is known; under the condition it would execute when ``q`` is known, so that each
      iteration would wait for memory.
    - *Invariant loads*: a load in a loop (innermost loops first) with invariant address and predicate moves before the
      loop; or takes the value of an equal load there, as for a bound that is read before the first iteration and again
      for each of the others. A bound that is loaded in each iteration is known only after the latency of memory; an
      invariant bound makes the loop a counted one.

    No address is read that the program would not read: an enabled loop runs at least once.
    """

    name = "hoist-loads"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy with invariant and partially redundant loads moved to where they execute less often."""
        result = clone_function(function)
        clobbers = Clobbers(result)
        for rule in (_partially_redundant, _invariant):
            masked = MaskedValues()
            masked.resolve(result.body, rule(result.body, clobbers, masked))
        return result


# --- partially redundant loads ---


def _partially_redundant(body: Region, clobbers: Clobbers, masked: MaskedValues) -> dict[Value, Value]:
    """Maps each loaded value to its replacement."""
    values: dict[Value, Value] = {}
    # tested first: most programs have few such buffers, or none
    conditional = {memory_name(op) for op in walk(body) if clobbers.movable(op) and constant(predicate(op)) != 1}
    for region in list(regions(body)):
        for load in list(region.ops):
            if clobbers.movable(load) and constant(predicate(load)) == 1 and memory_name(load) in conditional:
                _Early(region, load, clobbers, masked, values).run()
    return values


class _Early:
    """One unconditional load of ``region``; ``values`` maps each loaded value to its replacement."""

    def __init__(
        self, region: Region, load: Op, clobbers: Clobbers, masked: MaskedValues, values: dict[Value, Value]
    ) -> None:
        self.region, self.load, self.clobbers, self.values = region, load, clobbers, values
        self.masked = masked

    def run(self) -> None:
        first, others = self._others()
        if not others:
            return
        end = self.region.ops.index(self.load)
        needed = pure_slice(self.load.operands, self.region.ops[first:end])
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
        """The position of the first of the other loads of the same address among the operations of the region, and all
        of them with their regions."""
        first, found = 0, []
        for k in range(self.region.ops.index(self.load) - 1, -1, -1):
            op = self.region.ops[k]
            if self.clobbers.among(self.load, [op]):
                break
            homes = [self.region] if not op.regions else [r for inner in op.regions for r in regions(inner)]
            ops = [(home, each) for home in homes for each in ([op] if home is self.region else home.ops)]
            mine = [(home, each) for home, each in ops if self._is_other(each)]
            if mine:
                first = k
                found += mine
        return first, found

    def _is_other(self, op: Op) -> bool:
        return self.clobbers.movable(op) and constant(predicate(op)) != 1 and same_place(op, self.load)

    def _replace(self, home: Region, op: Op, value: Value) -> None:
        b = Builder(Region(), op.span)
        self.values[op.result] = self.masked.under(predicate(op), value, b)
        place = home.ops.index(op)
        home.ops[place : place + 1] = b.region.ops


# --- invariant loads ---


def _invariant(body: Region, clobbers: Clobbers, masked: MaskedValues) -> dict[Value, Value]:
    """Maps each loaded value to its replacement."""
    values: dict[Value, Value] = {}
    for region, loop in list(loops_inside_out(body)):
        _Loop(region, loop, clobbers, masked, values).run()
    return values


class _Loop:
    """One loop of ``region``; ``values`` maps each loaded value to its replacement."""

    def __init__(
        self, region: Region, loop: Op, clobbers: Clobbers, masked: MaskedValues, values: dict[Value, Value]
    ) -> None:
        self.region, self.loop, self.clobbers, self.values = region, loop, clobbers, values
        self.masked = masked
        (self.body,) = loop.regions
        #: results of hoisted loads that have the same predicate as in the loop
        self.exact: set[Value] = set()

    def run(self) -> None:
        place = self.region.ops.index(self.loop)
        before = Builder(Region(), self.loop.span)
        taken: dict[Op, Value] = {}
        for load in [op for op in self.body.ops if self.clobbers.movable(op)]:
            if self.clobbers.among(load, self.body.ops):
                continue
            value = self._made_before(load, place)
            if value is None:
                value = self._moved(load, before)
            if value is not None:
                taken[load] = value
        if taken:
            self._replace(taken)
            self.region.ops[place:place] = before.region.ops

    def _replace(self, taken: dict[Op, Value]) -> None:
        """Remove the loads from the body; the result of one that does not execute remains 0."""
        ops, self.body.ops = self.body.ops, []
        b = Builder(self.body)
        for op in ops:
            if op not in taken:
                self.body.ops.append(op)
                continue
            value = taken[op]
            self.values[op.result] = value if value in self.exact else self.masked.under(predicate(op), value, b)

    def _made_before(self, load: Op, place: int) -> Value | None:
        """The result of an equal load before the loop that executes whenever the loop runs."""
        facts = implied(self.loop.operands[0])
        for op in reversed(self.region.ops[:place]):
            if self.clobbers.movable(op) and same_place(op, load) and follows(predicate(op), facts):
                return op.result
            if self.clobbers.among(load, [op]):
                return None
        return None

    def _moved(self, load: Op, before: Builder) -> Value | None:
        """The result of the load, hoisted before the loop; None unless its address and its predicate are invariant."""
        needed = self._steady([load.operands[0], predicate(load)])
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

    def _steady(self, values: list[Value]) -> list[Op] | None:
        """Operations of the body, in order, that compute the values from values defined before the loop; None if that
        is not possible."""
        inside = pure_slice(values, self.body.ops)
        if inside is None or {*values, *(v for op in inside for v in op.operands)}.intersection(self.body.args):
            return None
        return inside

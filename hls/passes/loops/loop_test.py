"""The test of a rotated loop: the operations that decide whether it is entered, and again whether it continues."""

from dataclasses import dataclass, field

from ...analysis.memory.clobbers import Clobbers
from ...ir import Op, Region, Value, has, walk
from ...ir.same import same_operation

__all__ = ["LoopTest", "loop_test"]

#: most operations of a test: each of them executes in every iteration of the nest as one loop
MOST_OPS = 24
#: what a test may consist of, beside operations without an effect
_ALLOWED = frozenset({"load", "if", "yield"})


@dataclass(frozen=True, eq=False)
class LoopTest:
    """The test of a loop, once in each of the two places: ``entering`` are operations before the loop, ``continuing``
    operations of its body, in order and without those in branches. They compute the same, from the initial carried
    values and from the next ones; ``states`` maps the next ones to the index of the carried value."""

    entering: tuple[Op, ...]
    continuing: tuple[Op, ...]
    states: dict[Value, int]


def loop_test(outer: Op, inner: Op, clobbers: Clobbers) -> LoopTest | None:
    """The test of ``inner``, an operation of the body of ``outer``: of a ``while`` or ``for`` before it was rotated.
    None if its two places compute different conditions, or if what it loads may be written between such a place and the
    begin of the next iteration or the loop."""
    (body,), (inner_body,) = outer.regions, inner.regions
    again = inner_body.terminator.operands[0]
    match = _Match(inner, {*inner_body.args, *(v for op in walk(inner_body) for v in op.results)})
    if again not in match.own or not match.values(inner.operands[0], again) or len(match.pairs) > MOST_OPS:
        return None
    entering, continuing = ({pair[k] for pair in match.pairs} for k in (0, 1))
    before = body.ops[: body.ops.index(inner)]
    test = LoopTest(
        tuple(op for op in before if op in entering),
        tuple(op for op in inner_body.ops if op in continuing),
        match.states,
    )
    if not _is_closed(test, match.own):
        return None
    sinks = _may_sink(test.entering, before, clobbers) and _may_sink(test.continuing, inner_body.ops, clobbers)
    return test if sinks else None


def _is_closed(test: LoopTest, own: set[Value]) -> bool:
    """Whether the test in the body computes from next values and values from outside alone, and is none of these."""
    inside = Region(ops=list(test.continuing))
    made = {v for op in walk(inside) for v in (*op.results, *(arg for region in op.regions for arg in region.args))}
    read = {v for op in walk(inside) for v in op.operands}
    return made.isdisjoint(test.states) and (read & own) <= made | test.states.keys()


def _may_sink(test: tuple[Op, ...], ops: list[Op], clobbers: Clobbers) -> bool:
    """Whether the loads of a test could be behind all of ``ops`` instead."""
    for op in test:
        behind = ops[ops.index(op) + 1 :]
        for load in (one for one in walk(Region(ops=[op])) if one.opcode == "load"):
            if not clobbers.plain(load) or clobbers.among(load, behind):
                return False
    return True


@dataclass
class _Match:
    """Pairs of equal operations of the test, before the loop and in its body; ``own`` are the values of the body."""

    inner: Op
    own: set[Value]
    pairs: set[tuple[Op, Op]] = field(default_factory=set)
    states: dict[Value, int] = field(default_factory=dict)

    def values(self, entering: Value, continuing: Value) -> bool:
        """Whether one value is computed from the initial values as the other is from the next ones."""
        if continuing in self.own and (index := self._state(entering, continuing)) is not None:
            return self.states.setdefault(continuing, index) == index
        if entering is continuing:
            return True
        x, y = entering.op, continuing.op
        if x is None or y is None or entering.index != continuing.index:
            return False
        return (x, y) in self.pairs or self._operations(x, y)

    def _state(self, entering: Value, continuing: Value) -> int | None:
        """The index of the carried value of which the two are the initial value and the next one."""
        nexts = self.inner.regions[0].terminator.operands[1:]
        pairs = zip(self.inner.operands[1:], nexts, strict=True)
        return next((k for k, (one, other) in enumerate(pairs) if one is entering and other is continuing), None)

    def _operations(self, x: Op, y: Op) -> bool:
        ops = [op for one in (x, y) for op in (one, *(each for region in one.regions for each in walk(region)))]
        if not same_operation(x, y) or not all(has(op, "pure") or op.opcode in _ALLOWED for op in ops):
            return False
        self.pairs.add((x, y))
        ends = ((a.terminator, b.terminator) for a, b in zip(x.regions, y.regions, strict=True))
        return all(
            self.values(a, b)
            for one, other in ((x, y), *ends)
            for a, b in zip(one.operands, other.operands, strict=True)
        )

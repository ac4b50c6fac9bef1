"""Loop flattening of one level by the inner loop's test: an iteration is one of the inner loop, or ends one of the
outer loop."""

from ...analysis.memory.clobbers import Clobbers
from ...ir import Builder, Function, Op, Region, Value, has, uses
from ...ir.clone import clone_ops
from .flatten_pair import MergedPair
from .leading_exit import absorb_leading_exit
from .loop_test import LoopTest, loop_test
from .triangular_nest import only_loop

__all__ = ["merge_tested_nest"]


def merge_tested_nest(function: Function, outer: Op, outside: Builder) -> Op | None:
    """Merge the loop inside ``outer`` into it, if it has a test that can be made at the begin of each iteration;
    ``outside`` builds in front of ``outer``. Returns the inner loop, or None where there is no such loop.

    ``for (...) { before; while (test) inner; after }`` becomes ``for (...) { if (first) before; if (test) inner; else
    after }`` (Ghuloum and Fisher 1995), where ``after`` includes what the outer loop counts. So an iteration of the
    outer loop takes one iteration more than the inner loop has, and none goes through both bodies: a recurrence through
    the nest is as long as the longer of the two, not as their sum. A `break` at the begin of the inner loop's body is a
    part of the test.
    """
    inner = only_loop(outer.regions[0])
    if inner is None:
        return None
    clobbers = Clobbers(function)
    absorb_leading_exit(outer, inner, clobbers)
    test = loop_test(outer, inner, clobbers)
    if test is None:
        return None
    states = {next_: Value(next_.type, next_.name) for next_ in test.states}
    values = dict(states)
    ops = clone_ops(list(test.continuing), values)
    goes_on = values[inner.regions[0].terminator.operands[0]]
    _take_out(outer, inner, test)
    placed = {states[next_]: index for next_, index in test.states.items()}
    _MergedByTest(outer, inner, outside, ops, goes_on, placed, clobbers).run()
    return inner


def _take_out(outer: Op, inner: Op, test: LoopTest) -> None:
    """Make the inner loop one that never ends by itself, and remove what only its test needs."""
    (body,), (inner_body,) = outer.regions, inner.regions
    always = Builder(Region(), inner.span)
    inner.operands[0] = inner_body.terminator.operands[0] = always.true()
    place = body.ops.index(inner)
    body.ops[place:place] = always.region.ops
    for region, ops in ((body, test.entering), (inner_body, test.continuing)):
        for op in reversed(ops):
            if uses(body).keys().isdisjoint(op.results):
                region.ops.remove(op)


class _MergedByTest(MergedPair):
    """Both loops, the inner one without its test. ``test`` are the operations of that, with the result ``goes_on``;
    ``states`` maps values in them, which nothing defines, to the index of the inner loop's carried value to take."""

    def __init__(
        self,
        outer: Op,
        inner: Op,
        outside: Builder,
        test: list[Op],
        goes_on: Value,
        states: dict[Value, int],
        clobbers: Clobbers,
    ) -> None:
        self.test, self.goes_on, self.states, self.clobbers = test, goes_on, states, clobbers
        super().__init__(outer, inner, outside)

    def run(self) -> None:
        """Build the one loop."""
        args, kept, inner_args = self._begin()
        now = [value for value, _ in inner_args]
        self._replace({value: now[index] for value, index in self.states.items()}, self.test)
        self.body.ops += self.test
        self._leave_inner(now)
        again, *chosen = self._either(args, inner_args)
        start = self.b.value("xor", self.goes_on, self.b.true())
        self.b.op("yield", again, *chosen[: len(args)], start, *kept, *chosen[len(args) :])

    def _either(self, args: list[Value], inner_args: list[tuple[Value, Value | None]]) -> list[Value]:
        """Build an iteration of the inner loop, or the end of one of the outer loop. Returns whether there is another
        iteration, and the next carried values: of ``outer``, and those of ``inner`` that are not shared."""
        reached = self.inner_body.terminator.operands[1:]
        held = {j: reached[k] for k, j in self.shared.items()}
        own = [k for k in range(len(inner_args)) if k not in self.shared]
        firsts = [first if first is not None else now for now, first in inner_args]
        inside, outside = Region(ops=self.inner_body.ops[:-1]), Region(ops=self.after)
        one, other = Builder(inside, self.b.span), Builder(outside, self.b.span)
        one.op("yield", one.true(), *(held.get(j, arg) for j, arg in enumerate(args)), *(reached[k] for k in own))
        other.op("yield", self.again, *self.nexts, *(firsts[k] for k in own))
        types = [v.type for v in outside.terminator.operands]
        return self.b.op("if", self.goes_on, results=types, regions=[inside, outside]).results

    def _repeats(self, op: Op) -> bool:
        if op.opcode == "load":
            return self.clobbers.plain(op) and not self.clobbers.among(op, self.body.ops)
        return has(op, "pure")

    def _behind(self) -> list[Op]:
        return [*self.test, *super()._behind()]

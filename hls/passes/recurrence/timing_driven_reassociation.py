"""Where values of a loop depend on each other over several iterations, a sum takes what is there early first, and what
comes last at its end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.timing import LONG_BEFORE, Arrival, Arrivals, Recurrence, TimingModel
from ...diag import Code, Diagnostic
from ...ir import Attr, FloatType, Function, Op, Region, Value, loops_inside_out
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .huffman_trees import Node, Shaper, Tree, rebuild, trees_of

__all__ = ["TimingDrivenReassociation"]

#: recurrences of more operations times carried values, or of more cycles, are left alone
MOST_WORK, MOST_CYCLES = 20_000, 1000


@dataclass(frozen=True)
class TimingDrivenReassociation(FunctionPass):
    """Before: flat, the recurrence of each value short. After: in a recurrence of several values, sums and differences
    (also products, logic, least and greatest of integers) take what they add in the order in which it is there, if
    iterations can start in fewer cycles of ``timing`` (None: nothing is done) for it.

    What was computed some iterations ago is there so many intervals earlier, and what is not part of the recurrence
    long before: where ``h`` is ``e`` of three iterations ago, ``h + f(e) + x`` becomes ``(x + h) + f(e)``. An inner
    result that is also wanted elsewhere is computed once more for that.

    With ``floats``, sums of floats are regrouped, too, which changes their rounding: multiply-adds stay as many, but
    each may take another number. ``tell`` gets a note for each of these sums.
    """

    timing: TimingModel | None = None
    floats: bool = False
    tell: Callable[[Diagnostic], None] | None = None

    name = "timing-driven-reassociation"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        if self.timing is None:
            return function
        timing = self.timing.unplanned(function)
        for _, loop in loops_inside_out(result.body):
            body = loop.regions[0]
            # no sum of floats changes where iterations wait for each other anyway
            waits = not self.floats or not loop.attrs.get(Attr.RING)
            together = components(body) if len(body.args) > 1 and waits else {}
            for part in dict.fromkeys(together[arg] for arg in body.args if arg in together):
                self._shorten(body, timing, {value for value, number in together.items() if number == part})
        return result

    def _shorten(self, body: Region, timing: TimingModel, mine: set[Value]):
        """Rebuild the trees of one recurrence where that gains a cycle."""
        way = [op for op in body.ops if not mine.isdisjoint(op.results)]
        carried = [k for k, arg in enumerate(body.args) if arg in mine]
        if len(carried) * len(way) > MOST_WORK or any(op.regions for op in way):
            return
        trees = trees_of(body, way, mine, floats=self.floats)
        if not trees:
            return
        one = Recurrence(body, mine, timing)
        if one.arrivals(MOST_CYCLES) is None:
            return
        now, soonest = one.least_interval(MOST_CYCLES), _soonest(timing, way, trees)
        if now > 1 and one.arrivals(now - 1, soonest) is not None:
            shapes = _shapes(trees, one.arrivals(one.least_interval(now - 1, soonest), soonest))
            self._say(trees, shapes)
            rebuild(body, shapes)

    def _say(self, trees: Mapping[Op, Tree], shapes: Mapping[Op, Node]):
        for op in shapes if self.tell else ():
            if isinstance(op.result.type, FloatType):
                self.tell(
                    Diagnostic(
                        f"a sum of {len(trees[op].leaves)} terms is reassociated",
                        op.span,
                        "leave -fp-relaxed out where the order matters",
                        "note",
                        code=Code.FLOAT_ORDER,
                    )
                )


def _soonest(
    timing: TimingModel, way: list[Op], trees: Mapping[Op, Tree]
) -> Callable[[Mapping[Value, Arrival]], Arrivals]:
    """When the values are there where ``trees`` take what is there first first, and all others are as they are."""

    def iteration(starts: Mapping[Value, Arrival]) -> Arrivals:
        arrivals = Arrivals(timing, starts, LONG_BEFORE)
        shaper = Shaper(arrivals)
        for op in way:
            time = arrivals.after(op)
            if op in trees:
                time = min(time, shaper.at(shaper.soonest(trees[op]), trees[op].kind))
            arrivals.times.update(dict.fromkeys(op.results, time))
        return arrivals

    return iteration


def _shapes(trees: Mapping[Op, Tree], arrivals: Arrivals) -> dict[Op, Node]:
    """Of the trees those that are ready sooner than they are now if what is there first meets first."""
    shaper = Shaper(arrivals)
    found = {op: shaper.soonest(tree) for op, tree in trees.items()}
    return {op: node for op, node in found.items() if shaper.at(node, trees[op].kind) < arrivals.after(op)}

"""Timing-driven reassociation: in recurrences over several iterations, operands that arrive last are joined last."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.timing import LONG_BEFORE, Arrival, Arrivals, Recurrence, TimingModel
from ...diag import Code, Diagnostic
from ...ir import Attr, FloatType, Function, Op, Region, Value, loops_inside_out
from ...ir.clone import clone_function
from ...narrow import present
from ..manager import Form, FunctionPass
from .huffman_trees import Node, Shaper, Tree, rebuild, trees_of

__all__ = ["TimingDrivenReassociation"]

#: recurrences with more operations times carried values, or more cycles, are left alone
MOST_WORK, MOST_CYCLES = 20_000, 1000


@dataclass(frozen=True)
class TimingDrivenReassociation(FunctionPass):
    """Timing-driven reassociation. Before: flat, the recurrence of each single value short. After: in a recurrence of
    several values, sums and differences (also products, logic, and min/max of integers) join their operands in order of
    arrival, if iterations can start in fewer cycles of ``timing`` by it (None: nothing is done).

    A value computed some iterations ago arrives as many IIs earlier, and a value off the recurrence long before: with
    ``h`` the ``e`` of three iterations ago, ``h + f(e) + x`` becomes ``(x + h) + f(e)``. An intermediate result with
    other users is duplicated for that.

    With ``floats``, sums of floats are reassociated, too, which changes their rounding: the number of multiply-adds is
    kept, but each may get another addend. ``tell`` receives a note for each of these sums.
    """

    timing: TimingModel | None = None
    floats: bool = False
    tell: Callable[[Diagnostic], None] | None = None

    name = "timing-driven-reassociation"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which operands are joined in order of arrival; the function itself without ``timing``."""
        result = clone_function(function)
        if self.timing is None:
            return function
        timing = self.timing.unplanned(function)
        for _, loop in loops_inside_out(result.body):
            body = loop.regions[0]
            # do not reassociate float sums if iterations wait for each other anyway
            waits = not self.floats or not loop.attrs.get(Attr.RING)
            together = components(body) if len(body.args) > 1 and waits else {}
            for part in dict.fromkeys(together[arg] for arg in body.args if arg in together):
                self._shorten(body, timing, {value for value, number in together.items() if number == part})
        return result

    def _shorten(self, body: Region, timing: TimingModel, mine: set[Value]):
        """Rebuild the trees of one recurrence if that saves a cycle."""
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
            shapes = _shapes(trees, present(one.arrivals(one.least_interval(now - 1, soonest), soonest)))
            self._say(trees, shapes)
            rebuild(body, shapes)

    def _say(self, trees: Mapping[Op, Tree], shapes: Mapping[Op, Node]):
        tell = self.tell
        for op in shapes if tell is not None else ():
            if isinstance(op.result.type, FloatType):
                present(tell)(
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
    """The arrivals if ``trees`` join the earliest operands first, and everything else is unchanged."""

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
    """The new shapes of the trees that arrive earlier if the earliest operands are joined first."""
    shaper = Shaper(arrivals)
    found = {op: shaper.soonest(tree) for op, tree in trees.items()}
    return {op: node for op, node in found.items() if shaper.at(node, trees[op].kind) < arrivals.after(op)}

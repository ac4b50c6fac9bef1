"""Tree-height reduction: chains of associative integer operations become trees, the earliest operands joined first."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.timing import Arrivals, TimingModel
from ...ir import Function, Op, Region, Value, loops_inside_out, regions, uses
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .huffman_trees import Node, Shaper, Trees, rebuild

__all__ = ["TreeHeightReduction"]


@dataclass(frozen=True)
class TreeHeightReduction(FunctionPass):
    """Tree-height reduction (Kuck). Before: flat. After: a tree of sums, products, logic, or min/max whose inner
    results have no other user, with at least ``least`` leaves, joins them in order of arrival, so that its result
    arrives as early as possible.

    A loop-carried operand is joined last, as :class:`RecurrenceHeightReduction` leaves it: it stays outside the tree of
    operands that do not depend on it. ``timing`` gives the arrivals (None: nothing is done). The number of operations
    does not change. Trees that cannot become shorter are left alone, and so are addresses, in which other passes look
    for common terms.
    """

    timing: TimingModel | None = None
    least: int = 4

    name = "tree-height-reduction"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which trees are joined in order of arrival; the function itself without ``timing``."""
        if self.timing is None:
            return function
        result, timing = clone_function(function), self.timing.unplanned(function)
        used = uses(result.body)
        bodies = {loop.regions[0] for _, loop in loops_inside_out(result.body)}
        for region in list(regions(result.body)):
            arrivals = Arrivals(timing, dict.fromkeys(region.args, timing.register()))
            self._region(region, used, arrivals, components(region) if region in bodies else {})
        return result

    def _region(
        self,
        region: Region,
        used: Mapping[Value, list[tuple[Op, int]]],
        arrivals: Arrivals,
        recurrence: Mapping[Value, int],
    ) -> None:
        trees, shaper, shapes = Trees(region, used, recurrence), Shaper(arrivals), dict[Op, Node]()
        for op in region.ops:
            tree = trees.at(op)
            arrivals.note(op)
            if tree is None or len(tree.leaves) < self.least:
                continue
            node = shaper.soonest(tree)
            soonest = shaper.at(node, tree.kind)
            if soonest < arrivals.at(op.result):
                shapes[op] = node
                arrivals.times[op.result] = soonest
        gone = {inner for op in shapes for inner in trees.inside(op)}
        rebuild(region, shapes)
        region.ops = [op for op in region.ops if op not in gone]

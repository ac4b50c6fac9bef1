"""Chains of integer operations that may be regrouped become trees: what is there first meets first."""

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
    """Before: flat. After: a tree of sums, products, logic, least or greatest whose inner results nobody else looks at,
    over at least ``least`` values, takes them in the order in which they are there, so that its result is there as soon
    as can be.

    What a loop carries meets the others last, as :class:`RecurrenceHeightReduction` leaves it: it stays beside the tree
    of those that do not depend on it. ``timing`` says when operands are there (None: nothing is done). The number of
    operations stays the same. Trees that cannot become shorter stay as they are, and so do places in memory, in which
    others look for what is the same.
    """

    timing: TimingModel | None = None
    least: int = 4

    name = "tree-height-reduction"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
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

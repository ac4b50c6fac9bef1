"""Timing-driven reassociation: in recurrences over several iterations, operands that arrive last are joined last."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.timing import LONG_BEFORE, Arrival, Arrivals, Recurrence, Steps, TimingModel
from ...diag import Code, Diagnostic
from ...ir import Attr, FloatType, Function, Op, Region, Value, loops_inside_out
from ...ir.clone import clone_function
from ...narrow import present
from ..manager import Form, FunctionPass
from .huffman_trees import Node, Shaper, Tree, rebuild, trees_of
from .lookup_tables import Cut, Cuts, map_onto

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

    Where no order suffices, bitwise logic is mapped onto lookup tables (:mod:`.lookup_tables`), and carry-save adders
    reduce the last operands of a sum to two, if that saves a further cycle.

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

    def _shorten(self, body: Region, timing: TimingModel, mine: set[Value]) -> None:
        """Rebuild the trees of one recurrence if that saves a cycle."""
        way = [op for op in body.ops if not mine.isdisjoint(op.results)]
        carried = [k for k, arg in enumerate(body.args) if arg in mine]
        if len(carried) * len(way) > MOST_WORK or any(op.regions for op in way):
            return
        trees = trees_of(body, way, mine, floats=self.floats)
        tables = Cuts.among(body.ops)
        if not trees and not any(op in tables.of for op in way):
            return
        one = Recurrence(body, mine, timing)
        if one.arrivals(MOST_CYCLES) is None:
            return
        interval, found = one.least_interval(MOST_CYCLES), None
        # tables and carry-save adders only where they save a cycle more than the order of operands
        for form in (_Form(trees, Cuts({}), carry_save=False), _Form(trees, tables, carry_save=True)):
            soonest = form.soonest(timing, way)
            if interval > 1 and one.arrivals(interval - 1, soonest) is not None:
                interval, found = one.least_interval(interval - 1, soonest), form
        if found is not None:
            self._rebuild(body, way, found, present(one.arrivals(interval, found.soonest(timing, way))))

    def _rebuild(self, body: Region, way: list[Op], form: "_Form", arrivals: Arrivals) -> None:
        """Give operations the forms in which they arrive earliest."""
        mapped = {op: cut for op in way if (cut := form.table(op, arrivals)) is not None}
        shapes = form.shapes(arrivals)
        self._say(form.trees, shapes)
        for op, cut in reversed(mapped.items()):  # what a table computes is read from operations as they were
            map_onto(op, cut)
        rebuild(body, {op: node for op, node in shapes.items() if op not in mapped})

    def _say(self, trees: Mapping[Op, Tree], shapes: Mapping[Op, Node]) -> None:
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


@dataclass(frozen=True)
class _Form:
    """Which operations may take another form: ``trees`` join the earliest operands first, with ``carry_save`` also
    through carry-save adders, and bitwise logic is mapped onto ``tables``."""

    trees: Mapping[Op, Tree]
    tables: Cuts
    carry_save: bool

    def soonest(self, timing: TimingModel, way: list[Op]) -> Callable[[Mapping[Value, Arrival]], Arrivals]:
        """The arrivals if each operation of the recurrence takes its earliest form; the operations must not change
        while these are asked for."""
        steps = Steps(timing, way)

        def iteration(starts: Mapping[Value, Arrival]) -> Arrivals:
            arrivals = Arrivals(timing, starts, LONG_BEFORE)
            shaper = Shaper(arrivals, self.carry_save)
            for op in way:
                time = steps.after(op, arrivals.start(op))
                if op in self.trees:
                    time = min(time, shaper.at(shaper.soonest(self.trees[op]), self.trees[op].kind))
                table = self.tables.soonest(op, arrivals)
                if table is not None:
                    time = min(time, table[0])
                arrivals.times.update(dict.fromkeys(op.results, time))
            return arrivals

        return iteration

    def table(self, op: Op, arrivals: Arrivals) -> Cut | None:
        """The inputs of the table that computes the operation earlier than any other form; None if none does."""
        found = self.tables.soonest(op, arrivals)
        if found is None:
            return None
        shaper, tree = Shaper(arrivals), self.trees.get(op)
        shaped = shaper.at(shaper.soonest(tree), tree.kind) if tree is not None else arrivals.after(op)
        return found[1] if found[0] < min(shaped, arrivals.after(op)) else None

    def shapes(self, arrivals: Arrivals) -> dict[Op, Node]:
        """The new shapes of the trees that arrive earlier so."""
        shaper = Shaper(arrivals, self.carry_save)
        found = {op: shaper.soonest(tree) for op, tree in self.trees.items()}
        return {op: node for op, node in found.items() if shaper.at(node, self.trees[op].kind) < arrivals.after(op)}

"""Recurrences of a loop, and the least II that each of them allows."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...differences import Constraint, DifferenceSystem
from ...ir import Attr, Op, Region, Value
from ..loops.sccs import components
from .arrivals import Arrivals, Steps
from .model import LONG_BEFORE, Arrival, TimingModel

__all__ = ["Recurrence", "longest_recurrence", "recurrences_of"]

#: longer bodies are left alone
MOST_OPS = 5_000
#: most carried values that are tried as the earliest one
MOST_FIRST = 4

#: computes the arrivals of an iteration from those of its carried values
Iteration = Callable[[Mapping[Value, Arrival]], Arrivals]


@dataclass(eq=False)
class Recurrence:
    """A recurrence: ``values`` of a loop's ``body`` that depend on each other across iterations (one component)."""

    body: Region
    values: set[Value]
    timing: TimingModel

    @property
    def ops(self) -> list[Op]:
        """The operations on the recurrence, in order."""
        return [op for op in self.body.ops if not self.values.isdisjoint(op.results)]

    @property
    def args(self) -> list[Value]:
        """The carried values."""
        return [arg for arg in self.body.args if arg in self.values]

    def following(self, arg: Value) -> Value:
        """The value of a carried value in the next iteration."""
        return self.body.terminator.operands[1 + arg.index]

    def late(self, op: Op) -> list[bool]:
        """For each operand whether it is on the recurrence."""
        return [v in self.values for v in op.operands]

    def decides_the_end(self) -> bool:
        """Whether the continue condition depends on the recurrence."""
        hangs = set(self.values)
        for op in self.body.ops:
            if not hangs.isdisjoint(op.operands):
                hangs.update(op.results)
        return self.body.terminator.operands[0] in hangs

    def cycles(self, delays: Mapping[Op, float] = {}) -> int:
        """Cycles of the longest path from the carried values to the next ones, with other ``delays`` (in ns) for some
        operations."""
        arrivals = Arrivals(self.timing, self._registers(), LONG_BEFORE).follow(self.ops, delays)
        return max(1, *(1 + int(arrivals.at(self.following(arg)).cycle) for arg in self.args))

    def arrivals(self, interval: int, iteration: Iteration | None = None) -> Arrivals | None:
        """The arrivals if iterations start every ``interval`` cycles, or None if that is impossible.

        A carried value arrives a cycle after the previous iteration has computed it, less the interval; a value that is
        only copied from one carried value to the next is in a register already. Starting from one carried value in
        cycle 0, the others follow as longest paths; if the first then arrives later than assumed, the interval is too
        short for one of the cycles through it. ``iteration`` computes arrivals in another way than from the current
        operations.
        """
        iteration, following = iteration or self._as_is(), {arg: self.following(arg) for arg in self.args}
        begun = self.timing.register()
        for first in [arg for arg, value in following.items() if value not in following][:MOST_FIRST]:
            starts = dict.fromkeys(following, LONG_BEFORE) | {first: begun}
            for _ in range(4 * len(starts)):
                arrivals = iteration(starts)
                moved = {
                    arg: self._register(arrivals.at(value), interval - (value not in following))
                    for arg, value in following.items()
                }
                settled = all(moved[arg] <= start for arg, start in starts.items())
                if settled or moved[first] > begun:
                    break
                starts = {arg: max(start, moved[arg]) for arg, start in starts.items()}
            if settled:
                return arrivals
        return None

    def least_interval(self, works: int, iteration: Iteration | None = None) -> int:
        """The least interval that is possible, in cycles, given that ``works`` is. Of the current operations it is the
        greatest ratio of cycles to iterations of a closed chain of carried values."""
        if iteration is None:
            least, _ = self._constraints().minimum
            return works if least is None else min(works, least)
        return 1 + bisect_left(range(1, works), True, key=lambda k: self.arrivals(k, iteration) is not None)

    def _as_is(self) -> Iteration:
        return Steps(self.timing, self.ops).from_

    def _constraints(self) -> DifferenceSystem:
        """How much later each carried value is in its register than each of those it is computed from. That is a whole
        number of cycles, and does not depend on the other values, as an operation starts with its last operand."""
        args = self.args
        number = {arg: i for i, arg in enumerate(args)}
        ends = [(number[arg], self.following(arg)) for arg in args]
        steps, found = Steps(self.timing, self.ops), []
        for src, arg in enumerate(args):
            arrivals = steps.from_({arg: self.timing.register()})
            for dst, value in ends:
                cycle = arrivals.at(value).cycle
                if cycle > LONG_BEFORE.cycle:
                    later = int(cycle) + (value not in number)  # a copied value is in a register already
                    found.append(Constraint(src, dst, later, distance=1))
        return DifferenceSystem(len(args), found, range(len(args)))

    def _registers(self) -> dict[Value, Arrival]:
        return dict.fromkeys(self.args, self.timing.register())

    def _register(self, arrival: Arrival, earlier: int) -> Arrival:
        """The arrival of a carried value at its register, ``earlier`` cycles before the cycle of ``arrival``."""
        long_before = arrival.cycle == LONG_BEFORE.cycle
        return LONG_BEFORE if long_before else self.timing.register(arrival.cycle - earlier)


def longest_recurrence(loop: Op, timing: TimingModel) -> int:
    """The cycles of the longest of :func:`recurrences_of`; 1 where there is none."""
    return max((one.cycles() for one in recurrences_of(loop, timing)), default=1)


def recurrences_of(loop: Op, timing: TimingModel) -> Iterator[Recurrence]:
    """The recurrences of a loop, except for: long bodies; recurrences that contain loops; barrier loops, whose
    iterations wait for each other anyway; and those that decide the exit of a loop that waits for the decision."""
    (body,) = loop.regions
    together: dict[int, set[Value]] = {}
    for value, number in (
        components(body).items() if not loop.attrs.get(Attr.RING) and len(body.ops) <= MOST_OPS else ()
    ):
        together.setdefault(number, set()).add(value)
    for values in together.values():
        one = Recurrence(body, values, timing)
        if all(op.results and not op.regions for op in one.ops) and not (
            _waits_for_its_end(loop) and one.decides_the_end()
        ):
            yield one


def _waits_for_its_end(loop: Op) -> bool:
    """Whether the source requires that no iteration is issued before the exit condition is known. Then the whole path
    to the condition limits the II, not only the recurrence."""
    return (
        bool(loop.attrs.get(Attr.DISABLE_LOOP_PIPELINING) or loop.attrs.get(Attr.MAX_CONCURRENCY))
        or loop.attrs.get(Attr.SPECULATED_ITERATIONS) == 0
    )

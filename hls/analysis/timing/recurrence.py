"""Recurrences of a loop, and the least interval between iterations that each of them allows."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...ir import Attr, Op, Region, Value
from ..loops.sccs import components
from .arrivals import Arrivals
from .model import LONG_BEFORE, Arrival, TimingModel

__all__ = ["Recurrence", "recurrences_of"]

#: bodies of more operations are left alone
MOST_OPS = 5_000
#: carried values that are tried as the first to be there
MOST_FIRST = 4

#: gives the arrivals of an iteration from those of its carried values
Iteration = Callable[[Mapping[Value, Arrival]], Arrivals]


@dataclass(eq=False)
class Recurrence:
    """``values`` of a loop's ``body`` that depend on themselves in an iteration before, all of them together."""

    body: Region
    values: set[Value]
    timing: TimingModel

    @property
    def ops(self) -> list[Op]:
        """The operations between these values, in order."""
        return [op for op in self.body.ops if not self.values.isdisjoint(op.results)]

    @property
    def args(self) -> list[Value]:
        """The carried values."""
        return [arg for arg in self.body.args if arg in self.values]

    def following(self, arg: Value) -> Value:
        """What a carried value is in the next iteration."""
        return self.body.terminator.operands[1 + arg.index]

    def late(self, op: Op) -> list[bool]:
        """Of each operand whether it belongs to the recurrence."""
        return [v in self.values for v in op.operands]

    def decides_the_end(self) -> bool:
        """Whether it hangs on the recurrence if another iteration follows."""
        hangs = set(self.values)
        for op in self.body.ops:
            if not hangs.isdisjoint(op.operands):
                hangs.update(op.results)
        return self.body.terminator.operands[0] in hangs

    def cycles(self, delays: Mapping[Op, float] = {}) -> int:
        """Cycles of the longest way from the carried values to the next ones, where some operations have other
        ``delays`` (in ns)."""
        arrivals = Arrivals(self.timing, self._registers(), LONG_BEFORE).follow(self.ops, delays)
        return max(1, *(1 + int(arrivals.at(self.following(arg)).cycle) for arg in self.args))

    def arrivals(self, interval: int, iteration: Iteration | None = None) -> Arrivals | None:
        """When the values are there if iterations start every ``interval`` cycles, or None where they cannot.

        A carried value is there a cycle after the iteration before has computed it, less the interval; what only
        moves on from one carried value to the next is in a register already. Beginning with one of them in cycle 0, the
        others follow as longest paths; where that one itself would come later than it was taken to be, the interval is
        too short for one of the cycles through it. ``iteration`` computes arrivals otherwise than by the operations as
        they are.
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
        """The least interval that works, in cycles, where ``works`` is one."""
        return 1 + bisect_left(range(1, works), True, key=lambda k: self.arrivals(k, iteration) is not None)

    def _as_is(self) -> Iteration:
        ops = self.ops
        return lambda starts: Arrivals(self.timing, starts, LONG_BEFORE).follow(ops)

    def _registers(self) -> dict[Value, Arrival]:
        return dict.fromkeys(self.args, self.timing.register())

    def _register(self, arrival: Arrival, earlier: int) -> Arrival:
        """When a carried value is in its register that arrives so, but ``earlier`` cycles."""
        long_before = arrival.cycle == LONG_BEFORE.cycle
        return LONG_BEFORE if long_before else self.timing.register(arrival.cycle - earlier)


def recurrences_of(loop: Op, timing: TimingModel) -> Iterator[Recurrence]:
    """The recurrences of a loop; left out are long bodies, recurrences with loops inside, rings, whose iterations wait
    for each other anyway, and what decides about the end of a loop that waits for that."""
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
    """Whether the source asks that no iteration is issued before it is known whether there is one. Then all that is
    computed for the answer counts, and not only what comes back."""
    return (
        bool(loop.attrs.get(Attr.DISABLE_LOOP_PIPELINING) or loop.attrs.get(Attr.MAX_CONCURRENCY))
        or loop.attrs.get(Attr.SPECULATED_ITERATIONS) == 0
    )

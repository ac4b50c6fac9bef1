"""When the values of a loop's iteration, or of any region, are there: arrival times and slack."""

from collections.abc import Iterable, Mapping

from ...ir import Op, Region, Value
from ..loops.sccs import components
from .model import LONG_BEFORE, START, Arrival, TimingModel

__all__ = ["Arrivals", "carried_arrivals"]

#: names that a value has one after the other, as far as anybody looks
_MOST_COPIES = 16


class Arrivals:
    """Arrival times of values, each with that of the operation that computes it after its operands.

    ``times`` holds what is known so far, at first the values at which ways begin; all others are there from
    ``otherwise`` on.
    """

    def __init__(self, timing: TimingModel, times: Mapping[Value, Arrival], otherwise: Arrival = START):
        self.timing, self.times, self.otherwise = timing, dict(times), otherwise

    def at(self, value: Value) -> Arrival:
        """When the value is there."""
        return self.times.get(value, self.otherwise)

    def start(self, op: Op) -> Arrival:
        """When the last operand is there."""
        return max((self.at(v) for v in op.operands), default=self.otherwise)

    def after(self, op: Op, delay: float | None = None) -> Arrival:
        """When the results are there; ``delay`` in the place of what the operation takes."""
        return self.timing.after(op, self.start(op), delay)

    def note(self, op: Op, delay: float | None = None) -> None:
        """Remember when the results are there."""
        self.times.update(dict.fromkeys(op.results, self.after(op, delay)))

    def follow(self, ops: Iterable[Op], delays: Mapping[Op, float] = {}) -> "Arrivals":
        """Remember the results of operations, in order; some with other ``delays``."""
        for op in ops:
            self.note(op, delays.get(op))
        return self

    def misses(self, value: Value) -> bool:
        """Whether the value comes too late for the first cycle."""
        return self.timing.misses(self.at(value))

    def slack(self, value: Value) -> float:
        """What is left of the first cycle when the value is there, in ns; less than 0 where a later one is."""
        cycle, ns = self.at(value)
        return self.timing.room - ns if cycle <= 0 else -cycle * self.timing.room - ns


def carried_arrivals(body: Region, timing: TimingModel) -> tuple[Arrivals, dict[Value, int]]:
    """When the values on the recurrences of a loop are there within an iteration, and which recurrence each is of.

    What is carried on from one name to the next is there a cycle earlier for each; all that is on no recurrence is
    there long before.
    """
    together = components(body)
    pairs = [
        (arg, value) for arg, value in zip(body.args, body.terminator.operands[1:], strict=True) if arg in together
    ]
    ops = [op for op in body.ops if any(result in together for result in op.results)]
    starts = {arg: timing.register() for arg, _ in pairs}
    for _ in range(_MOST_COPIES):
        arrivals = Arrivals(timing, starts, LONG_BEFORE).follow(ops)
        moved = {
            arg: timing.register(arrivals.at(value).cycle - 1) if arrivals.at(value) <= timing.register() else start
            for (arg, value), start in zip(pairs, starts.values(), strict=True)
        }
        if moved == starts:
            break
        starts = moved
    return arrivals, together

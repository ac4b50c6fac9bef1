"""Static timing: arrival times and slack of the values of a loop iteration, or of any region."""

from collections.abc import Iterable, Mapping

from ...ir import Op, Region, Value
from ..loops.sccs import components
from .model import LONG_BEFORE, START, Arrival, Step, TimingModel

__all__ = ["Arrivals", "Steps", "carried_arrivals"]

#: most carried values in a chain of copies that are followed
_MOST_COPIES = 16


class Arrivals:
    """Arrival times of values, each computed from those of the operands of its operation.

    ``times`` holds the known arrivals, initially those at which paths start; all other values arrive at ``otherwise``.
    """

    def __init__(self, timing: TimingModel, times: Mapping[Value, Arrival], otherwise: Arrival = START) -> None:
        self.timing, self.times, self.otherwise = timing, dict(times), otherwise

    def at(self, value: Value) -> Arrival:
        """The arrival of the value."""
        return self.times.get(value, self.otherwise)

    def start(self, op: Op) -> Arrival:
        """The arrival of the last operand."""
        return max((self.at(v) for v in op.operands), default=self.otherwise)

    def after(self, op: Op, delay: float | None = None) -> Arrival:
        """The arrival of the results; ``delay`` replaces the delay of the operation."""
        return self.timing.after(op, self.start(op), delay)

    def note(self, op: Op, delay: float | None = None) -> None:
        """Record the arrival of the results."""
        self.times.update(dict.fromkeys(op.results, self.after(op, delay)))

    def follow(self, ops: Iterable[Op], delays: Mapping[Op, float] = {}) -> "Arrivals":
        """Record the arrivals of operations, in order; some with other ``delays``."""
        for op in ops:
            self.note(op, delays.get(op))
        return self

    def misses(self, value: Value) -> bool:
        """Whether the value arrives too late for the first cycle."""
        return self.timing.misses(self.at(value))

    def slack(self, value: Value) -> float:
        """The rest of the first cycle when the value arrives, in ns; negative if it arrives in a later cycle."""
        cycle, ns = self.at(value)
        return self.timing.room - ns if cycle <= 0 else -cycle * self.timing.room - ns


class Steps:
    """Operations in order, for arrivals that are computed many times from other starts: what each operation adds is
    asked of the timing model once, when a start that is not long before reaches it. The operations must not change
    meanwhile."""

    def __init__(self, timing: TimingModel, ops: Iterable[Op]) -> None:
        self.timing, self._known = timing, dict[Op, Step]()
        self._ops = [(op, op.operands, op.results) for op in ops]

    def from_(self, starts: Mapping[Value, Arrival]) -> Arrivals:
        """The arrivals of the results from those of the carried values; other values arrive long before."""
        arrivals = Arrivals(self.timing, starts, LONG_BEFORE)
        times, known, through = arrivals.times, self._known, self.timing.through
        for op, operands, results in self._ops:
            start = LONG_BEFORE
            for value in operands:
                if value in times and times[value] > start:
                    start = times[value]
            if start.cycle == LONG_BEFORE.cycle:
                after = LONG_BEFORE
            else:
                after = through(known.get(op) or self._step(op), start)
            for result in results:
                times[result] = after
        return arrivals

    def after(self, op: Op, start: Arrival) -> Arrival:
        """The arrival of the results of one of the operations if the last operand arrives at ``start``."""
        if start.cycle == LONG_BEFORE.cycle:
            return LONG_BEFORE
        return self.timing.through(self._known.get(op) or self._step(op), start)

    def _step(self, op: Op) -> Step:
        return self._known.setdefault(op, self.timing.step(op))


def carried_arrivals(body: Region, timing: TimingModel) -> tuple[Arrivals, dict[Value, int]]:
    """Arrivals of the values on a loop's recurrences within an iteration, and the number of each value's recurrence.

    A value that is only copied from one carried value to the next arrives a cycle earlier for each copy; values on no
    recurrence arrive long before.
    """
    together = components(body)
    pairs = [
        (arg, value) for arg, value in zip(body.args, body.terminator.operands[1:], strict=True) if arg in together
    ]
    ops = [op for op in body.ops if any(result in together for result in op.results)]
    starts = {arg: timing.register() for arg, _ in pairs}
    steps = Steps(timing, ops)
    for _ in range(_MOST_COPIES):
        arrivals = steps.from_(starts)
        moved = {
            arg: timing.register(arrivals.at(value).cycle - 1) if arrivals.at(value) <= timing.register() else start
            for (arg, value), start in zip(pairs, starts.values(), strict=True)
        }
        if moved == starts:
            break
        starts = moved
    return arrivals, together

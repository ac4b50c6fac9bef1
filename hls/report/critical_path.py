"""The critical path of a loop, by the scheduler's timing model."""

from collections.abc import Callable, Iterator

from ..ir import Op, Value, has
from ..planning.schedule import Carried, OperatorTiming, Point, RegionPlan
from .model import Path, Share

__all__ = ["longest_path"]


def longest_path(plan: RegionPlan, timing: OperatorTiming, say: Callable[[Op], str]) -> Path:
    """The longest chain of operations within one stage; ``say`` names an operation."""
    return _Paths(plan, timing).longest(say)


class _Paths:
    def __init__(self, plan: RegionPlan, timing: OperatorTiming) -> None:
        self.plan, self.timing = plan, timing
        self.reads = {c.arg: c for c in plan.carried}
        # results that arrive through a queue, at whatever time
        self.answered = {row.op for level in plan.levels for row in level.row}
        # delay in ns from a register, and the operations on that path
        self.ways: dict[Value, tuple[float, tuple[tuple[Op, float], ...]]] = {}

    def longest(self, say: Callable[[Op], str]) -> Path:
        ends = [self._through(op, point) for op, point in self.plan.place.items() if not has(op, "constant")]
        ends += self._decisions()
        ns, steps = max(ends, key=lambda end: end[0], default=(0.0, ()))
        shares = tuple(Share(say(op), op.span, own / ns) for op, own in steps if own)
        return Path(round(ns + self.timing.overhead, 3), round(1000 / (ns + self.timing.overhead), 1), shares)

    def _decisions(self) -> Iterator[tuple[float, tuple[tuple[Op, float], ...]]]:
        """The paths of the continue condition, where they are scheduled, to the end of an invocation, and to the next
        issue, which may be later."""
        plan = self.plan
        if plan.loop is None or plan.region.terminator.opcode != "yield" or plan.decide.level and not plan.speculative:
            return
        condition = plan.region.terminator.operands[0]
        points = [(plan.decide, self.timing.slot_read)]
        points += [] if plan.speculative else [(plan.again, self.timing.header)]
        for point, own in points:
            ns, steps = self._arrival(condition, point)
            yield ns + own, steps

    def _through(self, op: Op, point: Point):
        """The longest path to the operation's result, or to the first register inside it."""
        ns, steps = max((self._arrival(v, point) for v in op.operands), key=lambda way: way[0], default=(0.0, ()))
        own = self.timing.delay(op)
        way = (ns + own, (*steps, (op, own)))
        behind = self.timing.out_delay(op)
        after = way if self.timing.latency(op) == 0 and not has(op, "memory") else (behind, ((op, behind),))
        if op in self.answered:
            behind = self.timing.answer_output(op)
            after = (behind, ((op, behind),) if behind > self.timing.queue_output else ())
        self.ways.update(dict.fromkeys(op.results, after))
        return way

    def _arrival(self, value: Value, point: Point):
        """The longest path to a value, in the stage in which it is used."""
        at = self.plan.available.get(value)
        if at is None and value not in self.plan.invariants:
            return 0.0, ()  # it is fixed for the whole run
        if at == point:
            if value in self.reads:
                return self._read(self.reads[value])
            return self.ways.get(value, (self.timing.queue_output, ()))
        return (self.timing.queue_output if point.stage == 0 and point.level else 0.0), ()

    def _read(self, carried: Carried):
        """The path to a carried value: through its register, or past that from the operation that computes it."""
        op, ns = carried.forwards, self.timing.carried(1, carried.forwards, carried.preset)
        return ns, () if op is None else ((op, self.timing.forwarding(op)),)

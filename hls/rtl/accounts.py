"""The cycle account: the causes to which the hardware attributes a cycle, most important first.

1. An innermost loop issued a token: useful work.
2. An innermost loop did not issue: a token in it waits for an operation, or a request is not accepted (the deepest
   level first, since what waits there stalls everything upstream), or a store is not accepted. A wait counts while the
   loop runs or a running loop waits for it. Otherwise a wait only counts beyond the unit's latency without contention:
   the rest is the latency of the pipeline. Or a token waits for the cycles of a port that stores of other loops share,
   or its group waits for local memory of its own. Or, if none of that stalls the others, a token waits at a barrier.
3. The loop runs and nothing in it waits: its own recurrence delays the next token.
4. An outer loop runs and waits for an operation, or for an inner loop to end.
5. The top waits for an operation.
6. None of these, and the oldest response of a load is later than its latency (responses arrive, but others came first),
   or memory does not acknowledge a store within its latency. What remains is latency: before the first issue (ramp-up),
   after the last one (drain), or between two.

A call on a channel waits in the cycles in which the channel has no room for what it offers, or no value for it. Its
wait also counts while nothing waits any more, but the loop that has an iteration to issue is still refused: a stall
reaches the loop's issue some cycles after the channel's end, and ends there as much later. From the wait on until an
issue without one, or another cause, such cycles are the effect of the wait.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amaranth import *

from rtl_lib.count import LateAnswers, LaterEvents

from ..ir import Op
from ..narrow import present
from ..planning.schedule import RegionPlan

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["Cause", "causes_of", "inner_loops", "signals_of"]

#: Requests of an operation that are unanswered at most, where no queue of tokens limits them.
MOST = 1 << 16


@dataclass(frozen=True)
class Cause:
    """One account: ``kind`` is "issued", "wait", "store", "port", "group", "recurrence", "late", "unacknowledged" or
    "ramp"; ``op`` the operation or loop that causes it."""

    kind: str
    op: Op | None


def causes_of(context: "KernelContext") -> list[Cause]:
    """Causes for the cycle account of one kernel, in order of importance. Makes no hardware."""
    return _Causes(context).all()


def signals_of(context: "KernelContext", causes: list[Cause], m: Module) -> list[Value]:
    """The signal of each cause, high in the cycles in which it holds; adds the logic that detects them to ``m``."""
    detectors = _Detectors(context, m)
    return detectors.with_effects(causes, [detectors.signal(cause) for cause in causes])


class _Causes:
    """Lists the causes that a kernel's hardware can show."""

    def __init__(self, context: "KernelContext") -> None:
        self.context = context
        self.seen = {(o.kind, o.op) for o in context.observations.all}

    def all(self) -> list[Cause]:
        inner, outer = inner_loops(self.context), _outer_loops(self.context)
        causes = [Cause("issued", None)] if inner else []
        for plan in [*inner, *outer[::-1]]:
            causes += self._of_loop(plan)
        causes += self._of_top()
        for kind, stores in (("late", False), ("unacknowledged", True)):
            units = self.context.servers.units.items()
            causes += [Cause(kind, op) for op, unit in units if (unit.access.direction == "store") == stores]
        return [*causes, Cause("ramp", None)]

    def _of_loop(self, plan) -> list[Cause]:
        # a token that waits for a port stalls everything upstream, so this comes before waits there
        causes = [Cause("port", op) for op in plan.place if ("port", op) in self.seen]
        for row in _rows(plan)[::-1]:
            if row.joins:
                causes.append(Cause("wait", row.op))
            elif self._may_be_refused(row.op):
                causes.append(Cause("store", row.op))
        causes += [Cause("wait", op) for op in plan.place if op in self.context.servers.stepping]
        causes += [Cause("group", op) for op in plan.region.ops if ("group", op) in self.seen]
        # work-items at a barrier wait for what stalls the others
        causes.sort(key=lambda cause: present(cause.op).opcode == "meet")
        return [*causes, Cause("recurrence", plan.loop)]

    def _of_top(self) -> list[Cause]:
        causes = []
        for row in _rows(self.context.plan.top)[::-1]:
            if row.joins and row.op.opcode != "loop":
                causes.append(Cause("wait", row.op))
            elif self._may_be_refused(row.op) and not row.joins:
                causes.append(Cause("store", row.op))
        return causes

    def _may_be_refused(self, op: Op) -> bool:
        """Whether the operation is a request that its unit may not accept."""
        return ("stalled", op) in self.seen or ("blocked", op) in self.seen


#: by the kind of a cause, the observable signal of its operation that is the cause as it is
_SEEN = {"store": "stalled", "port": "port", "group": "group", "recurrence": "held"}


class _Detectors:
    """Builds the signals of causes into ``m``."""

    def __init__(self, context: "KernelContext", m: Module) -> None:
        self.context, self.m = context, m
        self.seen: dict[tuple[str, Op | None], Value] = {(o.kind, o.op): o.signal for o in context.observations.all}
        # for each operation at a boundary, the loop it is in
        self.around = {row.op: plan for plan in context.plan.loops.values() for row in _rows(plan)}
        stepping = context.servers.stepping
        self.around |= {op: plan for plan in context.plan.loops.values() for op in plan.place if op in stepping}
        self.active: dict[Op, object] = {}  #: of outer loops
        inner = [self.seen["issued", plan.loop] for plan in inner_loops(context)]
        self.issues = Cat(inner).any() if inner else context.run.entered  #: whether something is issued
        self.late = self._late([unit for unit in context.servers.units.values() if unit.access.direction != "store"])

    def signal(self, cause: Cause) -> Value:
        """The signal of a cause."""
        if cause.op in self.context.servers.channels:
            return self.seen["blocked", cause.op]
        if cause.kind in _SEEN:
            return self.seen[_SEEN[cause.kind], cause.op]
        if cause.op is None:
            return self.issues if cause.kind == "issued" else ~self._begun(self.issues)
        if cause.kind == "late":
            return self.late[cause.op] & ~self._refused(cause.op)
        if cause.kind == "unacknowledged":
            return self._unacknowledged(self.context.servers.units[cause.op])
        return self._waits(cause.op)

    def with_effects(self, causes: list[Cause], signals: list[Value]) -> list[Value]:
        """The signals of ``causes``; those of waits for channels are also high in the cycles that are their effect."""
        calls = [
            (k, cause.op)
            for k, cause in enumerate(causes)
            if cause.op in self.context.servers.channels and cause.op in self.around
        ]
        if not calls:
            return signals
        found, anything = list(signals), Signal(name="any_cause")
        self.m.d.comb += anything.eq(Cat(one for cause, one in zip(causes, signals) if cause.kind != "ramp").any())
        first = int(causes[0].kind == "issued")  # an issue may come while the pipeline behind it waits
        for k, op in calls:
            was = Signal(name=f"waited_for_{self.context.names.op(op)}")
            with self.m.If(anything):
                self.m.d.sync += was.eq(signals[k] & ~Cat(signals[first:k]).any())
            with self.m.If(self.context.run.restart):
                self.m.d.sync += was.eq(0)
            refused = self.seen["refused", self.around[op].loop]
            found[k] = signals[k] | was & ~anything & refused
        return found

    def _waits(self, op: Op) -> Value:
        """Whether a token waits for the operation; in a loop, also whether the operation's request is not accepted."""
        plan = self.around.get(op)
        if plan is None:
            return self.seen["wait", op]
        waits = self.seen["wait", op] & (self._active(plan) | self._beyond_latency(op))
        return waits | self.seen.get(("stalled", op), C(0))

    def _active(self, plan):
        """High while the loop has iterations to issue, or while an outer loop that does waits for it."""
        running, around = self.seen["running", plan.loop], self.around.get(plan.loop)
        waited = self.seen.get(("wait", plan.loop))
        return running if around is None or waited is None else running | waited & self._active_around(around)

    def _active_around(self, plan):
        """The same for an outer loop, as a signal: otherwise the expression of a deep nest would be repeated for each
        inner loop."""
        if plan.loop not in self.active:
            active = self._active(plan)
            if active is not self.seen["running", plan.loop]:
                whole = Signal(name=f"active_{self.context.names.op(plan.loop)}")
                self.m.d.comb += whole.eq(active)
                active = whole
            self.active[plan.loop] = active
        return self.active[plan.loop]

    def _beyond_latency(self, op: Op):
        """Whether a wait for the operation exceeds its latency; a wait for earlier stores always does."""
        if op in self.context.servers.hazards or op in self.context.servers.fences:
            return C(1)
        return self.late.get(op, C(0))

    def _late(self, units) -> dict[Op, Value]:
        """By operation, whether the oldest response of its unit is late."""
        due: dict[Op, Value] = {}
        for latency in sorted({self._memory_latency(unit) for unit in units}):
            ops = [unit.op for unit in units if self._memory_latency(unit) == latency]
            part = self.m.submodules[f"due_after_{latency}"] = LaterEvents(len(ops), latency - 1)
            self.m.d.comb += part.i.eq(Cat(self.seen["accepted", op] for op in ops))
            due |= dict(zip(ops, part.o, strict=True))
        return {unit.op: self._late_of(unit, due[unit.op]) for unit in units}

    def _late_of(self, unit, due: Value) -> Value:
        part = LateAnswers(self._memory_latency(unit), self._most_under_way(unit.op))
        self.m.submodules[f"late_{self.context.names.op(unit.op)}"] = part
        self.m.d.comb += [
            part.due.eq(due),
            part.answered.eq(unit.unit.o.valid & unit.unit.o.ready),
            part.refused.eq(self._refused(unit.op)),
        ]
        return part.late

    def _most_under_way(self, op: Op) -> int:
        """How many requests of an operation can be unanswered: their tokens are in its level, or in the queue after it,
        or their requests wait in a queue of their own."""
        plans = [*self.context.plan.loops.values(), self.context.plan.top]
        levels = [(level, row) for plan in plans for level in plan.levels for row in level.row if row.op is op]
        return max((level.depth + level.bypass_depth + row.request_depth for level, row in levels), default=MOST)

    def _memory_latency(self, unit) -> int:
        return self.context.memories[unit.access.location].read_latency

    def _refused(self, op: Op):
        """Whether a response is valid but the kernel does not accept it: then memory is not the cause."""
        answers = self.context.servers.units[op].unit.o
        return answers.valid & ~answers.ready

    def _unacknowledged(self, unit):
        """Whether all stores were accepted longer ago than the memory's latency, and one is not yet acknowledged."""
        latency = self._memory_latency(unit)
        since = Signal(range(latency + 1), name=f"since_{self.context.names.op(unit.op)}")
        with self.m.If(unit.unit.idle | self.seen["accepted", unit.op]):
            self.m.d.sync += since.eq(0)
        with self.m.Elif(since != latency):
            self.m.d.sync += since.eq(since + 1)
        return ~unit.unit.idle & (since == latency)

    def _begun(self, issues):
        """Whether anything was issued before this cycle."""
        begun = Signal(name="begun")
        self.m.d.sync += begun.eq(~self.context.run.restart & (begun | issues))
        return begun


def inner_loops(context: "KernelContext") -> list[RegionPlan]:
    """The plans of the innermost loops."""
    return [plan for plan in context.plan.loops.values() if not any(row.op.opcode == "loop" for row in _rows(plan))]


def _outer_loops(context: "KernelContext") -> list:
    """The plans of the loops that have loops in them."""
    inner = inner_loops(context)
    return [plan for plan in context.plan.loops.values() if plan not in inner]


def _rows(plan):
    return [row for level in plan.levels for row in level.row]

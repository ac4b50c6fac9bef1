"""Counters of one kernel, fed by the observable signals of its regions and units."""

from dataclasses import replace

from amaranth import *

from rtl_lib.count import CauseHistogram, EventCounter, LeaveInterval, PeakCounter

from ..ir import Attr, is_early
from ..ir.loop_names import loop_names, place_of
from ..planning.schedule.interleaving import together
from ..profile.layout import COUNTER_BITS, Account, Layout
from ..profile.layout import Access as AccessLayout
from ..profile.layout import Channel as ChannelLayout
from ..profile.layout import Loop as LoopLayout
from .accounts import causes_of

__all__ = ["KernelCounters", "UnitCounters"]

_ACCESS = {"accepted": "accepted", "stalled": "stalled", "bursts": "burst", "words": "word"}
_EARLY = _ACCESS | {"vain": "vain"}
NOT_PIPELINED = f" is not pipelined ({Attr.DISABLE_LOOP_PIPELINING})"


class KernelCounters:
    """Builds the counters of a kernel into its module. ``layout`` describes them; ``values`` are their signals in
    order.

    ``counted`` says which are built, as the layout does. ``channels`` holds the observable signals of each
    channel of the system (:class:`~hls.rtl.channels.ChannelWatch`), by channel and index.
    """

    def __init__(self, hardware, clock_mhz: float, counted: str, channels) -> None:
        self.context, self.hardware, self.channels = hardware.context, hardware, channels
        self.m = Module()
        self.names = loop_names(place_of(loop) for loop in self.context.plan.loops)
        self.causes = causes_of(self.context, self.m)
        self.layout = Layout(
            kernel=self.context.function.name,
            clock_mhz=clock_mhz,
            loops=tuple(self._loops()),
            accesses=tuple(self._accesses()),
            accounts=tuple(self._accounts()),
            counted=counted,
            channels=tuple(self._channels()),
        )
        self.values: list[Value] = []
        if counted:
            self.context.m.submodules.counters = self.m
            self._build()

    def _loops(self):
        most = together(self.context.plan)
        for loop, plan in self.context.plan.loops.items():
            yield LoopLayout(
                self.context.names.op(loop),
                loop.attrs.get(Attr.LABEL, ""),
                _line(loop),
                plan.ii,
                min(most[loop], plan.ii),
                self.names[place_of(loop)],
            )

    def _accesses(self):
        owner = {op: plan.loop for plan in self.context.plan.loops.values() for op in plan.place}
        for op, access in self.context.memory.outside.items():
            loop = owner.get(op)
            yield AccessLayout(
                key=self.context.names.op(op),
                line=_line(op),
                buffer=access.memory,
                kind=access.direction,
                lsu=access.lsu,
                access_bytes=access.bytes,
                word_bytes=access.word_bytes,
                loop=self.context.names.op(loop) if loop else None,
                cached=access.unit.keeps_words,
                early=is_early(op),
            )

    def _channels(self):
        calls = [*self.context.servers.channels.values(), *self.context.servers.at_once.values()]
        first = {call.end: call.op for call in reversed(calls)}
        for end in self.hardware.ends:
            plan = self.channels[end.channel, end.index].plan
            key = self.context.names.unique(f"{'write' if end.writes else 'read'}_of_{end.channel}_{end.index}")
            yield ChannelLayout(key, plan.name, end.writes, plan.depth, _line(first[end]))

    def _accounts(self):
        for k, cause in enumerate(self.causes):
            yield Account(f"{k}_{cause.kind}", self._say(cause), _line(cause.op) if cause.op else None)
        yield Account(f"{len(self.causes)}_between", "latency between iterations")
        yield Account(f"{len(self.causes) + 1}_drain", "drain")

    def _say(self, cause) -> str:
        access = self.context.memory.accesses.get(cause.op)
        label = self.names.get(place_of(cause.op), "") if cause.op else ""
        waited = (
            f"{'load of' if access.direction == 'load' else 'an atomic operation on'} {access.memory}"
            if access
            else f"loop {label}"
        )
        if cause.op in self.context.servers.meets:
            waited = "the group's other work-items at the barrier"
        if cause.op in self.context.servers.fences:
            waited = f"stores to {', '.join(cause.op.attrs[Attr.MEMS])} to be in memory"
        if cause.op in self.context.servers.hazards:
            waited = f"earlier stores to {cause.op.attrs[Attr.MEM]} that may be to the same address"
        if cause.op in self.context.plan.loops:
            waited = self._say_loop(cause.op, label)
        call = self.context.servers.channels.get(cause.op)
        if call:
            name = self.channels[call.end.channel, call.end.index].plan.name
            return f"waiting for channel {name} to have {'room' if call.end.writes else 'a value'}"
        return {
            "issued": "issued",
            "ramp": "ramp-up",
            "late": f"waiting for {waited}, answered later than its latency",
            "unacknowledged": f"store to {access.memory if access else ''} not yet in memory",
            "wait": f"waiting for {waited}",
            "store": f"store to {access.memory if access else ''} not accepted",
            "port": f"waiting for the write port of {access.memory if access else ''}, which other stores share",
            "group": f"waiting for an earlier work-group to {_of_group(cause.op)}",
            "recurrence": "recurrence of loop "
            f"{label}{NOT_PIPELINED if cause.op and cause.op.attrs.get(Attr.DISABLE_LOOP_PIPELINING) else ''}",
        }[cause.kind]

    def _say_loop(self, loop, label: str) -> str:
        """The message for an outer loop that waits for ``loop`` while nothing in ``loop`` waits: its last iterations
        drain."""
        around = next(
            (
                o
                for o, plan in self.context.plan.loops.items()
                if any(row.op is loop for level in plan.levels for row in level.row)
            ),
            None,
        )
        why = (
            f": loop {self.names[place_of(around)]}{NOT_PIPELINED}"
            if around and around.attrs.get(Attr.DISABLE_LOOP_PIPELINING)
            else ""
        )
        return f"the pipeline latency of loop {label}{why}"

    def _build(self) -> None:
        if self.layout.has_events:
            self._build_events()
        if self.layout.has_accounts:
            self._build_accounts()

    def _build_events(self) -> None:
        seen = {(o.kind, o.op): o.signal for o in self.context.observations.all}
        for loop in self.context.plan.loops:
            busy, starts = self._stretches(loop, seen)
            for event in (seen["issued", loop], seen["invocations", loop], busy, starts):
                self._count(event)
        for op in self.context.memory.outside:
            for kind in (_EARLY if is_early(op) else _ACCESS).values():
                self._count(seen[kind, op])
        for end, outer in self.hardware.ends.items():
            watch = self.channels[end.channel, end.index]
            self._count(outer.valid & outer.ready)
            self._count(watch.read_stall)
            self._count(watch.write_stall)
            self._peak(watch.level)

    def _stretches(self, loop, seen):
        """(busy, begins) of the periods in which a loop's II is measured.

        An outer loop issues some iterations ahead of its inner loops, so its last issue comes early: its II is measured
        where iterations leave.
        """
        name, around = (
            self.context.names.op(loop),
            any(
                op.opcode == "loop"
                for level in self.context.plan.loops[loop].levels
                for op in (row.op for row in level.row)
            ),
        )
        if around and ("left", loop) in seen:
            part = self.m.submodules[f"{name}_leaves"] = LeaveInterval()
            self.m.d.comb += [
                part.issued.eq(seen["issued", loop]),
                part.left.eq(seen["left", loop]),
                part.clear.eq(self.hardware.start),
            ]
            return part.busy, part.starts
        running, before = seen["running", loop], Signal(name=f"{name}_was_running")
        self.m.d.sync += before.eq(running)
        return running, running & ~before

    def _build_accounts(self) -> None:
        histogram = self.m.submodules.accounts = CauseHistogram(len(self.causes), COUNTER_BITS)
        self.m.d.comb += [
            histogram.running.eq(self.hardware.busy),
            histogram.clear.eq(self.hardware.start),
            histogram.causes.eq(Cat(c.signal for c in self.causes)),
        ]
        *named, rest = (histogram.values[k] for k in range(len(self.causes) + 1))
        self.values += [*named, *self._split(rest)]

    def _split(self, rest):
        """Splits the cycles without a cause into those before the last issue and those after it: ``rest`` is their sum,
        from the histogram."""
        between, drain = Signal(COUNTER_BITS, name="between"), Signal(COUNTER_BITS, name="drain")
        first = self.causes[0]
        shown = first.signal if first.kind == "issued" else C(0)
        for k in range(CauseHistogram.timing.latency):
            later = Signal(name=f"issued_before_{k + 1}")
            self.m.d.sync += later.eq(shown & ~self.hardware.start)
            shown = later
        with self.m.If(self.hardware.start):
            self.m.d.sync += between.eq(0)
        with self.m.Elif(shown):
            self.m.d.sync += between.eq(rest)
        self.m.d.comb += drain.eq(rest - between)
        return between, drain

    def _count(self, event) -> None:
        counter = EventCounter(COUNTER_BITS)
        self.m.submodules[f"counter{len(self.values)}"] = counter
        self.m.d.comb += [counter.event.eq(event), counter.clear.eq(self.hardware.start)]
        self.values.append(counter.value)

    def _peak(self, level) -> None:
        peak = PeakCounter(max(1, len(level)))
        self.m.submodules[f"peak{len(self.values)}"] = peak
        self.m.d.comb += [peak.number.eq(level), peak.clear.eq(self.hardware.start)]
        self.values += [level, peak.value]


class UnitCounters:
    """The counters of all compute units of a kernel, concatenated."""

    def __init__(self, units: list[KernelCounters]) -> None:
        self.layout = replace(units[0].layout, units=len(units))
        self.values = [value for unit in units for value in unit.values]


def _of_group(op) -> str:
    """The phrase for what a group does before it releases its resources to the next group."""
    names = op.attrs.get(Attr.MEMS, ()) if op and not op.attrs.get(Attr.CALLS) else ()
    return f"leave its copy of {', '.join(names)}" if names else "be done with its calls on channels"


def _line(op):
    return op.span.line if op.span else None

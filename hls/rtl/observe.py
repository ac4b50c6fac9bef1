"""Counters and the probe of one kernel, fed by the observable signals of its regions and units."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from amaranth import *

from rtl_lib.count import CycleAccount, LeaveInterval, PeakCounter

from ..analysis.channels.endpoints import Endpoint
from ..ir import Attr, Op
from ..ir.loop_names import loop_names, place_of
from ..narrow import present
from ..planning.schedule.account_text import NOT_PIPELINED, awaited_access, awaited_stores, recurrence, unacknowledged
from ..planning.schedule.interleaving import together
from ..profile.layout import DRAIN_BITS, Account, Layout
from ..profile.layout import Access as AccessLayout
from ..profile.layout import Channel as ChannelLayout
from ..profile.layout import Local as LocalLayout
from ..profile.layout import Loop as LoopLayout
from ..profile.probe import HELD, WORD, Hold, Link, ProbeUnit, words
from ..profile.stalls import SIGNAL
from .accounts import causes_of, inner_loops, signals_of
from .channels import ChannelWatch
from .port_reservation import booked_for
from .strobes import full_burst, max_burst, unaligned
from .work import count_operations

if TYPE_CHECKING:
    from .kernel import KernelHardware

__all__ = ["Built", "KernelCounters", "UnitCounters"]

_ACCESS = {"accepted": "accepted", "stalled": "stalled", "bursts": "burst", "words": "word"}
_EARLY = _ACCESS | {"vain": "vain"}
#: by the kind of a cause, where it says enough; a wait is for its operation
_CATEGORY = {
    "issued": "issue",
    "ramp": "ramp-up",
    "port": "local memory",
    "group": "groups",
    "recurrence": "recurrence",
}


@dataclass(frozen=True)
class Built:
    """What a counter's register shows: a ``value``, or the number of cycles since the start in which an ``event`` is
    high."""

    value: Value | None = None
    event: Value | None = None


class KernelCounters:
    """Builds the counters of a kernel, or of one of its compute units, into its module. ``layout`` describes them;
    ``registers`` are those that are built, ``built`` what they show, in the same order: values, and events that control
    counts (:class:`~rtl_lib.event_counters.EventCounters`). They count from start to done. Where nothing is counted or
    probed, there is a layout and no hardware.

    ``counted`` says which counters are built (:class:`hls.options.Options`). With ``probed`` the observed signals
    themselves are led out as ``probe``, which ``unit`` describes, for a simulator that counts them: then the layout has
    all counters. ``channels`` holds the observable signals of each channel of the system
    (:class:`~hls.rtl.channels.ChannelWatch`), by channel and index.
    """

    def __init__(
        self,
        hardware: "KernelHardware",
        clock_mhz: float,
        counted: str,
        probed: bool,
        channels: Mapping[tuple[str, int], ChannelWatch],
    ) -> None:
        self.context, self.hardware, self.channels = hardware.context, hardware, channels
        self.clock_mhz = clock_mhz
        self.names = loop_names(place_of(loop) for loop in self.context.plan.loops)
        self.causes = causes_of(self.context)
        #: the key of each channel end
        self.ends = {end: self.context.names.unique(_end_name(end)) for end in hardware.ends}
        self.layout = Layout(
            kernel=self.context.function.name,
            clock_mhz=clock_mhz,
            loops=tuple(self._loops()),
            accesses=tuple(self._accesses()),
            accounts=tuple(self._accounts()),
            counted="all" if probed else counted,
            channels=tuple(self._channels()),
            local=tuple(self._local()),
            probed=probed,
        )
        self.counted, self.registers = counted, replace(self.layout, counted=counted, probed=False).registers
        self.built: list[Built] = []
        self.probe: Signal | None = None
        self.unit: ProbeUnit | None = None
        if counted or probed:
            self.m = self.context.m.submodules.counters = Module()
            self.signals = signals_of(self.context, self.causes, self.m)  #: of the causes
            events = self._events() if self.layout.has_events else {}
            if counted:
                self._build(events)
            if probed:
                self._lead_out(events)

    def _loops(self):
        most, paths = together(self.context.plan), self._paths()
        inner = inner_loops(self.context)
        for loop, plan in self.context.plan.loops.items():
            floating, integer = count_operations(plan.place)
            yield LoopLayout(
                key=self.context.names.op(loop),
                label=loop.attrs.get(Attr.LABEL, ""),
                line=_line(loop),
                static_ii=plan.ii,
                interleaving=min(most[loop], plan.ii),
                name=self.names[place_of(loop)],
                floating=floating,
                integer=integer,
                path=paths[loop],
                once=plan.once and plan in inner,
                sole=inner == [plan],
            )

    def _paths(self) -> dict:
        """By loop, the labels of the loops around it and its own, outermost first."""
        around = self._around()

        def path(loop) -> str:
            label = loop.attrs.get(Attr.LABEL, "") or "loop"
            return f"{path(around[loop])}/{label}" if loop in around else label

        return {loop: path(loop) for loop in self.context.plan.loops}

    def _around(self) -> dict:
        """By operation at a boundary between levels, such as an inner loop, the loop around it."""
        loops = self.context.plan.loops.items()
        return {row.op: loop for loop, plan in loops for level in plan.levels for row in level.row}

    def _accesses(self):
        loops, reaching = self._innermost(), self.context.servers.reaching
        for op, access in self.context.memory.outside.items():
            memory = self.context.memories[access.location]
            yield AccessLayout(
                key=self.context.names.op(op),
                line=_line(op),
                buffer=access.memory,
                kind=access.direction,
                lsu=access.lsu,
                access_bytes=access.bytes,
                word_bytes=access.word_bytes,
                loop=loops.get(op),
                cached=access.unit.keeps_words,
                early=("vain", op) in self.seen,
                memory=memory.name,
                peak_bytes_per_ns=memory.shared_peak(1000 / self.clock_mhz) or 0.0,
                max_burst=max_burst(reaching[op].unit) if op in reaching else 0,
                wide=access.lanes > 0 and op in reaching,
            )

    def _local(self):
        loops = self._innermost()
        for op in self._inside():
            access = self.context.memory.accesses[op]
            yield LocalLayout(self.context.names.op(op), _line(op), access.memory, access.direction, loops.get(op))

    def _inside(self):
        """The accesses to memories inside the kernel."""
        memory = self.context.memory
        return [op for op, access in memory.accesses.items() if access.memory in memory.onchip]

    def _innermost(self):
        """By operation, the key of the innermost loop around it."""
        return {op: self.context.names.op(present(p.loop)) for p in self.context.plan.loops.values() for op in p.place}

    def _channels(self):
        calls = [*self.context.servers.channels.values(), *self.context.servers.at_once.values()]
        first = {call.end: call.op for call in reversed(calls)}
        for end in self.hardware.ends:
            plan = self.channels[end.channel, end.index].plan
            yield ChannelLayout(
                self.ends[end], plan.name, end.writes, plan.depth, _line(first[end]), bool(plan.carries)
            )

    def _accounts(self):
        for k, cause in enumerate(self.causes):
            yield Account(
                f"{k}_{cause.kind}", self._say(cause), _line(cause.op) if cause.op else None, self._category(cause)
            )
        yield Account(f"{len(self.causes)}_between", "latency between iterations", category="latency")
        yield Account(f"{len(self.causes) + 1}_drain", "drain", category="drain")

    def _category(self, cause) -> str:
        if cause.kind in _CATEGORY:
            return _CATEGORY[cause.kind]
        servers, op = self.context.servers, cause.op
        if op in servers.channels and self._carried(op) and not servers.channels[op].end.writes:
            return "memory"
        kinds = (("channel", servers.channels), ("barrier", servers.meets), ("memory order", servers.hazards))
        found = next((category for category, ops in kinds if op in ops), None)
        return found or ("inner loop" if op in self.context.plan.loops else "memory")

    def _say(self, cause) -> str:
        access = self.context.memory.accesses.get(cause.op)
        label = self.names.get(place_of(cause.op), "") if cause.op else ""
        waited = awaited_access(access.direction, access.memory) if access else f"loop {label}"
        if cause.op in self.context.servers.meets:
            waited = "the group's other work-items at the barrier"
        if cause.op in self.context.servers.fences:
            waited = f"stores to {', '.join(cause.op.attrs[Attr.MEMS])} to be in memory"
        if cause.op in self.context.servers.hazards:
            waited = awaited_stores(cause.op)
        if cause.op in self.context.plan.loops:
            waited = self._say_loop(cause.op, label)
        call = self.context.servers.channels.get(cause.op) if cause.op is not None else None
        if call:
            name = self.channels[call.end.channel, call.end.index].plan.name
            if carried := self._carried(cause.op):
                return f"waiting for {'room for ' * call.end.writes}{carried}"
            return f"waiting for channel {name} to have {'room' if call.end.writes else 'a value'}"
        return {
            "issued": "issued",
            "ramp": "ramp-up",
            "late": f"waiting for {waited}, answered later than its latency",
            "unacknowledged": unacknowledged(access.memory if access else ""),
            "wait": f"waiting for {waited}",
            "store": f"store to {access.memory if access else ''} not accepted",
            "port": f"waiting for the write port of {access.memory if access else ''}, which other stores share",
            "group": f"waiting for an earlier work-group to {_of_group(cause.op)}",
            "recurrence": recurrence(cause.op, label),
        }[cause.kind]

    def _carried(self, call: Op) -> str:
        """What a call passes to or from another part of the kernel; empty for a channel of the program."""
        end = self.context.servers.channels[call].end
        return str(self.channels[end.channel, end.index].plan.carries)

    def _say_loop(self, loop, label: str) -> str:
        """The message for an outer loop that waits for ``loop`` while nothing in ``loop`` waits: its last iterations
        drain."""
        around = self._around().get(loop)
        why = (
            f": loop {self.names[place_of(around)]}{NOT_PIPELINED}"
            if around and around.attrs.get(Attr.DISABLE_LOOP_PIPELINING)
            else ""
        )
        return f"the pipeline latency of loop {label}{why}"

    @cached_property
    def seen(self) -> dict[tuple[str, Op], Value]:
        """What is observed, by kind and operation. Only early loads with a check are observed to be in vain."""
        return {(o.kind, o.op): o.signal for o in self.context.observations.all}

    def _events(self) -> dict[str, Value]:
        """The strobe that each counter of events counts, by the counter's name."""
        seen = self.seen
        found: list = []
        for loop in self.context.plan.loops:
            found += [seen["issued", loop], seen["invocations", loop], *self._stretches(loop, seen)]
        for op, access in zip(self.context.memory.outside, self.layout.accesses, strict=True):
            found += [seen[kind, op] for kind in (_EARLY if ("vain", op) in seen else _ACCESS).values()]
            found += self._probed_of(op, access)
        for end, outer in self.hardware.ends.items():
            watch = self.channels[end.channel, end.index]
            found += [outer.valid & outer.ready, watch.read_stall, watch.write_stall]
        if self.layout.probed:
            booked = booked_for(self.context)
            for op in self._inside():
                port = booked.get(op)
                found += [seen["accepted", op], C(0) if port is None else seen.get(("port", port), C(0))]
        names = [counter.name for counter in self.layout.events]
        return dict(zip(names, found, strict=True))

    def _probed_of(self, op, access: AccessLayout) -> list[Value]:
        """The strobes of an access that only a probe shows, in the order of its counters."""
        kinds = {counter.kind for counter in access.counters(self.layout.probed)}
        strobes = {"unaligned": unaligned, "full": full_burst}
        return [strobe(self.context.servers.reaching[op].unit) for kind, strobe in strobes.items() if kind in kinds]

    def _build(self, events) -> None:
        levels = {self.ends[end]: self.channels[end.channel, end.index].level for end in self.hardware.ends}
        for counter in self.registers:
            if counter.name in events:
                self.built.append(Built(event=events[counter.name] & self.hardware.busy))
            elif counter.kind == "level":
                self.built.append(Built(value=levels[counter.owner]))
            elif counter.kind == "max_level":
                self._peak(levels[counter.owner])
        if any(counter.kind == "account" for counter in self.registers):
            self._build_accounts()

    def _lead_out(self, events) -> None:
        """Lead the observed signals out of the kernel, in the order that ``unit`` describes."""
        unit = self.unit = ProbeUnit(
            kernel=self.layout.kernel,
            events=tuple(events),
            causes=len(self.causes),
            issues=bool(self.causes) and self.causes[0].kind == "issued",
            autorun=self.hardware.autorun,
            links=tuple(self._links()),
            holds=tuple(self._holds(list(events))),
            channels=tuple(name for _, name in self.end_channels()),
        )
        probe = self.probe = Signal(unit.bits, name=SIGNAL.rpartition(".")[2])
        flags = Cat(self.hardware.busy, self.hardware.start)
        causes = Cat(self.signals)
        self.m.d.comb += probe.eq(Cat(_words(flags), _words(Cat(events.values())), _words(causes)))

    def end_channels(self) -> list[tuple[Endpoint, str]]:
        """Each channel end of the kernel, and the name of its channel in the probe."""
        return [(end, f"{end.channel}_{end.index}") for end in self.hardware.ends]

    def _links(self):
        """The accounts that are waits for the kernel at the other end of a channel."""
        for k, cause in enumerate(self.causes):
            call = self.context.servers.channels.get(cause.op) if cause.op is not None else None
            if call is not None:
                yield Link(k, f"{call.end.channel}_{call.end.index}", call.end.writes)

    def _holds(self, events: list[str]):
        """Where requests can be held up: the accesses, and the calls on channels that wait."""
        waits: dict = {}
        for k, cause in enumerate(self.causes):
            waits.setdefault(cause.op, []).append(k)
        loops = self._innermost()
        for op, access in zip(self.context.memory.outside, self.layout.accesses, strict=True):
            bit = events.index(f"{access.key}{HELD}")
            what, moves = f"{access.kind} of {access.buffer}", f"{access.key}_accepted"
            found = tuple(waits.get(op, ()))
            yield Hold(access.key, what, access.line, bit, loop=access.loop, waits=found, moves=moves)
        calls = [call.end for call in self.context.servers.channels.values()]
        for k, cause in enumerate(self.causes):
            call = self.context.servers.channels.get(cause.op) if cause.op is not None else None
            if call is not None:
                op, name = call.op, self.channels[call.end.channel, call.end.index].plan.name
                what = f"{'write to' if call.end.writes else 'read from'} channel {name}"
                if carried := self._carried(op):
                    what = f"{'room for ' * call.end.writes}{carried}"
                key, loop = self.context.names.op(op), loops.get(op)
                taken = f"{self.ends[call.end]}_moved" if calls.count(call.end) == 1 else None
                yield Hold(key, what, _line(op), k, is_cause=True, loop=loop, waits=tuple(waits[op]), moves=taken)

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
        part = self.m.submodules.accounts = CycleAccount(len(self.causes))
        self.m.d.comb += [
            part.running.eq(self.hardware.busy),
            part.clear.eq(self.hardware.start),
            part.causes.eq(Cat(self.signals)),
        ]
        self.built += [Built(event=event) for event in part.accounts]
        self.built.append(Built(value=self._drain(part.accounts[-1])))

    def _drain(self, rest) -> Value:
        """The cycles without a cause, of which ``rest`` tells, since the last issue."""
        drain, issued = Signal(DRAIN_BITS, name="drain"), Signal(name="issued_before")
        if self.causes[0].kind == "issued":
            self.m.d.sync += issued.eq(self.signals[0])  # as late as the account of the cycle
        with self.m.If(self.hardware.start | issued):
            self.m.d.sync += drain.eq(0)
        with self.m.Elif(rest & ~drain[-1]):
            self.m.d.sync += drain.eq(drain + 1)
        return drain

    def _peak(self, level) -> None:
        peak = PeakCounter(max(1, len(level)))
        self.m.submodules[f"peak{len(self.built)}"] = peak
        counts = self.hardware.busy | self.hardware.start
        self.m.d.comb += [peak.number.eq(Mux(counts, level, 0)), peak.clear.eq(self.hardware.start)]
        self.built.append(Built(value=peak.value))


class UnitCounters:
    """The counters of all compute units of a kernel, concatenated."""

    def __init__(self, units: list[KernelCounters]) -> None:
        self.layout = replace(units[0].layout, units=len(units))
        self.registers = replace(self.layout, counted=units[0].counted, probed=False).registers
        self.built = [one for unit in units for one in unit.built]


def _of_group(op) -> str:
    """The phrase for what a group does before it releases its resources to the next group."""
    names = op.attrs.get(Attr.MEMS, ()) if op and not op.attrs.get(Attr.CALLS) else ()
    return f"leave its copy of {', '.join(names)}" if names else "be done with its calls on channels"


def _line(op):
    return op.span.line if op.span else None


def _end_name(end) -> str:
    return f"{'write' if end.writes else 'read'}_of_{end.channel}_{end.index}"


def _words(value: Value) -> Value:
    """The value, extended with zeros to whole words of the probe."""
    return Cat(value, C(0, words(len(value)) * WORD - len(value)))

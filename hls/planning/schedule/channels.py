"""Depths of channels on paths between kernels that fork and reconverge.

Where one path takes longer than another to the kernel where they reconverge, the values of the shorter path wait in its
channel. If the channel is not deep enough, it stalls its producer, and with it the longer path.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rtl_lib.channel import ChannelReader

from ...analysis.channels.endpoints import Endpoint, end_of, is_call
from ...ir import Attr, Op
from ...ir.rewrite import constant
from ..memory import ChannelPlan
from .levels import is_exceptional
from .plan import KernelPlan, RegionPlan, Row
from .queues import CALL_LATENCY, HAZARD_LATENCY

__all__ = ["ASKED", "TO_CHANNEL", "Way", "balance_channels", "ways"]

#: channels are not made deeper than this to balance paths
MOST = 2048
#: stages from the request to the channel: the request queue and the channel's end
TO_CHANNEL = 2
#: a cycle so late that everything which does not depend on a value is done
LATE = 1 << 20
#: cycles of a call's latency that a read has already spent when the value it waits for arrives
ASKED = CALL_LATENCY - ChannelReader.timing.latency

Place = tuple[str, int]


def balance_channels(
    channels: Sequence[ChannelPlan], kernels: Iterable[KernelPlan], memory_latency: int
) -> tuple[ChannelPlan, ...]:
    """The channels, made deep enough that values on reconvergent paths do not stall each other.

    One value is followed through the kernels, by the calls that execute exactly once in every iteration of a loop.
    Other channels, and those of kernels that form a cycle, keep their depth. ``memory_latency`` is that of a typical
    load, in cycles.
    """
    needs = _Network(channels, [node for kernel in kernels for node in _steady(kernel, memory_latency)]).needs()
    return tuple(_deepened(channel, needs.get((channel.channel, channel.index), 0)) for channel in channels)


def _deepened(channel: ChannelPlan, need: int) -> ChannelPlan:
    if need <= channel.depth:
        return channel
    reason = f"instruction scheduling requirements: its values are there up to {need} iterations before those they meet"
    return channel.deepened(min(need, MOST), reason)


@dataclass(frozen=True)
class Way:
    """The path of a value from one channel to another: ``cycles`` after it was read from ``source``, the value, or what
    is computed from it, is in ``target``, if nothing stalls."""

    source: Endpoint
    target: Endpoint
    cycles: int


def ways(kernel: KernelPlan, memory_latency: int) -> tuple[Way, ...]:
    """How long values take through the loops of a kernel, for calls that execute once in every iteration. Counts from
    the cycle in which a value can be read to the one in which its result can be read by the next kernel, without the
    storage of that channel."""
    return tuple(way for steady in _steady(kernel, memory_latency) for way in _ways(steady))


def _ways(steady: "_Steady") -> Iterator[Way]:
    calls = steady.calls
    for _, _, source in calls:
        times = (
            []
            if source.writes
            else steady.times({_place(end): 0 for _, _, end in calls if not end.writes} | {_place(source): LATE})
        )
        for level, row, target in calls:
            if times and target.writes and times[level] > LATE:
                yield Way(source, target, times[level] + row.push + TO_CHANNEL - LATE - ASKED)


@dataclass(frozen=True, eq=False)
class _Steady:
    """A loop with channel calls: ``plan`` is its plan, ``latency`` that of its responding operations other than channel
    calls."""

    plan: RegionPlan
    latency: Mapping[Op, int]

    @cached_property
    def calls(self) -> list[tuple[int, Row, Endpoint]]:
        """(level, row, end) of every call that executes once in every iteration."""
        return [
            (level.index, row, end_of(row.op))
            for level in self.plan.levels
            for row in level.row
            if is_call(row.op) and _every_time(row.op)
        ]

    def times(self, arrival: Mapping[Place, int]) -> list[int]:
        """The cycle in which the iteration that takes the values of these arrivals enters each level, if it issues at
        0."""
        times = [0]
        for level in self.plan.levels:
            ends = [times[-1] + level.depth + 1]
            ends += [self._answered(row, times[-1] + row.push + 1, arrival) for row in level.row if row.joins]
            times.append(max(ends))
        return times

    def _answered(self, row: Row, asked: int, arrival: Mapping[Place, int]) -> int:
        if not is_call(row.op):
            return asked + self.latency[row.op]
        end = end_of(row.op)
        known = _every_time(row.op) and not end.writes
        return CALL_LATENCY + (max(asked, arrival[_place(end)]) if known else asked)


def _steady(kernel: KernelPlan, memory_latency: int) -> list[_Steady]:
    """The loops through which a value can be followed: the one that holds all calls, or those that contain no other
    loop. Where inner loops have calls, too, an iteration of the outer loop lasts as long as they run, which is not
    known here."""
    regions = [plan for plan in (kernel.top, *kernel.loops.values()) if any(is_call(op) for op in plan.place)]
    if any(op.opcode == "meet" for region in (kernel.top, *kernel.loops.values()) for op in region.place):
        return []  # work-items wait for each other, up to as many as their group has
    found = [
        plan
        for plan in regions
        if plan.loop is not None and (len(regions) == 1 or not any(op.opcode == "loop" for op in plan.place))
    ]
    return [
        _Steady(
            plan,
            {
                row.op: _latency(row.op, kernel, memory_latency)
                for level in plan.levels
                for row in level.row
                if row.joins and not is_call(row.op)
            },
        )
        for plan in found
    ]


def _every_time(call: Op) -> bool:
    """Whether exactly this call transfers a value in each iteration."""
    return Attr.TURN not in call.attrs and call.attrs[Attr.BLOCKING] and bool(constant(call.operands[1]))


def _latency(op: Op, kernel: KernelPlan, memory_latency: int) -> int:
    if is_exceptional(op):
        return 0
    if op.opcode == "hazard":
        return HAZARD_LATENCY
    if op.opcode == "rtl_wait":
        return int(op.attrs[Attr.RTL_LATENCY])
    return kernel.loops[op].latency if op.opcode == "loop" else memory_latency


class _Network:
    """Follows one value; ``arrival`` is when it enters each channel, ``meets`` when the iteration that takes it goes
    on."""

    def __init__(self, channels: Sequence[ChannelPlan], loops: Sequence[_Steady]) -> None:
        self.loops = loops
        self.at = {end: loop for loop in loops for _, _, end in loop.calls}
        self.places = {
            (c.channel, c.index)
            for c in channels
            if all(Endpoint(c.channel, c.index, writes) in self.at for writes in (True, False))
        }
        self.arrival: dict[Place, int] = {}
        self.meets: dict[Place, int] = {}

    def needs(self) -> dict[Place, int]:
        """The number of values that wait in each channel."""
        waiting = list(self.loops)
        while ready := [
            loop for loop in waiting if all(place in self.arrival for place in self._followed(loop, False))
        ]:
            for loop in ready:
                self._follow(loop)
            waiting = [loop for loop in waiting if loop not in ready]
        slack = {place: self.meets[place] - CALL_LATENCY - self.arrival[place] for place in self.meets}
        for loop in self.loops:
            self._start_late(loop, slack)
        return {place: -(-cycles // self._interval(place)) + 1 for place, cycles in slack.items() if cycles > 0}

    def _followed(self, loop: _Steady, writes: bool) -> list[Place]:
        """The channels that a loop writes or reads, as far as their other end can be followed, too."""
        return [_place(end) for _, _, end in loop.calls if end.writes == writes and _place(end) in self.places]

    def _follow(self, loop: _Steady) -> None:
        times = loop.times({_place(end): self.arrival.get(_place(end), 0) for _, _, end in loop.calls})
        for level, row, end in loop.calls:
            if _place(end) in self.places and end.writes:
                self.arrival[_place(end)] = times[level] + row.push + TO_CHANNEL
            elif _place(end) in self.places:
                self.meets[_place(end)] = times[level + 1]

    def _start_late(self, loop: _Steady, slack: dict[Place, int]) -> None:
        """Delay a loop that reads no channel: it need not begin before its first value is needed."""
        places = [place for place in self._followed(loop, True) if place in slack]
        if places and not self._followed(loop, False):
            spare = min(slack[place] for place in places)
            slack.update({place: slack[place] - spare for place in places})

    def _interval(self, place: Place) -> int:
        return max(self.at[Endpoint(*place, writes)].plan.ii for writes in (True, False))


def _place(end: Endpoint) -> Place:
    return end.channel, end.index

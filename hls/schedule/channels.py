"""Depths of channels for paths between kernels that part and meet again.

Where one path of values takes longer than another to the place where they meet, the values of the shorter one wait in its
channel; if that is not deep enough, they hold up who writes it, and with it the longer path.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtl_lib.channel import ChannelReader

from ..analysis.channels import End, end_of, is_call
from ..ir import Op
from ..ir.rewrite import constant
from ..memory import ChannelPlan
from .levels import is_exceptional
from .plan import KernelPlan, RegionPlan, Row
from .queues import CALL_LATENCY, HAZARD_LATENCY

__all__ = ["Way", "balance_channels", "ways"]

#: no channel is made deeper than this for the sake of balance
MOST = 2048
#: from the request's stage to the channel: the request queue and the channel's end
TO_CHANNEL = 2
#: a cycle far behind any start, when everything that does not depend on a value is done
LATE = 1 << 20
#: of a call's latency, what a read that waits for its value has behind it
ASKED = CALL_LATENCY - ChannelReader.timing.latency

Place = tuple[str, int]


def balance_channels(channels: Sequence[ChannelPlan], kernels: Iterable[KernelPlan], memory_latency: int) -> tuple[ChannelPlan, ...]:
    """The channels, deep enough that values which part and meet again do not hold each other up.

    One value is followed through all kernels whose calls are in one loop, by the calls that happen once in every iteration; other channels,
    and those of kernels that form a circle, keep their depth. ``memory_latency``: of a typical load, in cycles.
    """
    steady = {kernel.name: found for kernel in kernels if (found := _steady(kernel, memory_latency)) is not None}
    ends = {name: {end for _, _, end in kernel.calls()} for name, kernel in steady.items()}
    followed = [c for c in channels if all(End(c.channel, c.index, writes) in ends.get(name, ())
                                           for name, writes in ((c.writer, True), (c.reader, False)))]
    needs = _Network(followed, steady).needs()
    return tuple(_deepened(channel, needs.get((channel.channel, channel.index), 0)) for channel in channels)


def _deepened(channel: ChannelPlan, need: int) -> ChannelPlan:
    if need <= channel.depth:
        return channel
    reason = f"instruction scheduling requirements: its values are there up to {need} iterations before those they meet"
    return channel.deepened(min(need, MOST), reason)


@dataclass(frozen=True)
class Way:
    """A value taken from the channel ``source`` is in ``target``, or what is made of it, ``cycles`` later, if nobody waits."""

    source: End
    target: End
    cycles: int


def ways(kernel: KernelPlan, memory_latency: int) -> tuple[Way, ...]:
    """How long values take through a kernel whose calls are in one loop, by those that happen once in every iteration: from the cycle in which
    one is there to be read, to the one in which what depends on it is there for the next kernel, but for the storage of that channel."""
    steady = _steady(kernel, memory_latency)
    if steady is None:
        return ()
    calls, found = steady.calls(), []
    for _, _, source in calls:
        times = [] if source.writes else steady.times({(end.channel, end.index): 0 for _, _, end in calls if not end.writes}
                                                       | {(source.channel, source.index): LATE})
        found += [Way(source, target, times[level] + row.push + TO_CHANNEL - LATE - ASKED) for level, row, target in calls
                  if times and target.writes and times[level] > LATE]
    return tuple(found)


@dataclass(frozen=True)
class _Steady:
    """A kernel whose calls are all in one loop: ``plan`` is the loop's, ``latency`` that of its operations that answer, but for calls."""

    plan: RegionPlan
    latency: Mapping[Op, int]

    def calls(self) -> list[tuple[int, Row, End]]:
        """(level, row, end) of every call that happens once in every iteration."""
        return [(level.index, row, end_of(row.op)) for level in self.plan.levels for row in level.row if is_call(row.op) and _every_time(row.op)]

    def times(self, arrival: Mapping[Place, int]) -> list[int]:
        """When the iteration that takes the values of these arrivals enters each level, if it issues at 0."""
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
        return CALL_LATENCY + (max(asked, arrival[end.channel, end.index]) if known else asked)


def _steady(kernel: KernelPlan, memory_latency: int) -> _Steady | None:
    regions = [plan for plan in (kernel.top, *kernel.loops.values()) if any(is_call(op) for op in plan.place)]
    if len(regions) != 1 or regions[0].loop is None:
        return None
    if any(op.opcode == "meet" for region in (kernel.top, *kernel.loops.values()) for op in region.place):
        return None  # work-items wait for each other, by as many as their group has
    (plan,) = regions
    rows = [row.op for level in plan.levels for row in level.row if row.joins and not is_call(row.op)]
    return _Steady(plan, {op: _latency(op, kernel, memory_latency) for op in rows})


def _every_time(call: Op) -> bool:
    """Whether a value passes in each iteration by this call, and by no other."""
    return "turn" not in call.attrs and call.attrs["blocking"] and constant(call.operands[1])


def _latency(op: Op, kernel: KernelPlan, memory_latency: int) -> int:
    if is_exceptional(op):
        return 0
    if op.opcode == "hazard":
        return HAZARD_LATENCY
    return kernel.loops[op].latency if op.opcode == "loop" else memory_latency


class _Network:
    """Follows one value; ``arrival`` is when it comes into each channel, ``meets`` when the iteration that takes it goes on."""

    def __init__(self, channels: Sequence[ChannelPlan], kernels: Mapping[str, _Steady]):
        self.channels = {(c.channel, c.index): c for c in channels}
        self.kernels = kernels
        self.arrival: dict[Place, int] = {}
        self.meets: dict[Place, int] = {}

    def needs(self) -> dict[Place, int]:
        """The values that wait in each channel."""
        waiting = dict(self.kernels)
        while ready := [name for name in waiting if all(place in self.arrival for place in self._places(name, False))]:
            for name in ready:
                self._follow(name, waiting.pop(name))
        slack = {place: self.meets[place] - CALL_LATENCY - self.arrival[place] for place in self.meets}
        for name in self.kernels:
            self._start_late(name, slack)
        return {place: -(-cycles // self._interval(place)) + 1 for place, cycles in slack.items() if cycles > 0}

    def _places(self, name: str, writes: bool) -> list[Place]:
        """The channels that a kernel writes or reads, as far as they are known to be steady at both sides."""
        return [place for place, c in self.channels.items() if (c.writer if writes else c.reader) == name]

    def _follow(self, name: str, kernel: _Steady):
        known = {(end.channel, end.index): self.arrival.get((end.channel, end.index), 0) for _, _, end in kernel.calls()}
        times = kernel.times(known)
        for level, row, end in kernel.calls():
            place = end.channel, end.index
            if place in self.channels and end.writes:
                self.arrival[place] = times[level] + row.push + TO_CHANNEL
            elif place in self.channels:
                self.meets[place] = times[level + 1]

    def _start_late(self, name: str, slack: dict[Place, int]):
        """A kernel that reads no channel may as well begin when its first value is wanted."""
        places = [place for place in self._places(name, True) if place in slack]
        if places and not self._places(name, False):
            spare = min(slack[place] for place in places)
            slack.update({place: slack[place] - spare for place in places})

    def _interval(self, place: Place) -> int:
        channel = self.channels[place]
        return max(self.kernels[name].plan.ii for name in (channel.writer, channel.reader))

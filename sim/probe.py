"""Reads the counts of a design's probe: the simulator counts them, and no register of the design is used."""

import tempfile
from collections.abc import Mapping

import numpy as np

from hls.profile.depths import ChannelReplay, Replayed
from hls.profile.layout import CYCLES, Layout
from hls.profile.probe import START, WORD, ProbeMap, ProbeUnit
from hls.profile.waits import Blamed, Held, Samples, UnitWaits

from .session import Session

__all__ = ["Probe"]

#: how the simulator writes what a chain of waits ends in, if not in the account of a unit
IDLE, STREAM, CIRCLE = -1, -2, -3
ENDS = {IDLE: "idle", STREAM: "stream", CIRCLE: "circle"}


class Probe:
    """The probe of a simulator that has just started, of kernels with these ``layouts``. With ``intervals`` it keeps
    samples: at most so many of each unit's run, and replays channels; 0 for neither."""

    def __init__(self, session: Session, map: ProbeMap, layouts: Mapping[str, Layout], intervals: int = 0) -> None:
        self.session, self.map = session, map
        self._replayed: list[str] = []  #: names of the channels that are replayed
        lines: list[str] = []
        for number, unit in enumerate(map.units):
            lines += self._unit(number, unit)
            if intervals:
                lines.append(f"sample {number} {intervals}")
        for channel in map.channels if intervals else ():
            if command := self._replay(channel, layouts):
                lines.append(command)
        session.extend_probe(lines)

    def _unit(self, number: int, unit: ProbeUnit) -> list[str]:
        at = self.map.start(number)
        found = [f"unit {at} {len(unit.events)} {unit.causes} {int(unit.issues)} {int(unit.autorun)}"]
        found += [f"hold {number} {at + unit.hold_bit(hold)}" for hold in unit.holds]
        found += [f"level {number} {self.map.level(channel) // WORD}" for channel in unit.channels]
        for link in unit.links:
            writer, reader = self.map.ends[self.map.channels.index(link.channel)]
            other = reader if link.writes else writer
            found.append(f"link {number} {link.account} {STREAM if other < 0 else other}")
        return found

    def _replay(self, channel: str, layouts: Mapping[str, Layout]) -> str | None:
        """The command that replays a channel; None where an end is no kernel, or has only calls that never wait: what
        such a kernel does depends on the depth."""
        words: list[int] = []
        for number, writes in zip(self.map.ends[self.map.channels.index(channel)], (True, False)):
            unit = self.map.units[number]
            if number < 0 or not any(one.channel == channel and one.writes == writes for one in unit.links):
                return None
            ends = zip(unit.channels, layouts[unit.kernel].channels)
            (end,) = (end for name, end in ends if name == channel and end.writes == writes)
            first, stall = self.map.start(number), "write_stall" if writes else "read_stall"
            words += [first + unit.event_bit(f"{end.key}_{kind}") for kind in ("moved", stall)]
            words.append(first + START)
        self._replayed.append(end.name)
        return f"replay {' '.join(map(str, words))} {end.depth}"

    def replays(self) -> list[ChannelReplay]:
        """What other depths of each channel between two kernels would have meant, since the design's reset."""
        return [self._replay_of(number, name) for number, name in enumerate(self._replayed)]

    def _replay_of(self, number: int, name: str) -> ChannelReplay:
        values, *options = self.session.depths(number)
        actual, *others = (Replayed(*map(int, text.split(":"))) for text in options)
        return ChannelReplay(name, int(values), actual, others)

    def counters(self, layout: Layout) -> dict[str, int]:
        """Every counter of a kernel by its name, and the cycles under ``CYCLES``: those of its last run so far; of an
        autorun kernel since the design's reset."""
        found: dict[str, int] = {}
        for number in self.map.of_kernel(layout.kernel):
            unit = self.map.units[number]
            cycles, *counts = self.session.counts(number)
            events, accounts = counts[: len(unit.events)], counts[len(unit.events) :][: len(layout.accounts)]
            levels = counts[len(unit.events) + len(accounts) :]
            values = dict(zip(unit.events, events, strict=True))
            for k, channel in enumerate(layout.channels):
                values |= {f"{channel.key}_level": levels[3 * k], f"{channel.key}_max_level": levels[3 * k + 1]}
            names = (counter.name for account in layout.accounts for counter in account.counters())
            values |= dict(zip(names, accounts, strict=True))
            place = number - self.map.of_kernel(layout.kernel)[0]
            found |= {layout.unit_name(place, c): values[c.name] for c in layout.of_unit} | {CYCLES: cycles}
        for part in layout.parts:
            found |= layout.of_whole(part, self.counters(part))
        return found

    def since(self, layout: Layout) -> int:
        """The cycle of a waveform from which on the accounts of all units and parts of a kernel have been the same:
        values of a cycle are in the waveform from the clock edge on that begins it, and are sampled at the one that
        ends it."""
        numbers = [number for one in (layout, *layout.parts) for number in self.map.of_kernel(one.kernel)]
        return max(0, max(map(self.session.since, numbers)) - 1)

    def level_sums(self, layout: Layout) -> dict[str, int]:
        """For each channel end of a kernel, by its key, the sum over the cycles of the values in the channel."""
        if not layout.channels:
            return {}
        number = self.map.of_kernel(layout.kernel)[0]  # all compute units are busy in the same cycles
        levels = self.session.counts(number)[-3 * len(layout.channels) :]
        return {channel.key: levels[3 * k + 2] for k, channel in enumerate(layout.channels)}

    def waits(self, layout: Layout) -> tuple[UnitWaits, ...]:
        """For each compute unit of a kernel, what held up what, and which kernel is to blame."""
        return tuple(self._waits(number) for number in self.map.of_kernel(layout.kernel))

    def _waits(self, number: int) -> UnitWaits:
        held = tuple(Held(*map(int, text.split(":"))) for text in self.session.held(number))
        return UnitWaits(held, tuple(self._blamed(text) for text in self.session.blame(number)))

    def _blamed(self, text: str) -> Blamed:
        account, last, cycles, path = text.split(":")
        kernels = tuple(self.map.units[k].kernel for k in map(int, path.split(",")) if k >= 0)
        return Blamed(int(account), kernels, ENDS.get(int(last), "account"), max(0, int(last)), int(cycles))

    def samples(self, layout: Layout) -> tuple[Samples, ...]:
        """For each compute unit of a kernel, the counts of each interval of its run."""
        return tuple(self._samples(number, layout) for number in self.map.of_kernel(layout.kernel))

    def _samples(self, number: int, layout: Layout) -> Samples:
        unit = self.map.units[number]
        with tempfile.NamedTemporaryFile(prefix="sluice-samples-") as file:
            first, length, last, columns = self.session.samples(number, file.name)
            rows = np.fromfile(file.name, "<u4").reshape(-1, columns)
        events, causes = len(unit.events), unit.causes + 1
        levels = len(unit.channels)
        named = {name: rows[:, k] for k, name in enumerate(unit.events)}
        accounts = [rows[:, events + k] for k in range(causes)]
        sums = {c.key: rows[:, events + causes + k] for k, c in enumerate(layout.channels)}
        highs = {c.key: rows[:, events + causes + levels + k] for k, c in enumerate(layout.channels)}
        lows = {c.key: rows[:, events + causes + 2 * levels + k] for k, c in enumerate(layout.channels)}
        return Samples(first, length, last, named, accounts, sums, highs, lows)

"""Whether running kernels make progress, and if not, what each waits for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hls.narrow import present
from hls.profile.layout import CYCLES, Access, Channel, Layout, Loop
from hls.profile.text import at_line
from hls.rtl.interface import KernelInterface, SystemInterface
from rtl_lib.axi import register_map as at

from .probe import Probe
from .session import Session

__all__ = ["PATIENCE", "Progress", "read_counters"]

#: Cycles between two checks of running kernels: one of them must have issued something or moved a value in between.
PATIENCE = 2_000_000
#: The same if an idle memory proves that no kernel waits for it; longer than any pipeline.
SHORT_PATIENCE = 10_000


class Progress:
    """Compares the counters of ``kernels``, which run at the same time, from check to check; ``system`` describes all
    kernels. ``waveform`` is the file that is being recorded."""

    def __init__(
        self,
        session: Session,
        kernels: Sequence[KernelInterface],
        system: SystemInterface,
        probe: Probe | None = None,
        waveform: Path | None = None,
    ) -> None:
        self.session, self.kernels, self.system, self.probe = session, kernels, system, probe
        self.waveform = waveform
        self._joined = any(kernel.layout.channels for kernel in kernels)
        self._seen: list[dict[str, int]] | None = None

    @property
    def patience(self) -> int:
        """Cycles until the next check."""
        return SHORT_PATIENCE if self._joined else PATIENCE

    def look(self) -> str:
        """Why no kernel will ever make progress; empty while one does, or memory is still at work."""
        before, now = self._seen, [self._counters(kernel) for kernel in self.kernels]
        self._seen = now
        if before is None or (self._joined and not self.session.quiet()):
            return ""
        moved = [
            name
            for kernel, old, new in zip(self.kernels, before, now)
            for name in _moving(kernel)
            if old[name] != new[name]
        ]
        if moved or not any(map(_moving, self.kernels)):
            return ""
        return self._explain(before, now)

    def _counters(self, kernel: KernelInterface) -> dict[str, int]:
        return kernel.layout.sums(read_counters(self.session, kernel, self.probe))

    def _explain(self, before: Sequence[dict[str, int]], now: Sequence[dict[str, int]]) -> str:
        events = (
            "no loop issued and no memory access was accepted"
            if not self._joined
            else "no loop issued, no memory access was accepted and no channel passed a value"
        )
        kernels = list(zip(self.kernels, before, now))
        if not self._joined:
            stopped = [
                f"kernel {one.name} has stopped: for {self.patience:,} cycles {events}{_wait(one.layout, old, new)}"
                for one, old, new in kernels
            ]
            return "\n".join([*stopped, *self._look_at()])
        lines = [f"the kernels wait for each other: for {self.patience:,} cycles {events}"]
        lines += [
            f"  kernel {kernel.name} has not ended{_wait(kernel.layout, old, new)}" for kernel, old, new in kernels
        ]
        lines += [f"  its part {part.kernel}{_wait(part, *both)}" for part, *both in self._parts(kernels)]
        lines += dict.fromkeys(
            self._state(channel, kernel, new) for kernel, _, new in kernels for channel in kernel.layout.channels
        )
        lines += self._look_at()
        return "\n".join(
            [*lines, "  start the kernels that are missing, give a channel more depth, or change the order of calls"]
        )

    @staticmethod
    def _parts(
        kernels: Iterable[tuple[KernelInterface, dict[str, int], dict[str, int]]],
    ) -> Iterator[tuple[Layout, dict[str, int], dict[str, int]]]:
        """The other parts of split kernels, and their counters before and now."""
        for kernel, old, new in kernels:
            for part in kernel.layout.parts:
                yield part, kernel.layout.of_part(part, old), kernel.layout.of_part(part, new)

    def _look_at(self) -> list[str]:
        """The cycle from which on nothing has changed, where a probe tells it, and the waveform that shows it."""
        if self.probe is None:
            return []
        cycle = max(self.probe.since(kernel.layout) for kernel in self.kernels)
        where = self.waveform or "the waveform that `sluice run --trace FILE.fst` records"
        return [f"  nothing has changed since cycle {cycle:,}: look there in {where}"]

    def _state(self, channel: Channel, kernel: KernelInterface, counters: Mapping[str, int]) -> str:
        """The contents of a channel, and the state of the kernels at its ends."""
        level = next((counters[c.name] for c in channel.counters() if c.kind == "level" and c.name in counters), None)
        held = f"holds {level} of {channel.depth} values" if level is not None else f"is {channel.depth} values deep"
        sides = [
            (other, end)
            for other in self.system.kernels
            for one in (other.layout, *other.layout.parts)
            for end in one.channels
            if end.name == channel.name
        ]
        text = [
            f"kernel {other.name}{at_line(end.line)} {'writes' if end.writes else 'reads'} it"
            f"{'' if other in self.kernels else ', which does not run'}"
            for other, end in sorted(sides, key=lambda s: not s[1].writes)
        ]
        text += [
            f"stream {one.name} of the board {'writes' if one.direction == 'in' else 'reads'} it"
            for one in self.system.streams
            if one.channel == channel.name
        ]
        return f"  channel {channel.name} {held}; {', '.join(text)}"


def read_counters(session: Session, kernel: KernelInterface, probe: Probe | None = None) -> dict[str, int]:
    """Every counter: from the probe, if the design has one, else from the registers. Low words are read before high
    ones: reading a low word latches the high one."""
    if probe is not None:
        return probe.counters(kernel.layout)
    places = {CYCLES: at.CYCLES} | {counter.name: counter.offset for counter in kernel.counters}
    words = session.read([kernel.base + offset + half for offset in places.values() for half in (0, 4)])
    return kernel.layout.of_registers(
        {name: low | high << 32 for name, low, high in zip(places, words[::2], words[1::2], strict=True)}
    )


def _moving(kernel: KernelInterface) -> list[str]:
    """The counters that stand still only if the kernel does."""
    layout = kernel.layout
    parts = (layout.of_whole(part, dict.fromkeys(_moving_of(part), 0)) for part in layout.parts)
    return [*_moving_of(layout), *(name for names in parts for name in names)]


def _moving_of(layout: Layout) -> list[str]:
    present = {counter.name for counter in layout.of_unit}
    owners: list[Loop | Access | Channel] = [*layout.loops, *layout.accesses, *layout.channels]
    moving = [
        counter.name
        for owner in owners
        for counter in owner.counters()
        if counter.kind in ("issued", "accepted", "words", "moved")
    ]
    return [name for name in moving if name in present]


def _wait(layout: Layout, before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """What the cycles since the last check were spent on, as the end of a sentence."""
    accounts = [
        (now[counter.name] - before[counter.name], account)
        for account in layout.accounts
        for counter in account.counters()
        if counter.name in now
    ]
    cycles, account = max(accounts, key=lambda pair: pair[0], default=(0, None))
    return f": it is {present(account).cause}{at_line(present(account).line)}" if cycles else ""

"""A profile as Chrome trace events, which ui.perfetto.dev and speedscope open: one process for the host, one for each
kernel, in it a track for its launches and one for each loop, access or channel end that it waits for; slices for
commands, launches and stalls, counters from the samples, flows from who is waited for to who waits.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from . import model
from .text import at_line

__all__ = ["MOST_EVENTS", "write_trace"]

#: events at most; the shortest slices are left out first
MOST_EVENTS = 200_000
HOST = 0
#: an event, or its arguments, as JSON
Event = dict[str, object]


@dataclass(frozen=True)
class _Slice:
    """A slice on a track, in ns."""

    process: int
    thread: int
    name: str
    start: float
    duration: float
    args: Mapping[str, object]

    def event(self) -> Event:
        times = {"ts": round(self.start / 1000, 6), "dur": round(self.duration / 1000, 6)}
        return {"name": self.name, "ph": "X", "pid": self.process, "tid": self.thread, **times, "args": self.args}


@dataclass
class _Tracks:
    """The tracks of kernels below their launches, which are track 0, by process and name, in the order of first use."""

    numbers: dict[tuple[int, str], int] = field(default_factory=dict)

    def number(self, process: int, name: str) -> int:
        """The number of a track."""
        used = sum(one == process for one, _ in self.numbers)
        return self.numbers.setdefault((process, name), used + 1)


@dataclass
class _Stretch:
    """Cycles of one account without a gap, in cycles of the launch."""

    id: str
    begin: int
    cycles: int

    @property
    def end(self) -> int:
        return self.begin + self.cycles


def write_trace(profile: model.Profile, out: TextIO, min_stall: int = 16, most: int = MOST_EVENTS) -> int:
    """Write the events; stalls of fewer than ``min_stall`` cycles are left out. Returns how many slices and counters
    were left out because there would be more than ``most`` events."""
    names = {kernel.name: k for k, kernel in enumerate(profile.kernels, 1)}
    counters = [event for launch in profile.launches for event in _counters(launch, names[launch.kernel])]
    tracks = _Tracks()
    slices = [*_commands(profile), *_launches(profile, names, tracks), *_stalls(profile, names, tracks, min_stall)]
    flows = _flows(profile, names)
    heads = list(_heads(profile, names, tracks))
    room = max(0, most - len(heads) - len(flows))
    kept = sorted(slices, key=lambda one: -one.duration)[:room]
    shown = counters[: max(0, room - len(kept))]
    kept.sort(key=lambda one: (one.process, one.thread, one.start, -one.duration))
    out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
    out.writelines(
        ("," if k else "") + json.dumps(event) + "\n"
        for k, event in enumerate([*heads, *(one.event() for one in kept), *flows, *shown])
    )
    out.write("]}\n")
    return len(slices) - len(kept) + len(counters) - len(shown)


def _heads(profile: model.Profile, names: dict[str, int], tracks: _Tracks) -> Iterator[Event]:
    """The names of processes and tracks."""
    yield {"name": "process_name", "ph": "M", "pid": HOST, "tid": 0, "args": {"name": "host"}}
    for queue in sorted({one.queue for one in profile.commands if one.queue is not None}):
        yield {"name": "thread_name", "ph": "M", "pid": HOST, "tid": queue, "args": {"name": f"queue {queue}"}}
    if any(map(_is_create, profile.commands)):
        tid = _create_track(profile)
        yield {"name": "thread_name", "ph": "M", "pid": HOST, "tid": tid, "args": {"name": "buffers"}}
    for name, process in names.items():
        yield {"name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": f"kernel {name}"}}
        yield {"name": "thread_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": "launches"}}
    for (process, name), tid in tracks.numbers.items():
        yield {"name": "thread_name", "ph": "M", "pid": process, "tid": tid, "args": {"name": name}}


def _commands(profile: model.Profile) -> Iterator[_Slice]:
    for one in profile.commands:
        if one.queue is not None:
            args = {"bytes": one.bytes, "queued_ns": one.queued_ns}
            name = f"{one.kind} {one.name}".strip()
            yield _Slice(HOST, one.queue, name, one.start_ns, one.end_ns - one.start_ns, args)
        elif _is_create(one):
            args = {"bytes": one.bytes}
            yield _Slice(HOST, _create_track(profile), one.kind, one.start_ns, one.end_ns - one.start_ns, args)


def _is_create(command: model.Command) -> bool:
    return command.kind == "create"


def _create_track(profile: model.Profile) -> int:
    """The track of transfers of the host that are on no queue: behind those of the queues."""
    return 1 + max((one.queue for one in profile.commands if one.queue is not None), default=-1)


def _launches(profile: model.Profile, names: dict[str, int], tracks: _Tracks) -> Iterator[_Slice]:
    """A slice for each launch and each capture. Captures of launches that overlap do so too: on tracks of their own, as
    the slices of a track may contain each other, but not overlap."""
    ends: dict[int, list[float]] = {}  # of each kernel, when the last slice of each of these tracks ends
    for one in sorted(profile.launches, key=lambda one: one.start_ns):
        process = names[one.kernel]
        lanes = ends.setdefault(process, [])
        lane = next((k for k, end in enumerate(lanes) if end <= one.start_ns), len(lanes))
        lanes[lane:] = [one.end_ns, *lanes[lane + 1 :]]
        args = {"cycles": one.cycles} | ({"launch": one.number} if one.of is None else {"during launch": one.of})
        track = tracks.number(process, f"launches {lane + 1}") if lane else 0
        yield _Slice(process, track, one.kernel, one.start_ns, one.end_ns - one.start_ns, args)


def _stalls(profile: model.Profile, names: dict[str, int], tracks: _Tracks, min_stall: int) -> Iterator[_Slice]:
    """The accounts of a launch as slices: each interval of the samples is divided among its accounts, in the order of
    the layout, and equal neighbours are joined. So the slices of a name sum to its account, those left out apart; where
    a slice lies within its interval is not measured. A track has what waits for one thing."""
    for launch in profile.launches:
        for samples in launch.samples:
            for account, one in _stretches(launch, samples):
                if account.category != "issue" and one.cycles >= min_stall:
                    process = names[launch.kernel]
                    unit = f"unit {samples.unit}: " if len(launch.samples) > 1 else ""
                    track = tracks.number(process, f"{unit}{account.cause}{at_line(account.line)}")
                    yield _stall(launch, account, one, process, track)


def _stall(launch: model.Launch, account: model.Account, one: _Stretch, process: int, track: int) -> _Slice:
    period = 1000 / launch.clock_mhz
    args: Event = {"line": account.line, "cycles": one.cycles, "category": account.category}
    start = launch.start_ns + one.begin * period
    return _Slice(process, track, account.cause, start, one.cycles * period, args)


def _stretches(launch: model.Launch, samples: model.Samples) -> Iterator[tuple[model.Account, _Stretch]]:
    """The stretches of all accounts, in their order."""
    accounts = {one.id: one for one in launch.accounts}
    columns = [one for one in samples.columns if one.kind == "account"]
    rows = max((len(one.values) for one in columns), default=0)
    under_way: list[_Stretch] = []
    for row in range(rows):
        at = row * samples.interval
        for column in columns:
            cycles = int(column.values[row])
            if cycles and under_way and under_way[-1].id == column.id and under_way[-1].end == at:
                under_way[-1].cycles += cycles
            elif cycles:
                under_way.append(_Stretch(column.id, at, cycles))
            at += cycles
    for one in under_way:
        yield accounts.get(one.id) or model.Account(one.id, "latency of the pipeline", "latency", None, 0), one


def _counters(launch: model.Launch, process: int) -> Iterator[Event]:
    """The mean level of each channel, and the share of cycles with an issue, of each interval."""
    period = 1000 / launch.clock_mhz
    names = {one.id: f"channel {one.name}" for one in launch.channels}
    issue = {one.id for one in launch.accounts if one.category == "issue"}
    for samples in launch.samples:
        for column in samples.columns:
            if column.kind != "level" and column.id not in issue:
                continue
            issued = "issued" if len(launch.samples) == 1 else f"issued by unit {samples.unit}"
            name, values = names.get(column.id, issued), column.values
            if column.kind != "level":  # the last interval may be shorter; after the run nothing is issued
                lengths = [samples.interval] * (len(values) - 1) + [samples.last or samples.interval]
                values = (*(value / length for value, length in zip(values, lengths, strict=True)), 0.0)
            for row, value in enumerate(values):
                at = min(launch.start_ns + row * samples.interval * period, launch.end_ns) / 1000
                args = {name: round(value, 4)}
                yield {"name": name, "ph": "C", "pid": process, "ts": round(at, 6), "args": args}


def _flows(profile: model.Profile, names: dict[str, int]) -> list[Event]:
    """An arrow from the kernel that is waited for to the one that waits, where that is most of a launch's blame: in the
    middle of the time in which both run, as an arrow needs a slice at both of its ends."""
    found: list[Event] = []
    for launch in profile.launches:
        blamed = (one for one in launch.blame if one.end in ("account", "circle") and one.kernels[-1] in names)
        most = max(blamed, key=lambda one: one.cycles, default=None)
        at = None if most is None else _together(profile, launch, most.kernels[-1])
        if most is None or at is None:
            continue
        head = {"name": "waits for", "cat": "blame", "id": launch.number}
        found += [
            head | {"ph": "s", "pid": names[most.kernels[-1]], "tid": 0, "ts": at},
            head | {"ph": "f", "bp": "e", "pid": names[launch.kernel], "tid": 0, "ts": at},
        ]
    return found


def _together(profile: model.Profile, launch: model.Launch, kernel: str) -> float | None:
    """The middle, in us, of the longest time in which a launch and one of another kernel both run; None if they never
    do."""
    others = (one for one in profile.launches if (one.program, one.kernel) == (launch.program, kernel))
    times = [(max(launch.start_ns, one.start_ns), min(launch.end_ns, one.end_ns)) for one in others]
    begin, end = max(times, key=lambda time: time[1] - time[0], default=(0.0, 0.0))
    return round((begin + end) / 2000, 6) if end > begin else None

"""From measured values to the records of a profile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from . import model
from .decode import AccessEntry, AccountEntry, ChannelEntry, LocalEntry, LoopEntry, UnitEntry, decode
from .depths import ChannelReplay, depth_advice
from .layout import Access, Channel, Layout, Local, Loop
from .probe import ProbeUnit
from .waits import BlameText, HeldText, Samples, UnitWaits, describe_waits

__all__ = ["Measured", "accounts_of", "channel_depth", "launch_of", "since"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured of one run of a kernel. ``counters`` are those of its layout by name; ``units`` the sections of
    the probe of its compute units, in the order of ``waits`` and ``samples``; ``levels`` the sum of what each channel
    held over the cycles, by the key of the kernel's end."""

    layout: Layout
    counters: Mapping[str, int]
    begin: int
    start_ns: float
    end_ns: float
    program: int = 0
    queue: int = 0
    of: int | None = None  #: of an autorun kernel: the launch in which it was observed
    capture: bool = False  #: of an autorun kernel: observed between two snapshots, not in one launch
    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] = ()
    units: Sequence[ProbeUnit] = ()
    waits: Sequence[UnitWaits] = ()
    samples: Sequence[Samples] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    banks: tuple[model.Bank, ...] = ()
    part: bool = False  #: of a part of a split kernel, observed in launch ``of`` of the kernel


def launch_of(measured: Measured, number: int, layouts: dict[str, Layout]) -> model.Launch:
    """The record of a launch; ``layouts`` are those of all kernels of its program, by name.

    Raises ProfileError when the accounts do not sum to the cycles.
    """
    layout = measured.layout
    stats = decode(layout, measured.counters)
    holds = measured.units[0].holds if measured.units else ()
    waits = describe_waits(layouts, layout.kernel, holds, measured.waits)
    return model.Launch(
        number=number,
        kernel=layout.kernel,
        program=measured.program,
        queue=measured.queue,
        capture=measured.capture or measured.of is not None,
        of=measured.of,
        global_size=measured.global_size,
        local_size=measured.local_size,
        begin=measured.begin,
        cycles=stats["cycles"],
        clock_mhz=layout.clock_mhz,
        start_ns=float(measured.start_ns),
        end_ns=float(measured.end_ns),
        accounts=accounts_of(layout, stats["accounts"]),
        loops=tuple(_loop(one, entry) for one, entry in zip(layout.loops, stats["loops"])),
        accesses=tuple(_access(one, entry) for one, entry in zip(layout.accesses, stats["memory"])),
        channels=tuple(
            _channel(one, entry, measured.levels, stats["cycles"])
            for one, entry in zip(layout.channels, stats["channels"])
        ),
        units=tuple(_unit(layout, entry) for entry in stats["units"]),
        held=tuple(map(_held, waits["held"])),
        blame=tuple(map(_blame, waits["blame"])),
        samples=tuple(_samples(layout, k, one, measured.counters) for k, one in enumerate(measured.samples)),
        banks=measured.banks,
        work=tuple(_work(layout, stats["loops"])),
        local=tuple(_local(one, entry) for one, entry in zip(layout.local, stats["local"])),
        part=measured.part,
    )


def channel_depth(program: int, replay: ChannelReplay) -> model.ChannelDepth:
    """The record of a channel's replay."""
    least, saved, sentence = depth_advice(replay)
    actual, *others = (
        model.Depth(one.depth, one.cycles, one.writer_waits, one.reader_waits)
        for one in (replay.actual, *replay.others)
    )
    return model.ChannelDepth(program, replay.channel, replay.values, actual, tuple(others), least, saved, sentence)


def since(layout: Layout, before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """The counters of an autorun kernel between two snapshots. What a channel holds, and the most it held, are those of
    ``now``. Cycles without a cause move from drain to latency when something is issued: here all are latency."""
    keep = {c.name for c in layout.counters if c.kind in ("level", "max_level")}
    found = {name: value if name in keep else value - before.get(name, 0) for name, value in now.items()}
    for between, drain in layout.rests:
        found[between] += found[drain]
        found[drain] = 0
    return found


def accounts_of(layout: Layout, entries: Sequence[AccountEntry]) -> tuple[model.Account, ...]:
    """Accounts of a run, those without a cycle left out; all cycles of a kernel without counters are one account."""
    if not layout.counted:
        return tuple(model.Account("uncounted", one["cause"], "latency", None, one["cycles"]) for one in entries)
    return tuple(
        model.Account(account.key, entry["cause"], account.category, entry["line"], entry["cycles"])
        for account, entry in zip(layout.accounts, entries, strict=True)
        if entry["cycles"]
    )


def _loop(loop: Loop, entry: LoopEntry) -> model.Loop:
    return model.Loop(
        id=loop.key,
        name=entry["name"],
        line=entry["line"],
        static_ii=entry["static_ii"],
        interleaving=entry["interleaving"],
        scheduled_ii=entry["scheduled_ii"],
        measured_ii=entry["measured_ii"],
        iterations=entry["iterations"],
        invocations=entry["invocations"],
        path=loop.path,
    )


def _work(layout: Layout, entries: Sequence[LoopEntry]) -> Iterable[model.Work]:
    """The operations that the iterations of all loops made; kinds without any are left out."""
    for kind, name in (("floating-point", "floating"), ("integer", "integer")):
        each = [getattr(loop, name) for loop in layout.loops]
        done = sum(many * entry["iterations"] for many, entry in zip(each, entries))
        if done:
            yield model.Work(kind, done, sum(each) * layout.units * layout.clock_mhz / 1000)


def _access(access: Access, entry: AccessEntry) -> model.Access:
    return model.Access(
        id=access.key,
        kind=entry["kind"],
        buffer=entry["buffer"],
        line=entry["line"],
        loop=access.loop,
        unit=entry["lsu"],
        memory=entry["memory"],
        access_bytes=access.access_bytes,
        occupancy=entry["occupancy"],
        activity=entry["activity"],
        stall=entry["stall"],
        bytes_used=entry["bytes_used"],
        bytes_moved=entry["bytes_moved"],
        efficiency=entry["efficiency"],
        reuse=entry["reuse"],
        bytes_per_ns=entry["bytes_per_ns"],
        bandwidth=entry["bandwidth"],
        average_burst=entry["average_burst"],
        max_burst=entry["max_burst"],
        cache_hit=entry["cache_hit"],
        in_vain=entry["in_vain"],
        full_bursts=entry["full_bursts"],
        unaligned=entry["unaligned"],
    )


def _local(local: Local, entry: LocalEntry) -> model.Local:
    return model.Local(
        id=local.key,
        kind=entry["kind"],
        memory=entry["memory"],
        line=entry["line"],
        loop=local.loop,
        requests=entry["requests"],
        activity=entry["activity"],
        stall=entry["stall"],
    )


def _channel(channel: Channel, entry: ChannelEntry, levels: Mapping[str, int], cycles: int) -> model.ChannelEnd:
    return model.ChannelEnd(
        id=channel.key,
        name=entry["name"],
        line=entry["line"],
        end=entry["end"],
        depth=entry["depth"],
        max_level=entry["max_level"],
        mean_level=levels[channel.key] / cycles if channel.key in levels and cycles else None,
        values=entry["values"],
        read_stall=entry["read_stall"],
        write_stall=entry["write_stall"],
    )


def _held(entry: HeldText) -> model.Held:
    return model.Held(entry["key"], entry["what"], entry["line"], entry["cause"], entry["cause_line"], entry["cycles"])


def _blame(entry: BlameText) -> model.Blame:
    return model.Blame(
        cause=entry["cause"],
        line=entry["line"],
        kernels=tuple(entry["kernels"]),
        end=entry["end"],
        last_cause=entry["last_cause"],
        last_line=entry["last_line"],
        cycles=entry["cycles"],
    )


def _unit(layout: Layout, entry: UnitEntry) -> model.Unit:
    return model.Unit(entry["unit"], entry["groups"], entry["occupancy"], accounts_of(layout, entry["accounts"]))


def _samples(layout: Layout, unit: int, samples: Samples, counters: Mapping[str, int]) -> model.Samples:
    lengths = [samples.length] * len(samples.accounts[0])
    if samples.last and lengths:
        lengths[-1] = samples.last
    whole = [list(map(int, values)) for values in samples.accounts]
    columns: list[tuple[str, str, Iterable[float]]] = [
        ("account", one.key, values) for one, values in zip(layout.accounts, _with_drain(layout, unit, whole, counters))
    ]
    for access in layout.accesses:
        columns += [(kind, access.key, samples.events[f"{access.key}_{kind}"]) for kind in ("accepted", "stalled")]
    for channel in layout.channels:
        means = [total / length for total, length in zip(samples.level_sums[channel.key], lengths)]
        columns += [("level", channel.key, means), ("max_level", channel.key, samples.level_most[channel.key])]
        columns += [("min_level", channel.key, samples.level_least[channel.key])]
    found = tuple(
        model.Column(kind, id, tuple(round(float(v), 3) for v in values))
        for kind, id, values in columns
        if any(v for v in values)
    )
    return model.Samples(unit, samples.first, samples.length, samples.last, found)


def _with_drain(
    layout: Layout, unit: int, accounts: Sequence[Sequence[int]], counters: Mapping[str, int]
) -> list[Sequence[int]]:
    """The columns of the accounts of a unit, whose last one has all cycles without a cause, as two: those before the
    last issue, and the drain after it. No cycle of the drain comes before another one without a cause."""
    *causes, rests = accounts
    left = counters[layout.rests[unit][1]] if layout.rests else 0
    drain = [0] * len(rests)
    for row in reversed(range(len(rests))):
        drain[row] = min(left, rests[row])
        left -= drain[row]
    return [*causes, [rest - after for rest, after in zip(rests, drain)], drain]

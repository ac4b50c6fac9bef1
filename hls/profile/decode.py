"""From counter values to the statistics of one run."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from .layout import CYCLES, Access, Channel, Layout, Local, Loop

__all__ = [
    "AccessEntry",
    "AccountEntry",
    "ChannelEntry",
    "LocalEntry",
    "LoopEntry",
    "ProfileError",
    "UnitEntry",
    "decode",
]


class ProfileError(ValueError):
    """Counter values that cannot come from the kernel that the layout describes."""


class AccountEntry(TypedDict):
    """An account in the statistics."""

    cause: str
    line: int | None
    cycles: int


class LoopEntry(TypedDict):
    """A loop in the statistics."""

    line: int | None
    label: str
    name: str
    static_ii: int
    interleaving: int
    scheduled_ii: float
    measured_ii: float | None
    iterations: int
    invocations: int


class AccessEntry(TypedDict):
    """An access in the statistics."""

    line: int | None
    buffer: str
    kind: str
    lsu: str
    memory: str
    occupancy: float | None
    stall: float | None
    activity: float | None
    bytes_used: int
    bytes_moved: int
    efficiency: float | None
    reuse: float | None
    bytes_per_ns: float | None
    peak_bytes_per_ns: float | None
    bandwidth: float | None
    average_burst: float | None
    max_burst: int | None
    full_bursts: float | None
    unaligned: float | None
    cache_hit: float | None
    in_vain: float | None


class LocalEntry(TypedDict):
    """An access to a memory inside the kernel in the statistics."""

    line: int | None
    memory: str
    kind: str
    requests: int
    activity: float | None
    stall: float | None


class ChannelEntry(TypedDict):
    """A kernel's end of a channel in the statistics."""

    line: int | None
    name: str
    end: str
    depth: int
    max_level: int
    values: int
    read_stall: float | None
    write_stall: float | None


class UnitEntry(TypedDict):
    """A compute unit in the statistics."""

    unit: int
    groups: int | None
    occupancy: float | None
    loops: list[LoopEntry]
    accounts: list[AccountEntry]


def decode(layout: Layout, values: Mapping[str, int]) -> dict[str, Any]:
    """The statistics of a run, made of dicts, lists and numbers only.

    ``values`` holds every counter of ``layout`` by name, and the kernel's cycles under ``CYCLES``.

    Occupancy, activity, stall, efficiency, cache_hit, in_vain and bandwidth (of the memory's peak) are fractions of
    one. ``occupancy`` is the share of cycles in which an iteration passed the access, ``activity`` that in which the
    iteration made a request there, ``stall`` that in which it was stalled there; ``in_vain`` the share of an early
    load's requests whose answers were dropped, ``unaligned`` that of a wide access's requests that cross a word,
    ``full_bursts`` that of the bursts that are as long as bursts of the unit can be. A figure without a value (the II
    of a loop that never issued twice in a row) is None.

    For a kernel of several compute units, iterations and bytes are sums over the units, shares and accounts the mean of
    them; ``units`` has for each how many groups it took, its own loops and its own accounts.

    For a split kernel all of these are those of its compute part; ``parts`` has the same for the other parts.

    What was built without counters is missing: then there are no loops, accesses and channels, or there is one account
    of all cycles. ``local``, the accesses to memories inside the kernel, and the last two shares are only there where a
    simulator counted (:attr:`Layout.probed`).

    Raises :class:`ProfileError` when a counter is missing, or the accounts do not sum to the cycles.
    """
    missing = [name for name in (CYCLES, *(c.name for c in layout.counters)) if name not in values]
    if missing:
        raise ProfileError(f"kernel {layout.kernel}: no value for {', '.join(missing)}")
    cycles = values[CYCLES]
    head = {"kernel": layout.kernel, "cycles": cycles, "clock_mhz": layout.clock_mhz}
    if not layout.counted:
        return (
            head
            | {"loops": [], "memory": [], "channels": [], "local": []}
            | {"accounts": _not_counted(cycles), "units": []}
        )
    head |= {"parts": [decode(part, layout.of_part(part, values)) for part in layout.parts]} if layout.parts else {}
    units = [_unit(layout, unit, values, cycles) for unit in range(layout.units)]
    values, passed = layout.sums(values), layout.units * cycles
    events, period_us = layout.has_events, 1 / layout.clock_mhz / layout.units
    return head | {
        "loops": [_loop(layout.loops, k, values) for k in range(len(layout.loops)) if events],
        "memory": [_access(access, layout.probed, values, passed, period_us) for access in layout.accesses if events],
        "channels": [_channel(channel, values, passed) for channel in layout.channels if events],
        "local": [_local(local, values, passed) for local in layout.local if events and layout.probed],
        "accounts": _mean(units, cycles) if layout.units > 1 else units[0]["accounts"],
        "units": units if layout.units > 1 else [],
    }


def _not_counted(cycles: int) -> list[AccountEntry]:
    return [{"cause": "not counted (built without counters)", "line": None, "cycles": cycles}]


def _unit(layout: Layout, unit: int, values: Mapping[str, int], cycles: int) -> UnitEntry:
    """The statistics of one unit. ``groups`` is how often its work-item loop began, None if it has no such loop;
    ``occupancy`` the share of cycles in which a work-item or an iteration of an innermost loop was issued."""
    own = {counter.name: values[layout.unit_name(unit, counter)] for counter in layout.of_unit}
    accounts = _accounts(layout, own, cycles) if layout.has_accounts else _not_counted(cycles)
    issued = next((account["cycles"] for account in accounts if account["cause"] == "issued"), None)
    loops = layout.loops if layout.has_events else ()
    groups = next((own[f"{loop.key}_invocations"] for loop in loops if loop.label == "work-items"), None)
    return {
        "unit": unit,
        "groups": groups,
        "occupancy": None if issued is None else _share(issued, cycles),
        "loops": [_loop(loops, k, own) for k in range(len(loops))],
        "accounts": accounts,
    }


def _mean(units: list[UnitEntry], cycles: int) -> list[AccountEntry]:
    """Accounts whose cycles are the mean over the units, rounded so that they sum to ``cycles``: the remainder goes to
    the accounts that lost most by rounding down."""
    together = [first.copy() for first in units[0]["accounts"]]
    sums = [sum(unit["accounts"][k]["cycles"] for unit in units) for k in range(len(together))]
    for account, total in zip(together, sums, strict=True):
        account["cycles"] = total // len(units)
    missing = cycles - sum(account["cycles"] for account in together)
    for k in sorted(range(len(sums)), key=lambda k: -(sums[k] % len(units)))[:missing]:
        together[k]["cycles"] += 1
    return together


def _inside(loops: tuple[Loop, ...], k: int) -> Iterator[Loop]:
    """The loops inside ``loops[k]``, which come directly before it."""
    within = f"{loops[k].path}/"
    return itertools.takewhile(lambda one: one.path.startswith(within), reversed(loops[:k]))


def _loop(loops: tuple[Loop, ...], k: int, values: Mapping[str, int]) -> LoopEntry:
    loop = loops[k]
    issued, invocations, busy, starts = (values[counter.name] for counter in loop.counters())
    # Each busy period ends with an issue: it holds one interval less than issues. Idle cycles between periods are the
    # time in which the loop was not requested.
    intervals = issued - starts
    measured = (busy - starts) / intervals if intervals > 0 else None
    if measured is not None:
        # Iterations around interleaved invocations, and work-items of a group, leave in clusters, the first of them
        # long after it began: what a loop inside took is shared by all of them.
        measured = max(measured, *(values[f"{one.key}_busy"] / issued for one in _inside(loops, k)), 0)
    return {
        "line": loop.line,
        "label": loop.label,
        "name": loop.name or loop.label,
        "static_ii": loop.static_ii,
        "interleaving": loop.interleaving,
        "scheduled_ii": loop.static_ii / loop.interleaving,
        "measured_ii": measured,
        "iterations": issued,
        "invocations": invocations,
    }


def _access(access: Access, probed: bool, values: Mapping[str, int], cycles: int, period_us: float) -> AccessEntry:
    """``cycles`` are those of all units together, ``period_us`` the clock period in us divided by the units."""
    counts = {counter.kind: values[counter.name] for counter in access.counters(probed)}
    accepted, words, bursts = counts["accepted"], counts["words"], counts["bursts"]
    # every iteration passes the access, whether or not its predicate is true
    passed = values[f"{access.loop}_issued"] if access.loop else 1
    if access.kind == "atomic":
        # words that were read, and words to be written, which may be the same ones in the same cycle
        words, bursts = words + bursts, 0
    used, moved = accepted * access.access_bytes, words * access.word_bytes
    efficiency, reuse = _use(used, moved)
    rate = _share(moved, 1000 * cycles * period_us)
    return {
        "line": access.line,
        "buffer": access.buffer,
        "kind": access.kind,
        "lsu": access.lsu,
        "memory": access.memory,
        "occupancy": _share(passed, cycles),
        "stall": _share(counts["stalled"], cycles),
        "activity": _share(accepted, cycles),
        "bytes_used": used,
        "bytes_moved": moved,
        "efficiency": efficiency,
        "reuse": reuse,
        "bytes_per_ns": rate,
        "peak_bytes_per_ns": access.peak_bytes_per_ns or None,
        "bandwidth": _share(rate, access.peak_bytes_per_ns) if rate is not None else None,
        "average_burst": _share(words, bursts),
        "max_burst": access.max_burst or None,
        "full_bursts": _share(counts["full"], bursts) if "full" in counts else None,
        "unaligned": _share(counts["unaligned"], accepted) if "unaligned" in counts else None,
        "cache_hit": _hits(accepted + counts.get("unaligned", 0), words) if access.cached else None,
        "in_vain": _share(counts["vain"], accepted) if access.early else None,
    }


def _hits(needed: int, words: int) -> float | None:
    """The share of the words that requests needed that were not moved for them: each miss moves one. A prefetching unit
    may move more than was requested."""
    return _share(max(needed - words, 0), needed)


def _local(local: Local, values: Mapping[str, int], cycles: int) -> LocalEntry:
    accepted, stalled = (values[counter.name] for counter in local.counters())
    return {
        "line": local.line,
        "memory": local.memory,
        "kind": local.kind,
        "requests": accepted,
        "activity": _share(accepted, cycles),
        "stall": _share(stalled, cycles),
    }


def _use(used: int, moved: int) -> tuple[float | None, float | None]:
    """(efficiency, reuse): which fraction of the bytes moved the program requested, at most 1, and how often it
    requested each of them, at least once."""
    ratio = _share(used, moved)
    return (None, None) if ratio is None else (min(1.0, ratio), max(1.0, ratio))


def _channel(channel: Channel, values: Mapping[str, int], cycles: int) -> ChannelEntry:
    moved, read_stall, write_stall, _, most = (values[counter.name] for counter in channel.counters())
    return {
        "line": channel.line,
        "name": channel.name,
        "end": "write" if channel.writes else "read",
        "depth": channel.depth,
        "max_level": most,
        "values": moved,
        "read_stall": _share(read_stall, cycles),
        "write_stall": _share(write_stall, cycles),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _accounts(layout: Layout, values: Mapping[str, int], cycles: int) -> list[AccountEntry]:
    accounts: list[AccountEntry] = [
        {"cause": account.cause, "line": account.line, "cycles": values[counter.name]}
        for account in layout.accounts
        for counter in account.counters()
    ]
    total = sum(account["cycles"] for account in accounts)
    if total != cycles:
        raise ProfileError(f"kernel {layout.kernel} ran {cycles} cycles, but its accounts sum to {total}")
    return accounts

"""All launches of a kernel as one: counts are summed, shares are means weighted by what they are shares of."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from . import model
from .summary import sum_accounts

__all__ = ["total_of"]


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


One = TypeVar("One", bound=_Identified)
Summed = TypeVar("Summed")


def total_of(launches: Sequence[model.Launch]) -> model.Launch:
    """A record of all ``launches`` of one kernel; its times are the first start and the last end, its samples are left
    out, and its number is that of the longest launch. Raises ValueError if there are none."""
    worst = max(launches, key=lambda one: one.cycles)
    return replace(
        worst,
        cycles=sum(one.cycles for one in launches),
        start_ns=min(one.start_ns for one in launches),
        end_ns=max(one.end_ns for one in launches),
        accounts=sum_accounts(launches),
        loops=tuple(map(_loop, _groups((one.loops for one in launches), lambda one: one.id))),
        accesses=tuple(_accesses(launches)),
        channels=tuple(_channels(launches)),
        units=(),
        held=_summed((one.held for one in launches), lambda one: replace(one, cycles=0)),
        blame=_summed((one.blame for one in launches), lambda one: replace(one, cycles=0)),
        samples=(),
        work=tuple(map(_work, _groups((one.work for one in launches), lambda one: one.kind))),
        banks=tuple(_banks(launches)),
        local=tuple(_local(launches)),
    )


def _groups(lists: Iterable[Sequence[Summed]], key: Callable[[Summed], object]) -> list[list[Summed]]:
    """Records with equal keys together, in the order of their first."""
    found: dict[object, list[Summed]] = {}
    for records in lists:
        for one in records:
            found.setdefault(key(one), []).append(one)
    return list(found.values())


Counted = TypeVar("Counted", model.Held, model.Blame)


def _summed(lists: Iterable[Sequence[Counted]], key: Callable[[Counted], object]) -> tuple[Counted, ...]:
    """Records that differ in ``cycles`` only, summed; most cycles first."""
    sums = [replace(group[0], cycles=sum(one.cycles for one in group)) for group in _groups(lists, key)]
    return tuple(sorted(sums, key=lambda one: -one.cycles))


def _mean(values: Iterable[tuple[float | None, float]]) -> float | None:
    """The mean of (value, weight); None if no value has a weight."""
    known = [(value, weight) for value, weight in values if value is not None and weight]
    weights = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / weights if weights else None


def _loop(group: Sequence[model.Loop]) -> model.Loop:
    return replace(
        group[0],
        measured_ii=_mean((one.measured_ii, one.iterations) for one in group),
        iterations=sum(one.iterations for one in group),
        invocations=sum(one.invocations for one in group),
    )


def _with_cycles(
    launches: Sequence[model.Launch], records: Callable[[model.Launch], Sequence[One]]
) -> list[list[tuple[One, int]]]:
    """For each id the records of all launches that have it, each with the cycles of its launch."""
    pairs = (tuple((one, launch.cycles) for one in records(launch)) for launch in launches)
    return _groups(pairs, lambda pair: pair[0].id)


def _accesses(launches: Sequence[model.Launch]) -> Iterable[model.Access]:
    for group in _with_cycles(launches, lambda launch: launch.accesses):
        used, moved = sum(one.bytes_used for one, _ in group), sum(one.bytes_moved for one, _ in group)
        requests = [(one, (one.activity or 0.0) * cycles) for one, cycles in group]
        yield replace(
            group[0][0],
            occupancy=_mean((one.occupancy, cycles) for one, cycles in group),
            activity=_mean((one.activity, cycles) for one, cycles in group),
            stall=_mean((one.stall, cycles) for one, cycles in group),
            bytes_used=used,
            bytes_moved=moved,
            efficiency=min(1.0, used / moved) if moved else None,
            reuse=max(1.0, used / moved) if moved else None,
            bytes_per_ns=_mean((one.bytes_per_ns, cycles) for one, cycles in group),
            bandwidth=_mean((one.bandwidth, cycles) for one, cycles in group),
            average_burst=_mean((one.average_burst, one.bytes_moved) for one, _ in group),
            max_burst=max((one.max_burst for one, _ in group if one.max_burst is not None), default=None),
            cache_hit=_mean((one.cache_hit, weight) for one, weight in requests),
            in_vain=_mean((one.in_vain, weight) for one, weight in requests),
            full_bursts=_mean((one.full_bursts, one.bytes_moved / (one.average_burst or 1)) for one, _ in group),
            unaligned=_mean((one.unaligned, weight) for one, weight in requests),
        )


def _local(launches: Sequence[model.Launch]) -> Iterable[model.Local]:
    for group in _with_cycles(launches, lambda launch: launch.local):
        yield replace(
            group[0][0],
            requests=sum(one.requests for one, _ in group),
            activity=_mean((one.activity, cycles) for one, cycles in group),
            stall=_mean((one.stall, cycles) for one, cycles in group),
        )


def _channels(launches: Sequence[model.Launch]) -> Iterable[model.ChannelEnd]:
    for group in _with_cycles(launches, lambda launch: launch.channels):
        yield replace(
            group[0][0],
            values=sum(one.values for one, _ in group),
            max_level=max(one.max_level for one, _ in group),
            mean_level=_mean((one.mean_level, cycles) for one, cycles in group),
            read_stall=_mean((one.read_stall, cycles) for one, cycles in group),
            write_stall=_mean((one.write_stall, cycles) for one, cycles in group),
        )


def _work(group: Sequence[model.Work]) -> model.Work:
    return replace(group[0], operations=sum(one.operations for one in group))


def _banks(launches: Sequence[model.Launch]) -> Iterable[model.Bank]:
    pairs = (tuple((one, launch.cycles) for one in launch.banks) for launch in launches)
    for found in _groups(pairs, lambda pair: (pair[0].memory, pair[0].number)):
        group = [one for one, _ in found]
        yield replace(
            group[0],
            busy=_mean((one.busy, cycles) for one, cycles in found),
            bytes_read=sum(one.bytes_read for one in group),
            bytes_written=sum(one.bytes_written for one in group),
            reads=sum(one.reads for one in group),
            writes=sum(one.writes for one in group),
            activates=sum(one.activates for one in group),
            precharges=sum(one.precharges for one in group),
            refreshes=sum(one.refreshes for one in group),
            turnarounds=sum(one.turnarounds for one in group),
        )

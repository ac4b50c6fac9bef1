"""Channels and deadlock verdicts as text."""

import re
from collections.abc import Iterable

from .copies import ranges
from .layout import count
from .model import Channel, Kernel, Network, Way
from .phrasing import at

__all__ = ["say_channels", "say_network", "say_ways"]

#: kernels of a network that are named
MOST_NAMED = 12


def say_channels(channels: Iterable[Channel]) -> list[str]:
    """An entry for each channel; those of an array that differ only in their depths are one entry."""
    groups: dict[tuple[object, ...], list[Channel]] = {}
    for one in channels:
        reason = re.sub(r"\d+", "#", one.reason)
        key = (_array(one), one.span, one.bits, one.requested, one.storage, reason, one.writer, one.reader)
        groups.setdefault(key, []).append(one)
    return [_say(same) for same in groups.values()]


def _array(channel: Channel) -> str:
    return channel.name.partition("[")[0]


def _say(same: list[Channel]) -> str:
    """Channels that are equal but for their depths."""
    first = same[0]
    name, number = first.name, sum(one.count for one in same)
    indices = ranges(index for one in same for index in _indices(one))
    if number > 1 and indices:
        name = f"{_array(first)}[{indices}]"
    array = f", {number} channels" if number > 1 else ""
    depths = ", ".join(dict.fromkeys(f"{one.depth:,}" for one in same))
    built = "wires" if first.depth == 0 else f"{depths} deep in {first.storage}"
    asked = f" (requested depth {first.requested})" if first.reason and first.requested is not None else ""
    why = f": {first.reason}" if first.reason else ""
    if why and len(same) > 1:
        why = f": {re.split(r':|;', first.reason)[0]}"
    return (
        f"{name}{at(first.span)}{array}: {count(first.bits, 'bit')} wide, {built}{asked}{why}; "
        f"from {first.writer}{at(first.write_span)} to {first.reader}{at(first.read_span)}"
    )


def _indices(channel: Channel) -> tuple[int, ...]:
    found = re.search(r"\[(\d+)\]$", channel.name)
    return channel.indices or ((int(found[1]),) if found else ())


def say_ways(ways: Iterable[Way]) -> list[str]:
    """An entry for all channels that reach the same others after the same numbers of cycles."""
    reached: dict[str, dict[int, list[str]]] = {}
    for one in ways:
        reached.setdefault(one.source, {}).setdefault(one.cycles, []).append(one.target)
    groups: dict[tuple[tuple[int, tuple[str, ...]], ...], list[str]] = {}
    for source, targets in reached.items():
        groups.setdefault(tuple((cycles, tuple(names)) for cycles, names in targets.items()), []).append(source)
    return [
        f"{', '.join(sources)} to {', '.join(names)}: {count(cycles, 'cycle')}"
        for targets, sources in groups.items()
        for cycles, names in targets
    ]


def say_network(network: Network, kernels: Iterable[Kernel]) -> str:
    """A verdict, with the kernels by their entries in the report."""
    entry = {
        copy: f"{kernel.name} ({kernel.copies.count} copies)"
        for kernel in kernels
        if kernel.copies
        for copy in kernel.copies.names
    }
    names = [entry.get(name, name) for name in network.kernels]
    shown = list(dict.fromkeys(names))
    more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    depths = (
        "; use " + ", ".join(f"depth {one.depth} for {one.channel}" for one in network.depths) if network.depths else ""
    )
    places = (
        f" ({', '.join(f'{stop.kernel} at line {stop.span.line}' for stop in network.circle if stop.span)})"
        if network.circle
        else ""
    )
    return f"{', '.join(shown[:MOST_NAMED])}{more}: deadlock {network.deadlock}: {network.reason}{places}{depths}"

"""Channels of a program for the report; those of an array that are alike are one entry."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..planning.memory import ChannelPlan
from .model import Channel

__all__ = ["collect_channels"]


def collect_channels(plans: Iterable[ChannelPlan], entries: Mapping[str, str]) -> tuple[Channel, ...]:
    """Planned channels (:class:`hls.planning.memory.ChannelPlan`) in program order. ``entries`` maps each kernel to the
    one whose entry in the report describes it."""
    found: dict[tuple[Any, ...], list[ChannelPlan]] = {}
    for plan in plans:
        writer, reader = entries.get(plan.writer, plan.writer), entries.get(plan.reader, plan.reader)
        alike = (plan.channel, plan.bits, plan.requested, plan.depth, plan.storage, plan.reason, writer, reader)
        found.setdefault(alike, []).append(plan)
    return tuple(_entry(key, same) for key, same in found.items())


def _entry(key: tuple[Any, ...], same: list[ChannelPlan]) -> Channel:
    *_, writer, reader = key
    first = same[0]
    return Channel(
        name=first.carries or (first.name if len(same) == 1 else first.channel),
        span=first.span,
        bits=first.bits,
        requested=first.requested,
        depth=first.depth,
        storage=first.storage,
        reason=first.reason,
        writer=writer,
        write_span=first.write_span,
        reader=reader,
        read_span=first.read_span,
        count=len(same),
        indices=tuple(plan.index for plan in same) if len(same) > 1 else (),
        stream=first.stream.direction if first.stream is not None else "",
    )

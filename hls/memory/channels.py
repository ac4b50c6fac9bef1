"""How deep each channel is and what it is made of, and which kernels it joins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rtl_lib.channel import storage_for

from ..analysis.channels import End, channel_ends
from ..diag import CompileError, Diagnostic, Span
from ..ir import Function, MemoryObject, Op

__all__ = ["ChannelPlan", "plan_channels"]

#: depth of a channel for which the source asks for none: what passes a value every cycle
DEFAULT_DEPTH = 2


@dataclass(frozen=True)
class ChannelPlan:
    """One channel that is used. ``requested`` is the depth the source asks for (None: none), ``depth`` what is built,
    ``storage`` what of, and ``reason`` why it is not the one requested ("" where it is)."""

    channel: str
    index: int
    name: str  #: as in the source, with its index in an array
    bits: int
    requested: int | None
    depth: int
    storage: str
    reason: str
    writer: str  #: kernel
    reader: str
    span: Span | None
    write_span: Span | None  #: of the first call
    read_span: Span | None

    def deepened(self, depth: int, reason: str) -> "ChannelPlan":
        """The same channel with at least that depth."""
        storage = storage_for(depth)
        return replace(self, depth=storage.depth, storage=storage.kind, reason=reason)


@dataclass(frozen=True)
class _Side:
    kernel: str
    calls: tuple[Op, ...]

    @property
    def span(self) -> Span | None:
        return self.calls[0].span


def plan_channels(declared: Mapping[str, MemoryObject], kernels: Iterable[Function]) -> tuple[ChannelPlan, ...]:
    """A plan for every one of the ``declared`` channels that the kernels, ready for scheduling, use. Raises CompileError
    for one that does not join exactly two sides."""
    sides = _sides(kernels)
    errors = [error for end, found in sides.items() for error in _conflicts(declared[end.channel], end, found)]
    places = sorted({(end.channel, end.index) for end in sides}, key=lambda p: (list(declared).index(p[0]), p[1]))
    for channel, index in places:
        errors += _missing(declared[channel], sides, channel, index)
    if errors:
        raise CompileError(*errors)
    return tuple(_plan(declared[channel], index, *(sides[End(channel, index, w)][0] for w in (True, False)))
                 for channel, index in places)


def _sides(kernels: Iterable[Function]) -> dict[End, list[_Side]]:
    found: dict[End, list[_Side]] = {}
    for kernel in kernels:
        for end, calls in channel_ends(kernel).items():
            found.setdefault(end, []).append(_Side(kernel.name, tuple(calls)))
    return found


def _conflicts(declared: MemoryObject, end: End, sides: list[_Side]) -> list[Diagnostic]:
    verb, by = ("write", "written") if end.writes else ("read", "read")
    first = sides[0]
    return [Diagnostic(f"channel '{end.text(declared.length)}' is {by} by kernel {other.kernel}, and by kernel {first.kernel}"
                       f"{_at(first.span)}", other.span, f"let one kernel {verb} it, and give the other a channel of its own")
            for other in sides[1:]]


def _missing(declared: MemoryObject, sides, channel: str, index: int) -> list[Diagnostic]:
    writes, reads = End(channel, index, True), End(channel, index, False)
    if writes in sides and reads in sides:
        return []
    there, does, does_not = (sides[writes][0], "written", "reads") if writes in sides else (sides[reads][0], "read", "writes")
    return [Diagnostic(f"channel '{writes.text(declared.length)}', declared{_at(declared.span)}, is {does} by kernel {there.kernel}, "
                       f"but no kernel {does_not} it", there.span,
                       f"add a kernel that {does_not} it, or remove the call: {there.kernel} would wait for ever")]


def _at(span: Span | None) -> str:
    return f" (line {span.line})" if span else ""


def _plan(declared: MemoryObject, index: int, writer: _Side, reader: _Side) -> ChannelPlan:
    requested = dict(declared.attrs).get("depth")
    storage = storage_for(DEFAULT_DEPTH if requested is None else requested)
    reason = ""
    if requested is None:
        reason = "no depth is asked for: enough to pass a value every cycle"
    elif storage.depth != requested:
        reason = "nature of the underlying FIFO: two registers are the least that pass a value every cycle"
    return ChannelPlan(declared.name, index, End(declared.name, index, True).text(declared.length), declared.element.bits,
                       requested, storage.depth, storage.kind, reason, writer.kernel, reader.kernel, declared.span,
                       writer.span, reader.span)

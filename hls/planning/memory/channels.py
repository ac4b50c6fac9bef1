"""The depth and storage of each channel, and the kernels it connects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rtl_lib.channel import storage_for

from ...analysis.channels.endpoints import Endpoint, answers_at_once, channel_ends
from ...diag import Code, CompileError, Diagnostic, Span
from ...ir import Attr, Function, MemoryObject, Op
from ...ir.concurrent import DEFAULT_ROOM, NO_CHANNEL
from ...ir.printing import shows_text
from ...limits import Limits, exceeded
from ...target.board import Board, Stream

__all__ = ["ChannelPlan", "bound_stream", "plan_channels"]


@dataclass(frozen=True)
class ChannelPlan:
    """One channel that is used. ``requested`` is the depth the source requests (None: none), ``depth`` the one that is
    built, ``storage`` what it is built of, and ``reason`` why the depth is not the requested one ("" where it is)."""

    channel: str
    index: int
    name: str  #: as in the source, with its index if it is an element of an array
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
    stream: Stream | None = None  #: of the board, which then replaces the writer or reader
    carries: str = ""  #: of a channel between two parts of a kernel: what passes there, as "load of a"

    def deepened(self, depth: int, reason: str) -> "ChannelPlan":
        """The same channel with at least that depth."""
        storage = storage_for(depth)
        return replace(self, depth=storage.depth, storage=storage.kind, reason=reason)


@dataclass(frozen=True)
class _Side:
    """One end of a channel: a kernel with its calls, or a ``stream`` of the board."""

    name: str
    calls: tuple[Op, ...]
    span: Span | None
    stream: Stream | None = None

    @property
    def text(self) -> str:
        return f"the board's stream {self.name}" if self.stream else f"kernel {self.name}{_at(self.span)}"


def plan_channels(
    declared: Mapping[str, MemoryObject],
    kernels: Iterable[Function],
    board: Board,
    most_bits: int = Limits.channel_bits,
) -> tuple[ChannelPlan, ...]:
    """A plan for every one of the ``declared`` channels that is used by the kernels, which must be ready for
    scheduling. Raises CompileError for a channel that does not connect exactly two ends, of which one may be a stream
    of the board, and for the channel with which all of them exceed ``most_bits``."""
    sides = _sides(kernels)
    outside = [
        _outside(declared[end.channel], end, side)
        for end, found in sides.items()
        for side in found
        if not 0 <= end.index < (declared[end.channel].length or 1)
    ]
    if outside:
        raise CompileError(*outside)
    streams = {name: bound_stream(memory, board) for name, memory in declared.items() if Attr.IO in dict(memory.attrs)}
    for name, stream in streams.items():
        sides.setdefault(Endpoint(name, 0, stream.direction == "in"), []).insert(
            0, _Side(stream.name, (), declared[name].span, stream)
        )
    errors = [error for end, found in sides.items() for error in _conflicts(declared[end.channel], end, found)]
    places = sorted({(end.channel, end.index) for end in sides}, key=lambda p: (list(declared).index(p[0]), p[1]))
    for channel, index in places:
        errors += _missing(declared[channel], sides, channel, index) if channel not in streams else []
    if errors:
        raise CompileError(*errors)
    joined = [
        (channel, index, sides.get(Endpoint(channel, index, True)), sides.get(Endpoint(channel, index, False)))
        for channel, index in places
    ]
    plans = tuple(
        _plan(declared[channel], index, writers[0], readers[0])
        for channel, index, writers, readers in joined
        if writers and readers
    )
    _check_bits(plans, most_bits)
    return plans


def _check_bits(plans: tuple[ChannelPlan, ...], most: int) -> None:
    total = 0
    for plan in plans:
        total += plan.depth * plan.bits
        if total > most:
            others = (
                f", and {total - plan.depth * plan.bits:,} those before it" if total > plan.depth * plan.bits else ""
            )
            raise CompileError.at(
                plan.span,
                f"channel '{plan.name}' of depth {plan.depth:,} holds {plan.depth * plan.bits:,} bits{others}; no "
                "device has more than "
                f"{most:,}",
                f"write a smaller depth; {exceeded('channel-bits')}",
                code=Code.BUDGET,
            )


def bound_stream(declared: MemoryObject, board: Board) -> Stream:
    """The board's stream that a channel is bound to; one of its own for what a kernel prints. Raises CompileError if no
    stream fits."""
    name = dict(declared.attrs)[Attr.IO]
    if shows_text(declared):
        return Stream(name, "out", declared.element.bits)
    stream = next((s for s in board.streams if s.name == name), None)
    if stream is None:
        known = ", ".join(f"{s.name} ({s.direction}, {s.bits} bits)" for s in board.streams) or "none"
        raise CompileError.at(
            declared.span,
            f"board {board.name} has no stream '{name}' for channel '{declared.name}'",
            f"its streams are: {known}; [[stream]] in the board's file adds one",
            code=Code.BOARD_STREAM,
        )
    if (declared.length or 1) > 1:
        raise CompileError.at(
            declared.span,
            f"the array '{declared.name}' cannot be bound to the one stream '{name}'",
            "declare a channel for each stream",
            code=Code.BOARD_STREAM,
        )
    if declared.element.bits != stream.bits:
        raise CompileError.at(
            declared.span,
            f"channel '{declared.name}' passes {declared.element.bits} bits, the board's stream '{name}' {stream.bits}",
            f"pass values of {stream.bits} bits, such as a struct or a vector",
            code=Code.BOARD_STREAM,
        )
    return stream


def _sides(kernels: Iterable[Function]) -> dict[Endpoint, list[_Side]]:
    found: dict[Endpoint, list[_Side]] = {}
    for kernel in kernels:
        for end, calls in channel_ends(kernel).items():
            found.setdefault(end, []).append(_Side(kernel.name, tuple(calls), calls[0].span))
    return found


def _outside(declared: MemoryObject, end: Endpoint, side: _Side) -> Diagnostic:
    what = f"index {end.index}" if end.index < NO_CHANNEL else "an index"
    return Diagnostic(
        f"{what} is outside '{end.channel}', which has {declared.length or 1} channels in all{_at(declared.span)}; "
        f"kernel {side.name} {'writes' if end.writes else 'reads'} there",
        side.span,
        "make the array larger, or guard the call by a condition that is known at compile time",
        code=Code.CHANNEL_INDEX,
    )


def _conflicts(declared: MemoryObject, end: Endpoint, sides: list[_Side]) -> list[Diagnostic]:
    verb, by = ("write", "written") if end.writes else ("read", "read")
    first = sides[0]
    return [
        Diagnostic(
            f"channel '{end.text(declared.length)}' is {by} by kernel {other.name}, and by {first.text}",
            other.span,
            f"let one kernel {verb} it, and give the other a channel of its own" + _bounded(*first.calls, *other.calls),
            code=Code.CHANNEL_SHARED,
        )
        for other in sides[1:]
    ]


def _missing(declared: MemoryObject, sides, channel: str, index: int) -> list[Diagnostic]:
    writes, reads = Endpoint(channel, index, True), Endpoint(channel, index, False)
    if writes in sides and reads in sides:
        return []
    there, does, does_not = (
        (sides[writes][0], "written", "reads") if writes in sides else (sides[reads][0], "read", "writes")
    )
    return [
        Diagnostic(
            f"channel '{writes.text(declared.length)}', declared{_at(declared.span)}, is {does} by kernel "
            f"{there.name}, "
            f"but no kernel {does_not} it",
            there.span,
            f"add a kernel that {does_not} it, or remove the call: {there.name} would wait for ever"
            + _bounded(*there.calls),
            code=Code.CHANNEL_OPEN,
        )
    ]


def _bounded(*calls: Op) -> str:
    """A second remedy for the message where a channel is only one of several that an index selects."""
    if not any(call.attrs.get(Attr.CHOSEN) for call in calls):
        return ""
    return "; if the index never comes to it, write it so that this is seen, as by 'k & 3' or 'k % 4'"


def _at(span: Span | None) -> str:
    return f" (line {span.line})" if span else ""


def _least(writer: _Side) -> int:
    """How many values the channel must hold so that its writer can proceed as in the program: wires hold none, and a
    value on its way to them can wait in the writer only if nothing waits for its call to complete."""
    return int(any(call.attrs[Attr.BLOCKING] and call.results for call in writer.calls))


def _asked_in_passing(*sides: _Side) -> bool:
    """Whether a call is answered within a pipeline. Without storage between them, such calls at both ends would form a
    combinational loop through two kernels."""
    return any(answers_at_once(call) for side in sides for call in side.calls)


def _plan(declared: MemoryObject, index: int, writer: _Side, reader: _Side) -> ChannelPlan:
    requested = dict(declared.attrs).get(Attr.CHANNEL_DEPTH)
    carries = dict(declared.attrs).get(Attr.CARRIES, "")
    passing = _asked_in_passing(writer, reader)
    storage = storage_for(DEFAULT_ROOM if requested is None else max(requested, _least(writer), passing))
    reason = ""
    if requested == 0 and passing:
        reason = "a non-blocking call needs a register that answers in the same cycle"
    elif requested == 0 and storage.depth:
        reason = (
            "operations after a write wait until the value is in the channel, which at depth 0 would be when it is read"
        )
    elif requested is None:
        reason = "no depth requested: the least that passes a value every cycle"
    elif storage.depth != requested:
        reason = "nature of the underlying FIFO: it needs two registers to pass a value every cycle"
    return ChannelPlan(
        channel=declared.name,
        index=index,
        name=Endpoint(declared.name, index, True).text(declared.length)
        if not carries
        else f"{carries}{_at(declared.span)}",
        bits=declared.element.bits,
        requested=requested,
        depth=storage.depth,
        storage=storage.kind,
        reason=reason,
        writer=writer.name,
        reader=reader.name,
        span=declared.span,
        write_span=writer.span,
        read_span=reader.span,
        stream=writer.stream or reader.stream,
        carries=carries,
    )

"""Facts about channels between kernels, and about deadlocks."""

from dataclasses import dataclass

from ...diag import Span

__all__ = ["Channel", "Depth", "Network", "Stop", "Way"]


@dataclass(frozen=True)
class Channel:
    """A channel, or ``count`` equal ones of an array, between two kernels. ``requested`` is the depth in the source
    (None: none), ``reason`` why the built ``depth`` differs; the spans are those of the first calls."""

    name: str
    span: Span | None
    bits: int
    requested: int | None
    depth: int
    storage: str  #: "wires", "registers", "LUT RAM" or "block RAM"
    reason: str
    writer: str
    write_span: Span | None
    reader: str
    read_span: Span | None
    count: int = 1
    indices: tuple[int, ...] = ()  #: of an array: those of the channels that the entry stands for
    stream: str = ""  #: "in" or "out" for a stream of the board, at whose end no kernel is


@dataclass(frozen=True)
class Stop:
    """One kernel of a deadlock: at ``span`` it waits for ``other`` to make room in a channel (``writes``), or to send a
    value."""

    kernel: str
    channel: str
    writes: bool
    other: str
    span: Span | None


@dataclass(frozen=True)
class Depth:
    """A channel, and the least depth at which no deadlock occurs."""

    channel: str
    depth: int


@dataclass(frozen=True)
class Network:
    """Kernels connected by channels. ``deadlock`` is the verdict: "impossible", "certain", "possible" or "unknown";
    ``reason`` says why. ``circle``: each waits for the next, the last for the first; ``depths`` would help."""

    kernels: tuple[str, ...]
    deadlock: str
    reason: str
    span: Span | None = None  #: what the reason refers to
    circle: tuple[Stop, ...] = ()
    depths: tuple[Depth, ...] = ()
    channels: tuple[str, ...] = ()  #: names of the entries of the channels between them


@dataclass(frozen=True)
class Way:
    """The latency of a value from one channel to another through a kernel: ``cycles`` if nothing stalls."""

    source: str
    target: str
    cycles: int

"""What the outside needs to know of a built system: kernels, their registers, the memory ports (data only)."""

from dataclasses import dataclass

from ..profile.layout import Layout

__all__ = [
    "WINDOW_BYTES",
    "ArgumentInterface",
    "CounterInterface",
    "KernelInterface",
    "MemoryInterface",
    "StreamInterface",
    "SystemInterface",
    "stream_prefix",
]

#: each kernel has a window of this size in the control port's address space
WINDOW_BYTES = 0x10000


@dataclass(frozen=True)
class ArgumentInterface:
    """A kernel argument: ``kind`` "buffer" (an address is passed), "scalar", "local" (a size in bytes is passed, at
    most ``limit``; None: any) or "pipe"; ``offset`` of its register in the window, which a pipe has none of: it is
    joined to the pipe of the same name.

    ``direction`` says what a kernel does with a buffer: "in", "out", "inout" or "unused". ``memory`` is the name of the
    memory that it must lie in; None for the board's default one. Its address must be a multiple of ``alignment`` bytes:
    the units look at no bits below.
    """

    name: str
    kind: str
    c_type: str
    bytes: int
    offset: int
    direction: str
    limit: int | None = None
    memory: str | None = None
    alignment: int = 1
    type: str = ""  #: the type of a scalar, or of what a pointer points to, without the program's own names of types


@dataclass(frozen=True)
class CounterInterface:
    """A hardware counter: ``offset`` of its 64-bit register in the window."""

    name: str
    offset: int
    bits: int


@dataclass(frozen=True)
class KernelInterface:
    """One kernel. ``base`` is where its register window begins; ``launch`` maps size names to register offsets.

    ``work_group_size`` is what the kernel requires, or None; ``most_work_items`` the largest group it has room for,
    None for any. The size of a group in dimension 0 must be a multiple of ``lanes``; ``units`` compute units share the
    groups. An ``autorun`` kernel is started by nobody. ``promised``: only the program knows that all work-items of a
    group reach its barriers.
    """

    name: str
    index: int
    base: int
    arguments: tuple[ArgumentInterface, ...]
    ndrange: bool
    launch: dict[str, int]
    counters: tuple[CounterInterface, ...]
    layout: Layout
    work_group_size: tuple[int, int, int] | None = None
    autorun: bool = False
    most_work_items: int | None = None
    lanes: int = 1
    units: int = 1
    promised: bool = False


@dataclass(frozen=True)
class RamPort:
    """A port of one access to plain on-chip memory: one access a cycle, never refused.

    ``NAME_addr`` (out) is the number of a word of ``bytes`` bytes; a load has ``NAME_en`` (out) and in the next cycle
    ``NAME_data`` (in), held until the next load; a store has ``NAME_data`` and ``NAME_strobe``, a bit for each byte
    (out).
    """

    name: str
    kernel: str
    buffer: str
    kind: str  #: "load" or "store"
    bytes: int
    address_bits: int


@dataclass(frozen=True)
class StreamInterface:
    """A stream between board and system, as ports ``io_in_NAME_valid``, ``_ready`` and ``_data`` (``io_out_NAME_...``
    where the system writes it): a value of ``bits`` bits moves in a cycle in which valid and ready are high."""

    name: str
    direction: str  #: "in" or "out", as the kernels see it
    bits: int
    channel: str


@dataclass(frozen=True)
class MemoryInterface:
    """One of the board's memories: global addresses [``base``, ``base + bytes``), of which pieces of
    ``interleave_bytes`` go round its ``banks``. Each bank has an AXI port; these are numbered through all memories."""

    name: str
    base: int
    bytes: int
    interleave_bytes: int
    banks: int


def stream_prefix(stream) -> str:
    """What the names of a stream's ports begin with."""
    return f"io_{stream.direction}_{stream.name}"


@dataclass(frozen=True)
class SystemInterface:
    """The whole system: ``axi`` holds the data width in bits of each bank's port, ``ram`` the ports of a board with
    memory on the chip; one of the two is empty. ``memories`` are those that the program uses, the default one, of which
    ``interleave_bytes`` is, first. ``control`` is "axi-lite" or "wires" (:class:`hls.options.Options`). With a
    ``double_clock`` there is a port ``sync2x_clk``: a clock of exactly twice the frequency of ``clk``, of which every
    rising edge is one of its rising edges."""

    top: str
    kernels: tuple[KernelInterface, ...]
    axi: tuple[int, ...]
    ram: tuple[RamPort, ...]
    address_bits: int
    interleave_bytes: int
    clock_mhz: float
    random_stalls: bool
    control: str = "axi-lite"
    streams: tuple[StreamInterface, ...] = ()
    double_clock: bool = False
    memories: tuple[MemoryInterface, ...] = ()

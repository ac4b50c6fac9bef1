"""The external interface of a built system: kernels, their registers, the memory ports (data only)."""

from dataclasses import dataclass

from ..ir import Parameter
from ..profile.layout import Layout
from ..profile.probe import ProbeMap
from ..target.board import Stream

__all__ = [
    "WINDOW_BYTES",
    "ArgumentInterface",
    "CounterInterface",
    "FieldInterface",
    "FormatInterface",
    "KernelInterface",
    "MemoryInterface",
    "PortInterface",
    "RegisterInterface",
    "StreamInterface",
    "SystemInterface",
    "VariableInterface",
    "stream_prefix",
    "variable_interface",
]

#: size of each kernel's window in the control port's address space
WINDOW_BYTES = 0x10000


@dataclass(frozen=True)
class VariableInterface:
    """A variable of the program in global memory: ``size`` bytes, which all kernels that use it share, and which last
    as long as the design. An argument of its name, behind those of the source, has its address. Before the first run it
    holds the bytes ``initial`` (hexadecimal, the first one first), and zeros behind these."""

    size: int
    initial: str

    @property
    def contents(self) -> bytes:
        """All of its first bytes."""
        return bytes.fromhex(self.initial).ljust(self.size, b"\0")


def variable_interface(parameter: Parameter) -> VariableInterface | None:
    """The variable that a hidden parameter of a kernel has the address of; None for parameters of the source."""
    if parameter.initial is None:
        return None
    return VariableInterface(parameter.initial.size, parameter.initial.data.hex())


@dataclass(frozen=True)
class ArgumentInterface:
    """A kernel argument: ``kind`` "buffer" (an address is passed), "scalar", "local" (a size in bytes is passed, at
    most ``limit``; None: any) or "pipe"; ``offset`` of its register in the window. A pipe has none: it is connected to
    the pipe of the same name.

    ``direction`` says what a kernel does with a buffer: "in", "out", "inout" or "unused". ``memory`` is the name of the
    memory that it must lie in; None for the board's default one. Its address must be a multiple of ``alignment`` bytes:
    the units ignore the bits below.
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
    type: str = ""  #: the type of a scalar, or the type a pointer points to, without type names of the program
    variable: VariableInterface | None = None  #: of an argument that the program does not have, see there


@dataclass(frozen=True)
class CounterInterface:
    """A hardware counter: ``offset`` of its 64-bit register in the window."""

    name: str
    offset: int
    bits: int


@dataclass(frozen=True)
class FieldInterface:
    """Bits ``lsb`` to ``lsb + bits - 1`` of a register. ``access`` is "rw", "r" or "w"; ``on_write`` "clear" if writing
    1 clears the bit and "set" if it starts something; what the hardware changes by itself is ``volatile``."""

    name: str
    lsb: int
    bits: int
    access: str
    description: str
    reset: int = 0
    on_write: str | None = None
    volatile: bool = False


@dataclass(frozen=True)
class RegisterInterface:
    """A register of ``bits`` bits (32, or 64: low word first) at ``offset`` in the kernel's window; ``count`` of them
    follow one another. ``kind`` is "control", "argument", "launch" or "counter", and ``name`` is unique in its kind."""

    name: str
    kind: str
    offset: int
    bits: int
    fields: tuple[FieldInterface, ...]
    description: str
    count: int = 1


@dataclass(frozen=True)
class KernelInterface:
    """One kernel. ``base`` is the address of its register window; ``launch`` maps size names to register offsets.

    ``work_group_size`` is the size that the kernel requires, or None; ``most_work_items`` the largest group it has room
    for, None for any. The size of a group in dimension 0 must be a multiple of ``lanes``; ``units`` compute units share
    the groups. An ``autorun`` kernel starts by itself. ``promised``: only the program asserts that all work-items of a
    group reach its barriers. A launch has at most ``most_dims`` dimensions, and an offset only if it ``may_be_offset``.
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
    most_dims: int = 3
    may_be_offset: bool = True
    registers: tuple[RegisterInterface, ...] = ()  #: all of the window, in the order of their offsets

    @property
    def given(self) -> tuple[ArgumentInterface, ...]:
        """The arguments that the program has, and that the host sets."""
        return tuple(one for one in self.arguments if one.variable is None)


@dataclass(frozen=True)
class PortInterface:
    """A port of the top module, ``bits`` wide; ``direction`` "in" or "out"."""

    name: str
    direction: str
    bits: int


@dataclass(frozen=True)
class RamPort:
    """A port of one access to plain on-chip memory: one access per cycle, never refused.

    ``NAME_addr`` (out) is the number of a word of ``bytes`` bytes. A load has ``NAME_en`` (out) and in the next cycle
    ``NAME_data`` (in), held until the next load. A store has ``NAME_data`` and ``NAME_strobe``, a bit for each byte
    (out).
    """

    name: str
    kernel: str
    buffer: str
    kind: str  #: "load" or "store"
    bytes: int
    address_bits: int


@dataclass(frozen=True)
class FormatInterface:
    """A format of printf: C's format string, and the types of its arguments, such as "i32" or "f64"."""

    text: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class StreamInterface:
    """A stream between board and system, as ports ``io_in_NAME_valid``, ``_ready`` and ``_data`` (``io_out_NAME_...``
    where the system writes it): a value of ``bits`` bits moves in a cycle in which valid and ready are high.

    A stream with ``formats`` carries what the kernel ``prints_for`` prints, in records of 32-bit lanes: lane 0 is the
    number of a format, and its arguments follow (:mod:`hls.ir.printing`). With ``places``, so many lanes stand between
    the two: the records of a launch are shown in the order of these lanes, the first of which counts most."""

    name: str
    direction: str  #: "in" or "out", as seen by the kernels
    bits: int
    channel: str
    formats: tuple[FormatInterface, ...] = ()
    prints_for: str = ""
    places: int = 0


@dataclass(frozen=True)
class MemoryInterface:
    """One of the board's memories: global addresses [``base``, ``base + bytes``), interleaved over its ``banks`` in
    pieces of ``interleave_bytes``. Each bank has an AXI port; these are numbered through all memories. A port has at
    most ``outstanding`` reads, and as many writes, whose answer has not come."""

    name: str
    base: int
    bytes: int
    interleave_bytes: int
    banks: int
    outstanding: int


def stream_prefix(stream: "Stream | StreamInterface") -> str:
    """The common prefix of a stream's port names."""
    return f"io_{stream.direction}_{stream.name}"


@dataclass(frozen=True)
class SystemInterface:
    """The whole system: ``axi`` holds the data width in bits of each bank's port, ``ram`` the ports of a board with
    on-chip memory; one of the two is empty. ``memories`` are those that the program uses, the default one first;
    ``interleave_bytes`` is that of the default one. ``control`` is "axi-lite" or "wires"
    (:class:`hls.options.Options`). With a ``double_clock`` the port ``sync2x_clk`` exists: a clock of exactly twice the
    frequency of ``clk``, aligned so that every rising edge of ``clk`` is one of its rising edges."""

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
    probe: ProbeMap | None = None  #: the output ``probe``, for simulation
    ports: tuple[PortInterface, ...] = ()  #: of the top module: clock and reset first
    reset_active: str = "high"  #: the level of the reset, which is the port ``rst``, or if "low" ``rst_n``

    @property
    def layouts(self) -> dict[str, Layout]:
        """The counters of all kernels and of their parts, by name, in the order of the kernels."""
        return {one.kernel: one for kernel in self.kernels for one in (kernel.layout, *kernel.layout.parts)}

"""Boards: the frozen facts about clock, device and memory that the compiler and the simulated board share."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .delay import DelayModel, known_delays, load_delays
from .table import BoardError, Table, read_toml

__all__ = [
    "FLOWS",
    "Bank",
    "Board",
    "BoardError",
    "Clock",
    "Device",
    "DramTiming",
    "Dsps",
    "Host",
    "Memory",
    "Rams",
    "SramTiming",
    "Stream",
    "board_and_clock",
    "known_boards",
    "load_board",
]

#: the tools of a flow, by its name in board files
FLOWS = {"ecp5": "yosys, nextpnr-ecp5", "quartus": "Intel Quartus", "vivado": "AMD Vivado"}
BEATS = 8  # data beats of one DDR3 or DDR4 burst
ACTIVATES = 4  # rows that may be opened in a window of tFAW


@dataclass(frozen=True)
class Clock:
    """The kernel clock."""

    kernel_mhz: float

    @property
    def period_ns(self) -> float:
        """The clock period in ns."""
        return 1000.0 / self.kernel_mhz


@dataclass(frozen=True)
class Rams:
    """Block RAMs: their number, and the bits in each (parity bits included). ``pumped_mhz`` is the highest kernel clock
    at which blocks are known to work at twice that clock; 0 if unknown."""

    count: int
    bits: int
    pumped_mhz: float = 0.0


@dataclass(frozen=True)
class Dsps:
    """DSP blocks, and how many 18-bit multipliers they hold together."""

    count: int
    multipliers: int


@dataclass(frozen=True)
class Device:
    """The resources of the FPGA. ``delays`` names its delay table (see :mod:`hls.target.delay`)."""

    family: str
    part: str
    delays: str
    logic_cell: str  #: what ``logic_cells`` counts: "alm" or "lut4"
    logic_cells: int
    registers: int
    lutram_bits: int
    rams: Rams
    dsps: Dsps


@dataclass(frozen=True)
class DramTiming:
    """Timing of one memory channel, in periods of ``tck_ns`` unless the name gives another unit."""

    tck_ns: float
    CL: int
    CWL: int
    tRCD: int
    tRP: int
    tRAS: int
    tCCD_S: int
    tCCD_L: int
    tRRD_S: int
    tRRD_L: int
    tFAW: int
    tWR: int
    tRTP: int
    tWTR_S: int
    tWTR_L: int
    tREFI: int
    tRFC: int
    bank_groups: int
    banks_per_group: int
    row_bytes: int
    bus_bits: int
    queue: int
    batch: int
    row_hit_cap: int
    controller_latency_ns: float

    @property
    def burst_ns(self) -> float:
        """How long a burst occupies the data bus: two beats per clock."""
        return BEATS / 2 * self.tck_ns

    @property
    def bytes_per_ns(self) -> float:
        """Peak rate of the data bus (GB/s): two transfers per clock."""
        return 2 * self.bus_bits / 8 / self.tck_ns

    @property
    def in_use(self) -> float:
        """The share of time that refresh leaves to accesses."""
        return 1 - self.tRFC / self.tREFI

    @property
    def row_ns(self) -> float:
        """Time between accesses that each open a row, refresh not counted: ACTIVATES of them in tFAW, two tRRD_S apart,
        and those of one bank tRAS + tRP."""
        banks = self.bank_groups * self.banks_per_group
        return max(self.tFAW / ACTIVATES, (self.tRAS + self.tRP) / banks, self.tRRD_S) * self.tck_ns

    @property
    def first_word_ns(self) -> float:
        """From a request at the controller to the end of the first burst, of a row that must be opened, without other
        traffic."""
        return self.controller_latency_ns + (self.tRCD + self.CL) * self.tck_ns + self.burst_ns


@dataclass(frozen=True)
class SramTiming:
    """Timing of one bank of static memory with a read port and a write port, such as QDR: each port accepts a word
    every ``word_ns``, at any address, and responds ``latency_ns`` later, controller included."""

    word_ns: float
    latency_ns: float


@dataclass(frozen=True)
class Bank:
    """One physical memory bank, which has an AXI port (or a RAM) of its own."""

    bytes: int


@dataclass(frozen=True)
class Memory:
    """Global memory of one kind. ``timing`` is None for kind "onchip". Its bytes have global addresses from ``base``, a
    multiple of its size."""

    kind: str  #: "ddr", "sram" or "onchip"
    interleave_bytes: int
    word_bytes: int  #: data width of a bank's port
    read_latency: int  #: typical latency under load, in kernel cycles
    banks: tuple[Bank, ...]
    timing: DramTiming | SramTiming | None
    name: str = "DDR"  #: as used in programs and options
    base: int = 0

    @property
    def bytes(self) -> int:
        """Size of all banks together."""
        return sum(bank.bytes for bank in self.banks)

    @property
    def end(self) -> int:
        """The first global address after the memory."""
        return self.base + self.bytes

    @property
    def interleaved(self) -> bool:
        """Whether consecutive pieces lie in different banks."""
        return self.interleave_bytes < self.banks[0].bytes

    def peak_bytes_per_ns(self, period_ns: float) -> float:
        """Peak bandwidth (GB/s) over all banks, limited by the memory itself; for static memory, in one direction.
        Memory on the chip moves a word of each bank every ``period_ns``, the kernel's clock period."""
        if isinstance(self.timing, DramTiming):
            one = self.timing.bytes_per_ns
        else:
            one = self.word_bytes / (self.timing.word_ns if self.timing else period_ns)
        return one * len(self.banks)

    def partitioned(self) -> "Memory":
        """The same memory with its banks one after the other instead of interleaved."""
        return replace(self, interleave_bytes=self.banks[0].bytes)


@dataclass(frozen=True)
class Stream:
    """A stream between the board and kernels, such as a network port: an I/O channel is bound to it by its name."""

    name: str
    direction: str  #: "in": kernels read it, or "out": kernels write it
    bits: int  #: of a value


@dataclass(frozen=True)
class Host:
    """The link between host and board. A transfer takes ``latency_ns`` and its bytes at ``bytes_per_ns`` (GB/s); a
    launch begins ``launch_ns`` after its call at the earliest."""

    bytes_per_ns: float = 6.0
    latency_ns: float = 0.0
    launch_ns: float = 0.0


@dataclass(frozen=True)
class Board:
    """A board as read from its file. Buffers lie in ``memory`` unless the program names one of the ``others``."""

    name: str
    description: str
    clock: Clock
    device: Device
    memory: Memory
    streams: tuple[Stream, ...] = ()
    others: tuple[Memory, ...] = ()
    host: Host = Host()
    flow: str = ""  #: the tools that make a bitstream for it; one of ``FLOWS``, or "" if the file does not say

    def at_clock(self, kernel_mhz: float) -> "Board":
        """The same board with another kernel clock. What memory outside the chip takes in ns, it takes in other numbers
        of cycles then; memory on the chip has the clock of the kernels."""

        def at(memory: Memory) -> Memory:
            if memory.timing is None:
                return memory
            cycles = memory.read_latency * kernel_mhz / self.clock.kernel_mhz
            return replace(memory, read_latency=max(1, math.ceil(cycles)))

        return replace(
            self, clock=Clock(kernel_mhz), memory=at(self.memory), others=tuple(at(one) for one in self.others)
        )

    @property
    def memories(self) -> tuple[Memory, ...]:
        """All global memories, the default one first."""
        return (self.memory, *self.others)

    def memory_named(self, name: str | None) -> Memory | None:
        """The memory of that name; "default" (or None) means the first. None if there is no such memory."""
        if name in (None, "default"):
            return self.memory
        return next((memory for memory in self.memories if memory.name == name), None)

    def with_memory(self, changed: Memory) -> "Board":
        """The same board with this memory in place of the one of the same name."""
        first, *others = (changed if one.name == changed.name else one for one in self.memories)
        return replace(self, memory=first, others=tuple(others))

    def using(self, names: Collection[str]) -> "Board":
        """The board as seen by a program that uses the memories of these names: with them and the default one."""
        return replace(self, others=tuple(one for one in self.others if one.name in names))

    @property
    def peak_bytes_per_ns(self) -> float:
        """Peak bandwidth of the default memory."""
        return self.memory.peak_bytes_per_ns(self.clock.period_ns)

    @property
    def bytes(self) -> int:
        """The end of the global addresses, over all memories."""
        return max(memory.end for memory in self.memories)

    @property
    def address_bits(self) -> int:
        """The width of a byte offset into any buffer, and of a global address."""
        return max(13, (self.bytes - 1).bit_length())

    @property
    def read_latency(self) -> int:
        """Typical latency of the slowest memory under load, in kernel cycles."""
        return max(memory.read_latency for memory in self.memories)

    def delay_model(self, kernel_mhz: float | None = None) -> DelayModel:
        """The delays of the board's device at its kernel clock, or at another one."""
        return load_delays(self.device.delays, Clock(kernel_mhz or self.clock.kernel_mhz).period_ns)


#: the board files of the package; not located through Python's import system, which may find a user's folder ``boards``
BOARDS = Path(__file__).resolve().parents[2] / "boards"


def known_boards() -> tuple[str, ...]:
    """Names of the boards of the package, in alphabetical order."""
    names = (item.name for item in BOARDS.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


#: kernel clocks that a board file and a command line may ask for, in MHz
MHZ = (1, 2000)


def board_and_clock(text: str) -> tuple[str, float | None]:
    """The two parts of ``BOARD@MHZ``: the name or file of the board, and the kernel clock if there is one. Raises
    BoardError for a clock out of range."""
    found = re.fullmatch(r"(.+)@(\d+(?:\.\d+)?)", text)
    if found is None:
        return text, None
    low, high = MHZ
    if not low <= float(found[2]) <= high:
        raise BoardError(text, "", f"the kernel clock must be {low} to {high:,} MHz, not {found[2]}")
    return found[1], float(found[2])


def load_board(name_or_path: str | Path) -> Board:
    """The board of that name, or the one described by the file at that path (a ``.toml`` or anything with a slash).
    ``@`` and a number of MHz behind either ask for another kernel clock.

    Raises :class:`BoardError` for an unknown name, an unreadable file, or an invalid file, naming the key.
    """
    if isinstance(name_or_path, Path):
        return _load(name_or_path)
    name, mhz = board_and_clock(name_or_path)
    return _load(name) if mhz is None else _load(name).at_clock(mhz)


def _load(name_or_path: str | Path) -> Board:
    text = str(name_or_path)
    if text.endswith(".toml") or "/" in text or isinstance(name_or_path, Path):
        return read_board(read_toml(Path(name_or_path)))
    if text not in known_boards():
        raise BoardError(
            text, "", f"unknown board; known are {', '.join(known_boards())}, or give the path of a .toml file"
        )
    return read_board(read_toml(BOARDS.joinpath(f"{text}.toml")))


def read_board(root: Table) -> Board:
    """Check a parsed board file and freeze it."""
    head, memory = root.table("board"), _read_memory(root.table("memory"))
    board = Board(
        name=head.text("name"),
        description=head.text("description"),
        clock=_read_clock(root.table("clock")),
        device=_read_device(root.table("device")),
        memory=memory,
        streams=_read_streams(root),
        others=_read_others(root, memory),
        host=_read_host(root.table("host")) if "host" in root else Host(),
        flow=head.text("flow", tuple(FLOWS)) if "flow" in head else "",
    )
    head.close()
    root.close()
    return board


def _read_streams(root: Table) -> tuple[Stream, ...]:
    streams: list[Stream] = []
    for table in root.tables("stream") if "stream" in root else ():
        stream = Stream(table.text("name"), table.text("direction", ("in", "out")), table.integer("bits", 8, 4096))
        if not stream.name.isidentifier() or stream.name in {other.name for other in streams}:
            raise table.error(
                "name", f"must be letters, digits and _, and different for each stream, not {stream.name!r}"
            )
        if stream.bits % 8:
            raise table.error("bits", f"must be whole bytes, not {stream.bits}")
        table.close()
        streams.append(stream)
    return tuple(streams)


def _read_host(table: Table) -> Host:
    host = Host(
        table.number("bytes_per_ns", 0.001, 10_000),
        table.number("latency_ns", 0, 1e9),
        table.number("launch_ns", 0, 1e9),
    )
    table.close()
    return host


def _read_clock(table: Table) -> Clock:
    clock = Clock(table.number("kernel_mhz", *MHZ))
    table.close()
    return clock


def _read_device(table: Table) -> Device:
    rams, dsps = table.table("rams"), table.table("dsps")
    device = Device(
        family=table.text("family"),
        part=table.text("part"),
        delays=table.text("delays", known_delays()),
        logic_cell=table.text("logic_cell", ("alm", "lut4")),
        logic_cells=table.integer("logic_cells", 1),
        registers=table.integer("registers", 1),
        lutram_bits=table.integer("lutram_bits", 0),
        rams=Rams(
            rams.integer("count", 0),
            rams.integer("bits", 1),
            rams.number("pumped_mhz", 1, 2000) if "pumped_mhz" in rams else 0.0,
        ),
        dsps=Dsps(dsps.integer("count", 0), dsps.integer("multipliers", 0)),
    )
    for part in (table, rams, dsps):
        part.close()
    return device


def _read_others(root: Table, first: Memory) -> tuple[Memory, ...]:
    """The memories other than the default one, each at the next address that is a multiple of its size."""
    found = [first]
    for table in root.tables("other_memory") if "other_memory" in root else ():
        if first.kind == "onchip":
            raise table.error("kind", "a board whose default memory is on the chip has no bus that another could be on")
        if table.text("kind") == "onchip":
            raise table.error(
                "kind", 'must be "ddr" or "sram": memory on the chip is reached over a bus here, as "sram" is'
            )
        table.text("name")  # programs refer to it by this name
        memory = _read_memory(table)
        if not memory.name.isidentifier() or memory.name in ("default", *(one.name for one in found)):
            raise table.error(
                "name", f"must be letters, digits and _, and different for each memory, not {memory.name!r}"
            )
        found.append(replace(memory, base=-(-found[-1].end // memory.bytes) * memory.bytes))
    return tuple(found[1:])


def _read_memory(table: Table) -> Memory:
    kind = table.text("kind", ("ddr", "sram", "onchip"))
    if kind == "onchip" and "timing" in table:
        raise table.error("timing", 'is for kind = "ddr" or "sram" only: on-chip memory has no timing of its own')
    memory = Memory(
        kind=kind,
        interleave_bytes=table.integer("interleave_bytes", 4, power_of_two=True),
        word_bytes=table.integer("word_bytes", 4, 64, power_of_two=True),
        read_latency=table.integer("read_latency", 1, 100_000),
        banks=tuple(_read_bank(bank) for bank in table.tables("bank")),
        timing=None
        if kind == "onchip"
        else _read_timing(table.table("timing"))
        if kind == "ddr"
        else _read_sram(table.table("timing")),
        name=table.text("name", default={"ddr": "DDR", "sram": "SRAM", "onchip": "RAM"}[kind]),
    )
    table.close()
    _check_memory(table, memory)
    return memory


def _read_bank(table: Table) -> Bank:
    bank = Bank(table.integer("bytes", 1024, 1 << 48, power_of_two=True))
    table.close()
    return bank


def _read_sram(table: Table) -> SramTiming:
    timing = SramTiming(table.number("word_ns", 0.1, 10_000), table.number("latency_ns", 0, 10_000))
    table.close()
    return timing


SHAPES = {"bank_groups", "banks_per_group", "row_bytes", "bus_bits"}  # address fields: powers of two


def _read_timing(table: Table) -> DramTiming:
    values: dict[str, Any] = {}
    for field in fields(DramTiming):
        if field.type is float:
            values[field.name] = table.number(field.name, 0.1 if field.name == "tck_ns" else 0, 10_000)
        else:
            values[field.name] = table.integer(field.name, 1, 1 << 20, power_of_two=field.name in SHAPES)
    table.close()
    timing = DramTiming(**values)
    for short, long in (
        ("tCCD_S", "tCCD_L"),
        ("tRRD_S", "tRRD_L"),
        ("tWTR_S", "tWTR_L"),
        ("tRCD", "tRAS"),
        ("tRRD_S", "tFAW"),
        ("tRFC", "tREFI"),
    ):
        if values[short] > values[long]:
            raise table.error(long, f"must be at least {short} = {values[short]}, not {values[long]}")
    if timing.bus_bits < 8 or timing.row_bytes < timing.bus_bits // 8 * BEATS:
        raise table.error("row_bytes", f"must hold a burst of {BEATS} beats of a bus of 8 bits or more")
    return timing


def _check_memory(table: Table, memory: Memory) -> None:
    if memory.interleave_bytes < memory.word_bytes:
        raise table.error("interleave_bytes", f"must be at least word_bytes = {memory.word_bytes}")
    if len(memory.banks) & (len(memory.banks) - 1):
        raise table.error("bank", f"must be 1, 2, 4 ... banks to interleave them, not {len(memory.banks)}")
    for index, bank in enumerate(memory.banks):
        if bank != memory.banks[0]:
            raise table.error(
                f"bank[{index}].bytes",
                f"must be {memory.banks[0].bytes} as in bank[0]: interleaved banks are of one size",
            )
        if bank.bytes < memory.interleave_bytes:
            raise table.error(f"bank[{index}].bytes", "must be at least interleave_bytes")
    timing = memory.timing
    if isinstance(timing, DramTiming) and memory.word_bytes % (timing.bus_bits // 8 * BEATS):
        raise table.error(
            "word_bytes",
            f"must be a multiple of one burst: {BEATS} beats of {timing.bus_bits} bits "
            f"are {timing.bus_bits // 8 * BEATS} bytes",
        )

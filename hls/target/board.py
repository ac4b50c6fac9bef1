"""Boards: the frozen facts about clock, device and memory that the compiler and the simulated board share."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from .cell import LogicCell, logic_cells
from .delay import DelayModel, known_delays, load_delays
from .memory import Bank, DramTiming, Memory, PortTiming
from .memory_file import read_memory
from .soc import Soc, read_soc
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
    "PortTiming",
    "Rams",
    "Soc",
    "Stream",
    "board_and_clock",
    "known_boards",
    "known_instead",
    "load_board",
]

#: the tools of a flow, by its name in board files
FLOWS = {
    "ecp5": "yosys, nextpnr-ecp5",
    "gowin": "yosys, nextpnr-himbaechel",
    "nexus": "yosys, nextpnr-nexus",
    "quartus": "Intel Quartus",
    "vivado": "AMD Vivado",
}


@dataclass(frozen=True)
class Clock:
    """The kernel clock. Schedules leave a share of its period, the ``reserve``, for longer wires in a whole system."""

    kernel_mhz: float
    reserve: float = 0.0

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
    logic_cell: str  #: what ``logic_cells`` counts (:mod:`hls.target.cell`)
    logic_cells: int
    registers: int
    lutram_bits: int
    rams: Rams
    dsps: Dsps
    speed_grade: str = ""  #: as the vendor writes it; "" if the file does not say

    @property
    def cell(self) -> LogicCell:
        """What one of ``logic_cells`` holds."""
        return logic_cells()[self.logic_cell]


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
    soc: Soc | None = None  #: how a whole system is made for it; None if the file does not say

    def at_clock(self, kernel_mhz: float) -> "Board":
        """The same board with another kernel clock. What memory outside the chip takes in ns, it takes in other numbers
        of cycles then; memory on the chip has the clock of the kernels."""

        def at(memory: Memory) -> Memory:
            if memory.timing is None:
                return memory
            cycles = memory.read_latency * kernel_mhz / self.clock.kernel_mhz
            return replace(memory, read_latency=max(1, math.ceil(cycles)))

        return replace(
            self,
            clock=replace(self.clock, kernel_mhz=kernel_mhz),
            memory=at(self.memory),
            others=tuple(at(one) for one in self.others),
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

    def behind(self, ports: int) -> "Board":
        """The same board with so many ports to each of its memories (:meth:`Memory.behind`)."""
        return replace(self, memory=self.memory.behind(ports), others=tuple(one.behind(ports) for one in self.others))

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
        """The delays of the board's device at its kernel clock, or at another one, and the period without reserve."""
        period = Clock(kernel_mhz or self.clock.kernel_mhz).period_ns
        return load_delays(self.device.delays, period * (1 - self.clock.reserve))


#: the board files of the package; not located through Python's import system, which may find a user's folder ``boards``
BOARDS = Path(__file__).resolve().parents[2] / "boards"


def known_boards() -> tuple[str, ...]:
    """Names of the boards of the package, in alphabetical order."""
    names = (item.name for item in BOARDS.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


#: kernel clocks that a board file and a command line may ask for, in MHz
MHZ = (1, 2000)
#: of a period
MOST_RESERVE = 0.5


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


def known_instead(name: str) -> str:
    """What a message of an unknown board goes on with: the most similar name, and all of them."""
    near = get_close_matches(name, known_boards(), 1)
    meant = f"; did you mean {near[0]}? Known" if near else "; known"
    return f"{meant} are {', '.join(known_boards())}, or give the path of a .toml file"


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
        raise BoardError(text, "", f"unknown board{known_instead(text)}")
    return read_board(read_toml(BOARDS.joinpath(f"{text}.toml")))


def read_board(root: Table) -> Board:
    """Check a parsed board file and freeze it."""
    head, memory = root.table("board"), read_memory(root.table("memory"))
    others = _read_others(root, memory)
    board = Board(
        name=head.text("name"),
        description=head.text("description"),
        clock=_read_clock(root.table("clock")),
        device=_read_device(root.table("device")),
        memory=memory,
        streams=_read_streams(root),
        others=others,
        host=_read_host(root.table("host")) if "host" in root else Host(),
        flow=head.text("flow", tuple(FLOWS)) if "flow" in head else "",
        soc=read_soc(root.table("soc"), memory, len(others)) if "soc" in root else None,
    )
    if board.soc is not None and board.flow != "ecp5":
        raise head.error("flow", 'must be "ecp5" for a board with a table [soc]: no other flow makes a bitstream here')
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
        table.number("bytes_per_ns", 0.00001, 10_000),
        table.number("latency_ns", 0, 1e9),
        table.number("launch_ns", 0, 1e9),
    )
    table.close()
    return host


def _read_clock(table: Table) -> Clock:
    reserve = table.number("reserve", 0, MOST_RESERVE) if "reserve" in table else 0.0
    clock = Clock(table.number("kernel_mhz", *MHZ), reserve)
    table.close()
    return clock


def _read_device(table: Table) -> Device:
    rams, dsps = table.table("rams"), table.table("dsps")
    device = Device(
        family=table.text("family"),
        part=table.text("part"),
        delays=table.text("delays", known_delays()),
        logic_cell=table.text("logic_cell", tuple(logic_cells())),
        logic_cells=table.integer("logic_cells", 1),
        registers=table.integer("registers", 1),
        lutram_bits=table.integer("lutram_bits", 0),
        rams=Rams(
            rams.integer("count", 0),
            rams.integer("bits", 1),
            rams.number("pumped_mhz", 1, 2000) if "pumped_mhz" in rams else 0.0,
        ),
        dsps=Dsps(dsps.integer("count", 0), dsps.integer("multipliers", 0)),
        speed_grade=table.text("speed_grade") if "speed_grade" in table else "",
    )
    _check_grade(table, device)
    for part in (table, rams, dsps):
        part.close()
    return device


def _check_grade(table: Table, device: Device) -> None:
    """The delay table must be of the device's speed grade where both say theirs."""
    delays = load_delays(device.delays, 1.0)
    if device.speed_grade and delays.grade and device.speed_grade != delays.grade:
        raise table.error(
            "delays",
            f"is of speed grade {delays.grade}, not {device.speed_grade}: choose the table of the device's grade, of "
            f"{', '.join(known_delays())}",
        )


def _read_others(root: Table, first: Memory) -> tuple[Memory, ...]:
    """The memories other than the default one, each at the next address that is a multiple of its size."""
    found = [first]
    for table in root.tables("other_memory") if "other_memory" in root else ():
        if first.kind == "onchip":
            raise table.error("kind", "a board whose default memory is on the chip has no bus that another could be on")
        if table.text("kind") == "onchip":
            raise table.error(
                "kind",
                'must be "ddr", "sdr", "sram" or "axi": memory on the chip is reached over a bus here, as "sram" is',
            )
        table.text("name")  # programs refer to it by this name
        memory = read_memory(table)
        if not memory.name.isidentifier() or memory.name in ("default", *(one.name for one in found)):
            raise table.error(
                "name", f"must be letters, digits and _, and different for each memory, not {memory.name!r}"
            )
        found.append(replace(memory, base=-(-found[-1].end // memory.bytes) * memory.bytes))
    return tuple(found[1:])

"""The description of a compiled design: ``interface.json``, the one source of every export.

docs/interface.schema.json has its schema; ``python -m hls.export.description`` prints that.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..records import plain, record_of, schema_of
from ..rtl.interface import WINDOW_BYTES, SystemInterface, stream_prefix
from ..target.board import Board

__all__ = [
    "SCHEMA",
    "Bus",
    "ClockPort",
    "Description",
    "DescriptionError",
    "InterruptBit",
    "ResetPort",
    "Target",
    "describe",
    "half_period_ns",
    "read_description",
    "schema_text",
    "write_description",
]

#: version of the fields; keys are added within a version, and never change their meaning
SCHEMA = 1
FILE = "interface.json"
#: AXI4 managers: width of IDs, and most beats of a burst
ID_BITS, BURST = 1, 16
#: the subordinate of the registers
CONTROL_DATA_BITS, CONTROL_ADDRESS_BITS = 32, 24


class DescriptionError(Exception):
    """A folder without a description that this version can read; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def half_period_ns(mhz: float) -> float:
    """Half a period of a clock in ns, in whole picoseconds, so that the period of a clock of twice the frequency is
    exactly half of the other; never longer than it is."""
    return int(1e6 / mhz) // 2 / 1000


@dataclass(frozen=True)
class ClockPort:
    """A clock input. ``mhz`` is the frequency that the design was scheduled for; ``ratio`` its multiple of ``clk``,
    whose rising edges it shares."""

    port: str
    mhz: float
    ratio: int


@dataclass(frozen=True)
class ResetPort:
    """The reset input; ``active`` "high" or "low", synchronous to ``clock``, for at least ``cycles`` cycles."""

    port: str
    active: str
    clock: str
    cycles: int


@dataclass(frozen=True)
class Bus:
    """Ports that make up a bus. Their names are ``name``, an underscore, and the signal's name in lower case.

    ``protocol`` is "axi4", "axi4-lite", "stream" (valid, ready, data), "ram" (see ``ram``) or "wires" (of one kernel);
    ``role`` "manager" or "subordinate", and of a stream "source" or "sink", as seen from the design. ``address_bits``
    and ``id_bits`` are 0 where there are none, ``burst`` is the most beats of one, ``outstanding`` the most bursts of
    each direction whose answer has not come. ``memory`` and ``bank`` say which
    bank of the board an AXI4 manager reaches; ``bytes`` is its size, or that of the registers.
    """

    name: str
    protocol: str
    role: str
    data_bits: int
    address_bits: int = 0
    id_bits: int = 0
    burst: int = 0
    outstanding: int = 0
    bytes: int = 0
    memory: str | None = None
    bank: int | None = None


@dataclass(frozen=True)
class InterruptBit:
    """Bit ``bit`` of ``port``: a level, high from the end of a run of ``kernel`` until *done* is cleared."""

    port: str
    bit: int
    kernel: str


@dataclass(frozen=True)
class Target:
    """The board that the design was made for, and its device."""

    board: str
    family: str
    part: str


@dataclass(frozen=True)
class Description(SystemInterface):
    """A design as others see it. ``files`` are those of ``rtl/`` in an order in which each module comes before the ones
    that contain it; ``digest`` is the SHA-256 of their texts, without comments on how they were made. ``version`` and
    ``command`` say how the design was made; the command is empty if the compiler was called as a library."""

    schema: int = SCHEMA
    version: str = ""
    command: str = ""
    digest: str = ""
    target: Target = Target("", "", "")
    clocks: tuple[ClockPort, ...] = ()
    resets: tuple[ResetPort, ...] = ()
    buses: tuple[Bus, ...] = ()
    interrupts: tuple[InterruptBit, ...] = ()
    files: tuple[str, ...] = ()
    waivers: str = ""  #: the file in ``rtl/`` that keeps Verilator's style warnings about the others silent


def describe(
    interface: SystemInterface,
    board: Board,
    prefix: str,
    verilog: Mapping[str, str],
    version: str = "",
    command: str = "",
) -> Description:
    """The description of a built system. ``prefix`` is in front of its names (``top`` of ``interface`` is without it),
    ``verilog`` its files in their order."""
    given = {field.name: getattr(interface, field.name) for field in dataclasses.fields(SystemInterface)}
    mhz = interface.clock_mhz
    clocks = [ClockPort("clk", mhz, 1), *([ClockPort("sync2x_clk", 2 * mhz, 2)] if interface.double_clock else [])]
    return Description(
        **given | {"top": f"{prefix}{interface.top}"},
        version=version,
        command=command,
        digest=digest(verilog),
        target=Target(board.name, board.device.family, board.device.part),
        clocks=tuple(clocks),
        resets=(ResetPort("rst" if interface.reset_active == "high" else "rst_n", interface.reset_active, "clk", 1),),
        buses=tuple(_buses(interface)),
        interrupts=tuple(_interrupts(interface)),
        files=tuple(verilog),
        waivers=f"{prefix}lint.vlt",
    )


def digest(verilog: Mapping[str, str]) -> str:
    """SHA-256 of all texts with their names, in hexadecimal digits."""
    found = hashlib.sha256()
    for name, text in sorted(verilog.items()):
        for part in (name, text):
            data = part.encode()
            found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


def _buses(interface: SystemInterface) -> Iterator[Bus]:
    if interface.control == "axi-lite":
        size = len(interface.kernels) * WINDOW_BYTES
        yield Bus("s_axil", "axi4-lite", "subordinate", CONTROL_DATA_BITS, CONTROL_ADDRESS_BITS, bytes=size)
    else:
        for kernel in interface.kernels:
            if not kernel.autorun:
                yield Bus(kernel.name, "wires", "subordinate", 0)
    banks = [(one, bank) for one in interface.memories for bank in range(one.banks)] if interface.axi else []
    widths = {port.name: port.bits for port in interface.ports}
    for number, (bits, (memory, bank)) in enumerate(zip(interface.axi, banks, strict=True)):
        yield Bus(
            name=f"m_axi{number}",
            protocol="axi4",
            role="manager",
            data_bits=bits,
            address_bits=widths[f"m_axi{number}_araddr"],
            id_bits=ID_BITS,
            burst=BURST,
            outstanding=memory.outstanding,
            bytes=memory.bytes // memory.banks,
            memory=memory.name,
            bank=bank,
        )
    for ram in interface.ram:
        yield Bus(ram.name, "ram", "manager", 8 * ram.bytes, ram.address_bits)
    for stream in interface.streams:
        yield Bus(stream_prefix(stream), "stream", "sink" if stream.direction == "in" else "source", stream.bits)


def _interrupts(interface: SystemInterface) -> Iterator[InterruptBit]:
    if interface.control == "axi-lite":
        for kernel in interface.kernels:
            if not kernel.autorun:
                yield InterruptBit("interrupt", kernel.index, kernel.name)


def write_description(description: Description) -> str:
    """The text of ``interface.json``."""
    return json.dumps(plain(description), indent=2) + "\n"


def read_description(folder: Path) -> Description:
    """The description in an output folder of ``sluice compile``. Raises DescriptionError."""
    path = folder / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise DescriptionError(f"{path}: {reason}", "name an output folder of `sluice compile`") from None
    found = data.get("schema") if isinstance(data, dict) else None
    if found != SCHEMA:
        version = "no version" if found is None else f"version {found}"
        raise DescriptionError(f"{path} has {version} of the description, not {SCHEMA}", "compile again")
    try:
        return record_of(Description, data)
    except ValueError as error:
        raise DescriptionError(f"{path}: {error}", "compile again") from None


def schema_text() -> str:
    """The JSON Schema of the description, as docs/interface.schema.json holds it."""
    return json.dumps(schema_of(Description, "Description of a compiled design", SCHEMA), indent=1) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")

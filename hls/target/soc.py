"""What a whole system on a board needs to know beside its device and its memory: the names of LiteX's platform."""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from .memory import DramTiming, Memory
from .table import Table

__all__ = ["RECOVERY", "TERMINATIONS", "Soc", "read_soc", "transfers"]

#: LiteDRAM's PHYs, by kind of memory and its transfers in a cycle of the kernel clock
PHYS = {("sdr", 1): "GENSDRPHY", ("sdr", 2): "HalfRateGENSDRPHY", ("ddr", 8): "ECP5DDRPHY"}
#: latencies in tCK that mode registers of DDR3 can hold
CAS, WRITE = range(5, 12), range(5, 9)
#: nominal terminations of DDR3 in ohm, and their codes; 0 for none
TERMINATIONS = {0: 0, 60: 1, 120: 2, 40: 3}
#: write recoveries of DDR3 in tCK that a mode register can hold, and their codes
RECOVERY = {5: 1, 6: 2, 7: 3, 8: 4, 10: 5, 12: 6, 14: 7}
MOST_DELAY = 127  #: steps of an ECP5's delay
#: LiteX's address of a board in the network
ADDRESS = "192.168.1.50"
#: bits a second that a serial line may have
BAUD = (9600, 12_000_000)


@dataclass(frozen=True)
class Soc:
    """How ``sluice build`` makes a system for the board: ``platform`` is a module of litex-boards, ``device`` what its
    platform is called with ("" for nothing). The others are names of its pins: the oscillator of ``clock_mhz``, a reset
    (active high, or ``reset_low``; "" for none), the serial line at ``baud`` bits a second, the memory chip, and pins
    to be ``high``; pins of a ``connector``, a list in the platform's module, come to the platform's own ("" for none).
    ``module`` is the chip in LiteDRAM's list. ``load`` is the command that loads a bitstream, whose file follows.

    The clock of SDR SDRAM has the pin ``chip_clock``, and lags by ``chip_phase`` degrees. DDR3 has a nominal
    termination, ``command_delay`` steps of the device's delay on its commands, perhaps the masks of its two lanes
    swapped, and a clock that crosses a bridge between two edges of the device.

    ``ethernet`` are the pins of an Ethernet PHY (RGMII; those of its clocks end with ``_clocks``), ``address`` is the
    board's in the network."""

    platform: str
    clock: str
    clock_mhz: float
    serial: str
    baud: int
    chip: str
    module: str
    load: str
    chip_clock: str = ""
    chip_phase: float = 0.0
    device: str = ""
    reset: str = ""
    reset_low: str = ""
    connector: str = ""
    high: tuple[str, ...] = ()
    termination_ohm: int = 60
    command_delay: int = 0
    masks_swapped: bool = False
    edge_bridge: bool = False
    ethernet: str = ""
    address: str = ADDRESS

    def given(self) -> dict[str, object]:
        """The keys of the table that a file has to give for it."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}


def read_soc(table: Table, memory: Memory, others: int) -> Soc:
    """The table ``[soc]`` of a board with this memory, and so many others. Raises BoardError."""
    _check_memory(table, memory, others)
    soc = Soc(
        platform=_name(table, "platform"),
        clock=_name(table, "clock"),
        clock_mhz=table.number("clock_mhz", 1, 1000),
        serial=_name(table, "serial"),
        baud=table.integer("baud", *BAUD),
        chip=_name(table, "chip"),
        module=_name(table, "module"),
        load=table.text("load"),
        **{key: read(table, key) for key, read in _optional(table, memory) if key in table},
    )
    table.close()
    return soc


def _optional(table: Table, memory: Memory) -> Iterator[tuple[str, Callable[[Table, str], Any]]]:
    """The keys that such a table may have besides, each with what reads it."""
    yield from (("device", Table.text), ("high", Table.texts))
    yield from ((key, _name) for key in ("reset", "reset_low", "connector", "ethernet"))
    if "ethernet" in table:
        yield "address", _address
    if memory.kind == "ddr":
        yield "termination_ohm", _termination
        yield "command_delay", lambda table, key: table.integer(key, 0, MOST_DELAY)
        yield from ((key, Table.boolean) for key in ("masks_swapped", "edge_bridge"))
    else:
        yield "chip_clock", _name
        yield "chip_phase", lambda table, key: table.number(key, 0, 359)


def _check_memory(table: Table, memory: Memory, others: int) -> None:
    """Raises BoardError if no system is made around this memory."""
    timing = memory.timing
    if memory.kind not in ("sdr", "ddr") or len(memory.banks) > 1 or others or not isinstance(timing, DramTiming):
        raise table.error(
            "", 'is for boards with one bank of SDR SDRAM (kind = "sdr") or DDR3 ("ddr"), and no other memory'
        )
    found = transfers(memory)
    if (memory.kind, found) not in PHYS:
        made = "one or two transfers" if memory.kind == "sdr" else "eight transfers"
        raise table.error("", f"is for memories whose word_bytes are {made} of bus_bits, not {found}")
    if memory.kind == "ddr" and (timing.CL not in CAS or timing.CWL not in WRITE):
        raise table.error(
            "",
            f"is for DDR3 with a CL of {CAS[0]} to {CAS[-1]} and a CWL of {WRITE[0]} to {WRITE[-1]}, "
            f"not {timing.CL} and {timing.CWL}",
        )
    if memory.kind == "ddr" and timing.tWR > max(RECOVERY):
        raise table.error("", f"is for DDR3 with a tWR of at most {max(RECOVERY)}, not {timing.tWR}")
    if memory.kind == "sdr" and "chip_clock" not in table:
        raise table.error("chip_clock", "is missing; expected the pin of the clock of SDR SDRAM")


def _termination(table: Table, key: str) -> int:
    ohm = table.integer(key, 0, max(TERMINATIONS))
    if ohm not in TERMINATIONS:
        raise table.error(key, f"must be one of {', '.join(map(str, sorted(TERMINATIONS)))}, not {ohm}")
    return ohm


def _address(table: Table, key: str) -> str:
    text = table.text(key)
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError as error:
        raise table.error(key, f"must be an address like {ADDRESS}, not {text!r}") from error


def transfers(memory: Memory) -> int:
    """Transfers of the memory chip that make a word of its port."""
    assert isinstance(memory.timing, DramTiming)
    return memory.word_bytes * 8 // memory.timing.bus_bits


def _name(table: Table, key: str) -> str:
    """A name of Python."""
    text = table.text(key)
    if not text.isidentifier():
        raise table.error(key, f"must be letters, digits and _, not {text!r}")
    return text

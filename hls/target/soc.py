"""What a whole system on a board needs to know beside its device and its memory: the names of LiteX's platform."""

from dataclasses import dataclass

from .memory import DramTiming, Memory
from .table import Table

__all__ = ["Soc", "read_soc"]

#: LiteDRAM's PHYs of SDR SDRAM, by the transfers of the memory in a cycle of the kernel clock
PHYS = {1: "GENSDRPHY", 2: "HalfRateGENSDRPHY"}
#: bits a second that a serial line may have
BAUD = (9600, 12_000_000)


@dataclass(frozen=True)
class Soc:
    """How ``sluice build`` makes a system for the board: ``platform`` is a module of litex-boards, ``device`` what its
    platform is called with ("" for nothing). The others are names of its pins: the oscillator of ``clock_mhz``, a reset
    (active high; "" for none), the serial line at ``baud`` bits a second, the memory chip and its clock, which lags by
    ``chip_phase`` degrees, and pins to be ``high``. ``module`` is the chip in LiteDRAM's list. ``load`` is the command
    that loads a bitstream, whose file follows."""

    platform: str
    clock: str
    clock_mhz: float
    serial: str
    baud: int
    chip: str
    chip_clock: str
    chip_phase: float
    module: str
    load: str
    device: str = ""
    reset: str = ""
    high: tuple[str, ...] = ()


def read_soc(table: Table, memory: Memory, others: int) -> Soc:
    """The table ``[soc]`` of a board with this memory, and so many others. Raises BoardError."""
    timing = memory.timing
    if memory.kind != "sdr" or len(memory.banks) > 1 or others or not isinstance(timing, DramTiming):
        raise table.error("", 'is for boards with one bank of SDR SDRAM (kind = "sdr"), and no other memory')
    if transfers(memory) not in PHYS:
        raise table.error(
            "", f"is for memories whose word_bytes are one or two transfers of bus_bits, not {transfers(memory)}"
        )
    soc = Soc(
        platform=_name(table, "platform"),
        clock=_name(table, "clock"),
        clock_mhz=table.number("clock_mhz", 1, 1000),
        serial=_name(table, "serial"),
        baud=table.integer("baud", *BAUD),
        chip=_name(table, "chip"),
        chip_clock=_name(table, "chip_clock"),
        chip_phase=table.number("chip_phase", 0, 359),
        module=_name(table, "module"),
        load=table.text("load"),
        device=table.text("device") if "device" in table else "",
        reset=_name(table, "reset") if "reset" in table else "",
        high=table.texts("high") if "high" in table else (),
    )
    table.close()
    return soc


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

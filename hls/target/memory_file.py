"""Reads the tables of a board file that describe global memory."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from .memory import ACTIVATES, KINDS, Bank, DramTiming, Memory, PortTiming
from .table import Table

__all__ = ["read_memory"]

DDR_BEATS = 8  # data beats of one DDR3 or DDR4 burst
SHAPES = {"bank_groups", "banks_per_group", "banks", "row_bytes", "bus_bits", "beats"}  # powers of two
#: timings of which the second is never less than the first
ORDERED = (
    ("tCCD_S", "tCCD_L"),
    ("tRRD_S", "tRRD_L"),
    ("tWTR_S", "tWTR_L"),
    ("tRCD", "tRAS"),
    ("tRRD_S", "tFAW"),
    ("tRFC", "tREFI"),
)
#: keys of SDR memory, which has neither bank groups nor a window of activates, and takes the first data word of a write
#: together with its command
SDR_KEYS = ("CL", "tRCD", "tRP", "tRAS", "tRRD", "tWR", "tREFI", "tRFC", "banks", "row_bytes", "bus_bits", "beats")
CONTROLLER_KEYS = ("queue", "batch", "row_hit_cap")
#: keys of DDR memory with a whole number: all of its timing that its kind does not say
DDR_KEYS = tuple(
    field.name
    for field in fields(DramTiming)
    if field.name not in ("tck_ns", "beats", "transfers", "controller_latency_ns")
)


def read_memory(table: Table) -> Memory:
    """The memory of a table ``[memory]`` or ``[[other_memory]]``; BoardError for one that cannot be."""
    kind = table.text("kind", tuple(KINDS))
    if kind == "onchip" and "timing" in table:
        raise table.error("timing", "is for memory outside the chip only: on-chip memory has no timing of its own")
    word_bytes = table.integer("word_bytes", 4, 64, power_of_two=True)
    memory = Memory(
        kind=kind,
        interleave_bytes=table.integer("interleave_bytes", 4, power_of_two=True),
        word_bytes=word_bytes,
        read_latency=table.integer("read_latency", 1, 100_000),
        banks=tuple(_read_bank(bank) for bank in table.tables("bank")),
        timing=None if kind == "onchip" else _read_timing(table.table("timing"), kind, word_bytes),
        name=table.text("name", default=KINDS[kind]),
    )
    table.close()
    _check_memory(table, memory)
    return memory


def _read_bank(table: Table) -> Bank:
    bank = Bank(table.integer("bytes", 1024, 1 << 48, power_of_two=True))
    table.close()
    return bank


def _read_timing(table: Table, kind: str, word_bytes: int) -> DramTiming | PortTiming:
    if kind == "ddr":
        return _read_ddr(table)
    if kind == "sdr":
        return _read_sdr(table)
    if kind == "sram":
        timing = PortTiming(table.number("word_ns", 0.1, 10_000), table.number("latency_ns", 0, 10_000))
    else:
        rate = table.number("bytes_per_ns", 0.001, 10_000)
        timing = PortTiming(word_bytes / rate, table.number("latency_ns", 0, 10_000), ports=1)
    table.close()
    return timing


def _read_ddr(table: Table) -> DramTiming:
    values: dict[str, Any] = {"tck_ns": table.number("tck_ns", 0.1, 10_000), "beats": DDR_BEATS, "transfers": 2}
    values |= {"controller_latency_ns": table.number("controller_latency_ns", 0, 10_000)}
    values |= _integers(table, DDR_KEYS)
    table.close()
    return _checked(table, DramTiming(**values))


def _read_sdr(table: Table) -> DramTiming:
    """SDR memory in the terms of :class:`DramTiming`: the data of a write come with its command, a row may be closed
    and a read may follow a write as soon as the data are through."""
    given: dict[str, Any] = _integers(table, (*SDR_KEYS, *CONTROLLER_KEYS))
    tck_ns = table.number("tck_ns", 0.1, 10_000)
    latency = table.number("controller_latency_ns", 0, 10_000)
    table.close()
    beats, between, banks = given["beats"], given.pop("tRRD"), given.pop("banks")
    spacing = {"tCCD_S": beats, "tCCD_L": beats, "tRRD_S": between, "tRRD_L": between, "tFAW": ACTIVATES * between}
    at_once = {"CWL": 0, "tWTR_S": 0, "tWTR_L": 0, "tRTP": beats, "transfers": 1}
    shape = {"bank_groups": 1, "banks_per_group": banks}
    timing = DramTiming(tck_ns=tck_ns, controller_latency_ns=latency, **given, **spacing, **at_once, **shape)
    return _checked(table, timing)


def _integers(table: Table, keys: Iterable[str]) -> dict[str, int]:
    return {key: table.integer(key, 1, 1 << 20, power_of_two=key in SHAPES) for key in keys}


def _checked(table: Table, timing: DramTiming) -> DramTiming:
    for short, long in ORDERED:
        low, high = getattr(timing, short), getattr(timing, long)
        if low > high:
            raise table.error(long, f"must be at least {short} = {low}, not {high}")
    if timing.bus_bits < 8 or timing.row_bytes < timing.burst_bytes:
        raise table.error("row_bytes", f"must hold a burst of {timing.beats} beats of a bus of 8 bits or more")
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
    if isinstance(timing, DramTiming) and memory.word_bytes % timing.burst_bytes:
        raise table.error(
            "word_bytes",
            f"must be a multiple of one burst: {timing.beats} beats of {timing.bus_bits} bits "
            f"are {timing.burst_bytes} bytes",
        )

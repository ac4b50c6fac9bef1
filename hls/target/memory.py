"""Global memories of a board: banks, and their timing."""

from dataclasses import dataclass, replace

__all__ = ["KINDS", "Bank", "DramTiming", "Memory", "PortTiming"]

#: kinds of memory, and the name that one has which is given none: DDR and SDR SDRAM, static memory with a port for each
#: direction, an AXI bridge to memory that others use too, and block RAM
KINDS = {"ddr": "DDR", "sdr": "SDR", "sram": "SRAM", "axi": "AXI", "onchip": "RAM"}

#: periods that drivers need to turn the bus (sim/dram/timing.h)
TURNAROUND = 2
ACTIVATES = 4  # rows that may be opened in a window of tFAW


@dataclass(frozen=True)
class DramTiming:
    """Timing of one channel of dynamic memory, in periods of ``tck_ns`` unless the name gives another unit. A burst is
    ``beats`` transfers of ``bus_bits``, of which there are ``transfers`` in a period: two of DDR memory, one of SDR."""

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
    beats: int
    transfers: int
    queue: int
    batch: int
    row_hit_cap: int
    controller_latency_ns: float

    @property
    def burst_bytes(self) -> int:
        """The bytes that a burst moves."""
        return self.bus_bits // 8 * self.beats

    @property
    def burst_ticks(self) -> int:
        """How many periods a burst occupies the data bus."""
        return self.beats // self.transfers

    @property
    def burst_ns(self) -> float:
        """How long a burst occupies the data bus."""
        return self.burst_ticks * self.tck_ns

    @property
    def bytes_per_ns(self) -> float:
        """Peak rate of the data bus (GB/s)."""
        return self.transfers * self.bus_bits / 8 / self.tck_ns

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
    def scattered_ns(self) -> float:
        """Time between words of one bank that each open a row, refresh included."""
        return self.row_ns / self.in_use

    @property
    def turn_ns(self) -> float:
        """What the data bus loses as it turns from reading to writing and back."""
        to_write = max(0, self.CL + TURNAROUND - self.CWL)
        return (to_write + self.CWL + self.tWTR_L) * self.tck_ns

    @property
    def first_word_ns(self) -> float:
        """From a request at the controller to the end of the first burst, of a row that must be opened, without other
        traffic."""
        return self.controller_latency_ns + (self.tRCD + self.CL) * self.tck_ns + self.burst_ns


@dataclass(frozen=True)
class PortTiming:
    """Timing of one bank that takes a word every ``word_ns``, at any address, and responds ``latency_ns`` later,
    controller included. Static memory such as QDR has ``ports`` = 2, for reading and for writing at the same time;
    behind an AXI bridge, with one port, both share the rate."""

    word_ns: float
    latency_ns: float
    ports: int = 2

    @property
    def scattered_ns(self) -> float:
        """Time between words at any addresses."""
        return self.word_ns


@dataclass(frozen=True)
class Bank:
    """One physical memory bank, which has an AXI port (or a RAM) of its own."""

    bytes: int


@dataclass(frozen=True)
class Memory:
    """Global memory of one kind. ``timing`` is None for kind "onchip". Its bytes have global addresses from ``base``, a
    multiple of its size."""

    kind: str  #: one of ``KINDS``
    interleave_bytes: int
    word_bytes: int  #: data width of a bank's port
    read_latency: int  #: typical latency under load, in kernel cycles
    banks: tuple[Bank, ...]
    timing: DramTiming | PortTiming | None
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
        """Peak bandwidth (GB/s) over all banks, limited by the memory itself; of two ports, in one direction. Memory
        on the chip moves a word of each bank every ``period_ns``, the kernel's clock period."""
        if isinstance(self.timing, DramTiming):
            one = self.timing.bytes_per_ns
        else:
            one = self.word_bytes / (self.timing.word_ns if self.timing else period_ns)
        return one * len(self.banks)

    def shared_peak(self, period_ns: float) -> float | None:
        """The peak bandwidth (GB/s) that all accesses have in common; None for memory on the chip, where each access
        has a port, and so a word each ``period_ns``, of its own."""
        return None if self.timing is None else self.peak_bytes_per_ns(period_ns)

    def behind(self, ports: int) -> "Memory":
        """The same memory behind so many ports, a divisor of the number of its banks: what lies behind one port counts
        as one bank, with the timing of one. 0 leaves a port to each bank."""
        if ports in (0, len(self.banks)):
            return self
        return replace(self, banks=(Bank(self.bytes // ports),) * ports)

    def partitioned(self) -> "Memory":
        """The same memory with its banks one after the other instead of interleaved."""
        return replace(self, interleave_bytes=self.banks[0].bytes)

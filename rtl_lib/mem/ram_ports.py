"""Load and store ports of a buffer in on-chip RAM: the streams of the load-store units, without a bus in between."""

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ports import Fence, require_power_of_two, store_layout

__all__ = ["ForwardingLoadPort", "RamLoadPort", "RamReadSignature", "RamStorePort", "RamWriteSignature"]


#: additional ports of a load port of a memory that reports words out of range
FAULT = {"refused": In(1), "error": Out(1)}


class RamReadSignature(wiring.Signature):
    """Synchronous read port of a RAM, from its user's view: ``data`` a cycle after ``en``, then held."""

    def __init__(self, word_bytes: int, addr_bits: int) -> None:
        super().__init__({"en": Out(1), "addr": Out(addr_bits), "data": In(8 * word_bytes)})


class RamWriteSignature(wiring.Signature):
    """Synchronous write port of a RAM, from its user's view, with a strobe for each byte."""

    def __init__(self, word_bytes: int, addr_bits: int) -> None:
        super().__init__({"addr": Out(addr_bits), "data": Out(8 * word_bytes), "strobe": Out(word_bytes)})


@shared
class RamLoadPort(wiring.Component):
    """Loads from a RAM through a read port of its own.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each, :attr:`timing` after it.
    2. A load accepted sees the stores accepted in earlier cycles, not those of the same cycle or later, as long as the
       RAM does so.

    Parameters
    ----------
    access_bytes, word_bytes : bytes of an access and of a word of the RAM, powers of two, the first no larger
    addr_bits : width of byte addresses; addresses are naturally aligned

    Ports
    -----
    i : stream of byte addresses; o : stream of data
    ram : :class:`RamReadSignature`, addressed by word
    refused, error : with ``faults`` only: ``refused`` says, from the cycle after ``en`` and then held, that there is no
        such word; ``error`` says the same of the data on offer
    """

    timing = Timing(latency=1)

    def __init__(self, *, access_bytes: int, word_bytes: int, addr_bits: int, faults: bool = False) -> None:
        require_power_of_two("word_bytes", word_bytes)
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        self.access_bytes, self.word_bytes, self.faults = access_bytes, word_bytes, faults
        super().__init__(
            {
                "i": In(stream.Signature(addr_bits)),
                "o": Out(stream.Signature(8 * access_bytes)),
                "ram": Out(RamReadSignature(word_bytes, addr_bits - exact_log2(word_bytes))),
                **(FAULT if faults else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the register of the offset in the word, and the multiplexer that selects the bytes."""
        m = Module()
        offset = Signal(exact_log2(self.word_bytes // self.access_bytes))
        m.d.comb += [
            self.i.ready.eq(~self.o.valid | self.o.ready),
            self.ram.en.eq(self.i.valid & self.i.ready),
            self.ram.addr.eq(self.i.payload[exact_log2(self.word_bytes) :]),
            self.o.payload.eq(self.ram.data.word_select(offset, len(self.o.payload))),
        ]
        if self.faults:
            m.d.comb += self.error.eq(self.refused)
        m.d.sync += self.o.valid.eq(self.ram.en | (self.o.valid & ~self.o.ready))
        with m.If(self.ram.en):
            m.d.sync += offset.eq(self.i.payload[exact_log2(self.access_bytes) :])
        return m


@shared
class ForwardingLoadPort(wiring.Component):
    """Loads like :class:`RamLoadPort`, a cycle later, that see stores accepted up to a cycle after them.

    Data stored while a load is in flight replaces the data of the RAM, before the last register: a store that is
    computed from the load's data has only its own logic after that register.

    Rules
    -----
    1. Data leaves in the order of the addresses, one for each, :attr:`timing` after it.
    2. A load sees the data written up to the cycle before its data leaves, :attr:`timing` after it if nothing
       stalls. Whether it sees data written while it is stalled is unspecified.

    Ports
    -----
    i, o, ram, refused, error : as of :class:`RamLoadPort`
    written : :class:`RamWriteSignature`, what is written into the RAM in this cycle
    """

    timing = Timing(latency=2)

    def __init__(self, *, access_bytes: int, word_bytes: int, addr_bits: int, faults: bool = False) -> None:
        require_power_of_two("word_bytes", word_bytes)
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        self.access_bytes, self.word_bytes, self.faults = access_bytes, word_bytes, faults
        word_addr = addr_bits - exact_log2(word_bytes)
        super().__init__(
            {
                "i": In(stream.Signature(addr_bits)),
                "o": Out(stream.Signature(8 * access_bytes)),
                "ram": Out(RamReadSignature(word_bytes, word_addr)),
                "written": In(RamWriteSignature(word_bytes, word_addr)),
                **(FAULT if faults else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the read of the RAM, and a register behind it that takes data stored in between instead."""
        m = Module()
        valid, moves = Signal(), Signal()
        place = Signal(len(self.i.payload) - exact_log2(self.access_bytes))  # of the load whose word the RAM outputs
        offset, word = Signal(exact_log2(self.word_bytes // self.access_bytes)), Signal(8 * self.word_bytes)
        m.d.comb += [
            moves.eq(~self.o.valid | self.o.ready),
            self.i.ready.eq(~valid | moves),
            self.ram.en.eq(self.i.valid & self.i.ready),
            self.ram.addr.eq(self.i.payload[exact_log2(self.word_bytes) :]),
            self.o.payload.eq(word.word_select(offset, len(self.o.payload))),
        ]
        with m.If(self.ram.en):
            m.d.sync += place.eq(self.i.payload[exact_log2(self.access_bytes) :])
        with m.If(self.i.ready):
            m.d.sync += valid.eq(self.i.valid)
        fresh = self._fresh(m, place[len(offset) :])
        with m.If(moves):
            m.d.sync += [self.o.valid.eq(valid), offset.eq(place[: len(offset)]), word.eq(fresh)]
            if self.faults:
                m.d.sync += self.error.eq(self.refused)
        return m

    def _fresh(self, m: Module, address: Value) -> Value:
        """The word at ``address``, merged with the writes of this cycle and of the cycle in which it was requested."""
        written, old_hit, old = self.written, Signal(self.word_bytes), Signal(8 * self.word_bytes)
        with m.If(self.ram.en):
            m.d.sync += [old_hit.eq(Mux(written.addr == self.ram.addr, written.strobe, 0)), old.eq(written.data)]
        hit = Signal(self.word_bytes)
        m.d.comb += hit.eq(Mux(written.addr == address, written.strobe, 0))
        return Cat(
            Mux(
                hit[n],
                written.data.word_select(n, 8),
                Mux(old_hit[n], old.word_select(n, 8), self.ram.data.word_select(n, 8)),
            )
            for n in range(self.word_bytes)
        )


@shared
class RamStorePort(wiring.Component):
    """Stores to a RAM through a write port of its own.

    Rules
    -----
    1. A store is accepted in every cycle and is in the RAM in the next.
    2. A fence is answered in the cycle after it is accepted: all stores before it are in the RAM.

    Ports
    -----
    i : stream of ``{addr, data}``; fence : :class:`~rtl_lib.mem.ports.Fence`; idle : no fence waits for its requester
    ram : :class:`RamWriteSignature`, addressed by word
    """

    timing = Timing(latency=1, stallable=False)

    def __init__(self, *, access_bytes: int, word_bytes: int, addr_bits: int) -> None:
        require_power_of_two("word_bytes", word_bytes)
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        self.access_bytes, self.word_bytes = access_bytes, word_bytes
        super().__init__(
            {
                "i": In(stream.Signature(store_layout(addr_bits, access_bytes))),
                "fence": In(Fence()),
                "idle": Out(1),
                "ram": Out(RamWriteSignature(word_bytes, addr_bits - exact_log2(word_bytes))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the connection to the write port with its strobes, and a register for the answer to a fence."""
        m = Module()
        store, pieces = self.i.payload, self.word_bytes // self.access_bytes
        word_shift, access_shift = exact_log2(self.word_bytes), exact_log2(self.access_bytes)
        strobe = C((1 << self.access_bytes) - 1, self.word_bytes)
        lane = store.addr[access_shift:word_shift] << access_shift if pieces > 1 else C(0, 1)
        asked, answered = self.fence.request, self.fence.response
        m.d.comb += [
            self.i.ready.eq(1),
            self.ram.addr.eq(store.addr[word_shift:]),
            self.ram.data.eq(store.data.replicate(pieces)),
            self.ram.strobe.eq(Mux(self.i.valid, strobe << lane, 0)),
            asked.ready.eq(~answered.valid | answered.ready),
            self.idle.eq(~answered.valid),
        ]
        m.d.sync += answered.valid.eq((asked.valid & asked.ready) | (answered.valid & ~answered.ready))
        return m

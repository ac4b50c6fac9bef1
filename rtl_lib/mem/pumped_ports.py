"""Load ports of a RAM with a latency of several cycles, for pipelines that never stall."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ports import require_power_of_two
from rtl_lib.mem.pumped import PumpedRam
from rtl_lib.mem.ram_ports import RamReadSignature, RamWriteSignature

__all__ = ["PumpedLoadPort"]


@shared
class PumpedLoadPort(wiring.Component):
    """Loads from a double-pumped RAM.

    Rules
    -----
    1. A load is accepted in every cycle; its data leaves :attr:`timing` after it, for one cycle, whether or not it is
       taken.
    2. A load sees the stores of earlier cycles; with ``forwarding`` also those up to the cycle before its data leaves,
       as :class:`~rtl_lib.mem.ram_ports.ForwardingLoadPort` does, and takes a cycle longer.

    Parameters
    ----------
    access_bytes, word_bytes, addr_bits : as of :class:`~rtl_lib.mem.ram_ports.RamLoadPort`
    forwarding : whether it observes writes while the load is in flight
    writes : number of writes of a cycle that it then observes; of two to the load's word the second takes precedence

    Ports
    -----
    i : stream of byte addresses; o : stream of data; ram : :class:`RamReadSignature`, addressed by word
    written : array of :class:`RamWriteSignature`, what is written in this cycle (with ``forwarding``)
    """

    def __init__(
        self, *, access_bytes: int, word_bytes: int, addr_bits: int, forwarding: bool = False, writes: int = 1
    ) -> None:
        require_power_of_two("word_bytes", word_bytes)
        require_power_of_two("access_bytes", access_bytes, 1, word_bytes)
        self.access_bytes, self.word_bytes, self.forwarding = access_bytes, word_bytes, forwarding
        self.timing = self.timing_of(forwarding)
        word_addr = addr_bits - exact_log2(word_bytes)
        seen = {"written": In(RamWriteSignature(word_bytes, word_addr)).array(writes)} if forwarding else {}
        super().__init__(
            {
                "i": In(stream.Signature(addr_bits)),
                "o": Out(stream.Signature(8 * access_bytes)),
                "ram": Out(RamReadSignature(word_bytes, word_addr)),
                **seen,
            }
        )

    @staticmethod
    def timing_of(forwarding: bool) -> Timing:
        """The timing of a port, with or without forwarding."""
        return Timing(latency=PumpedRam.timing.latency + forwarding, stallable=False)

    def elaborate(self, platform: object) -> Module:
        """Build a shift register of the places in flight, as long as the latency, and with ``forwarding`` the
        comparison with stores."""
        m = Module()
        shift = exact_log2(self.access_bytes)
        places = [self.i.payload[shift:]]  # of the loads in flight, the newest first
        valid = [self.i.valid]
        for stage in range(1, self.timing.latency + 1):
            here, there = Signal.like(places[0], name=f"place_{stage}", reset_less=True), Signal(name=f"valid_{stage}")
            m.d.sync += [here.eq(places[-1]), there.eq(valid[-1])]
            places.append(here)
            valid.append(there)
        word = self._fresh(m, places) if self.forwarding else self.ram.data
        offset = places[-1][: exact_log2(self.word_bytes // self.access_bytes)]
        m.d.comb += [
            self.i.ready.eq(1),
            self.ram.en.eq(self.i.valid),
            self.ram.addr.eq(self.i.payload[exact_log2(self.word_bytes) :]),
            self.o.valid.eq(valid[-1]),
            self.o.payload.eq(word.word_select(offset, len(self.o.payload))),
        ]
        return m

    def _fresh(self, m: Module, places: Sequence[Value]) -> Value:
        """A register with the word that the RAM outputs, merged with the writes since it was requested."""
        low = exact_log2(self.word_bytes // self.access_bytes)
        # of the writes while the load is in flight
        strobe: Value = C(0, self.word_bytes)
        data: Value = C(0, 8 * self.word_bytes)
        for stage in range(PumpedRam.timing.latency + 1):
            for turn, written in enumerate(self.written):
                hit, newest = (
                    Signal(self.word_bytes, name=f"hit_{stage}_{turn}"),
                    Signal(8 * self.word_bytes, name=f"newest_{stage}_{turn}"),
                )
                m.d.comb += [
                    hit.eq(Mux(written.addr == places[stage][low:], written.strobe, 0)),
                    newest.eq(_merged(hit, written.data, data)),
                ]
                strobe, data = strobe | hit, newest
            if stage == PumpedRam.timing.latency:
                break
            strobes, newest = (
                Signal(self.word_bytes, name=f"strobes_{stage}", reset_less=True),
                Signal.like(data, name=f"data_{stage}", reset_less=True),
            )
            m.d.sync += [strobes.eq(strobe), newest.eq(data)]
            strobe, data = strobes, newest
        word = Signal(8 * self.word_bytes, reset_less=True)
        m.d.sync += word.eq(_merged(strobe, data, self.ram.data))
        return word


def _merged(strobe: Value, new: Value, old: Value) -> Value:
    """The bytes of ``new`` where strobed, else those of ``old``."""
    return Cat(Mux(on, new.word_select(n, 8), old.word_select(n, 8)) for n, on in enumerate(strobe))

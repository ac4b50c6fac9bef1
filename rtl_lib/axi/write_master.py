"""AXI4 write master: converts a write port to the AW, W and B channels."""

from amaranth import *
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.axi.read_master import constant_address_fields, keep_first_error, stays_within_border
from rtl_lib.axi.signature import Axi4WriteSignature, Response
from rtl_lib.axi.under_way import UnderWay
from rtl_lib.library import shared
from rtl_lib.mem.ports import WritePort
from rtl_lib.steps import less_one

__all__ = ["AxiWriteMaster"]


@shared
class AxiWriteMaster(wiring.Component):
    """Sends bursts as INCR writes with a single ID.

    Rules
    -----
    1. Each request becomes one AW transfer, and its words W transfers with their strobes, the last one marked. Bursts
       follow each other without a gap: the next request is taken with the last word of the one before it.
    2. At most ``outstanding`` bursts are in flight, that is, not yet acknowledged.
    3. No burst crosses 4 KiB: the requester ensures it, and an assertion stops the simulation otherwise.
    4. SLVERR and DECERR are returned with their acknowledgement; the first one also stays in ``error`` until ``clear``
       or reset.
    5. Reset of the domain may come at any time, in mid-burst too. AWVALID and WVALID are low during reset, as the
       protocol requires; transfers on offer are offered again after it, a burst that had begun is completed with words
       whose strobes are 0, and acknowledgements of bursts from before the reset are dropped. (The registers for this
       are not reset; the memory itself must not be reset alone.)

    Ports
    -----
    port : :class:`WritePort` with addresses within the bank; axi : :class:`Axi4WriteSignature`
    error : first error response; clear : reset ``error``
    """

    def __init__(
        self, *, word_bytes: int, addr_bits: int = 64, max_burst: int = 16, outstanding: int = 64, id_bits: int = 1
    ) -> None:
        self.word_bytes, self.outstanding = word_bytes, outstanding
        self._length_bits = (max_burst - 1).bit_length()
        super().__init__(
            {
                "port": In(WritePort(word_bytes, addr_bits, max_burst)),
                "axi": Out(Axi4WriteSignature(addr_bits, 8 * word_bytes, id_bits)),
                "error": Out(Response),
                "clear": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the address register, the counter of words left in the burst, and the counter of bursts in flight.
        Simulation (``platform`` is None) adds assertions."""
        m = Module()
        m.submodules.under_way = under_way = UnderWay(self.outstanding)
        left = Signal.like(self.port.request.payload.words, reset_less=True)  # words of the current burst still to move
        last_moves = self._words(m, left, under_way)
        self._address(m, left, last_moves, under_way, checked=platform is None)

        b, ack = self.axi.b, self.port.ack
        passed = ack.valid & ack.ready
        m.d.comb += [
            under_way.end.eq(b.valid & b.ready),
            b.ready.eq(under_way.stale | ack.ready),
            ack.valid.eq(b.valid & ~under_way.stale),
            ack.payload.error.eq(keep_first_error(m, self.error, self.clear, passed, b.resp)),
        ]
        return m

    def _address(self, m: Module, left, last_moves, under_way, checked) -> None:
        request, aw = self.port.request, self.axi.aw
        valid, first, length = (Signal.like(s, reset_less=True) for s in (aw.valid, aw.addr, aw.len))
        taken = request.valid & request.ready
        m.d.comb += [
            *constant_address_fields(aw, self.word_bytes),
            aw.valid.eq(valid & ~under_way.in_reset),
            aw.addr.eq(first),
            aw.len.eq(length),
            request.ready.eq((~valid | aw.ready) & ((left == 0) | last_moves) & ~under_way.full & ~under_way.in_reset),
            under_way.begin.eq(taken),
        ]
        with m.If(taken):
            m.d.sync += [
                valid.eq(1),
                first.eq(request.payload.addr),
                length.eq(less_one(request.payload.words, self._length_bits)),
                left.eq(request.payload.words),
            ]
            if checked:  # in simulation only: the Verilog subset for synthesis has no assertions
                m.d.comb += Assert(stays_within_border(request.payload, self.word_bytes), "a write burst crosses 4 KiB")
        with m.Elif(aw.ready & ~under_way.in_reset):
            m.d.sync += valid.eq(0)

    def _words(self, m: Module, left, under_way):
        """Move words into the register before W; return whether the last one of a burst moves."""
        word, w = self.port.data, self.axi.w
        valid, value, strobe, last = (Signal.like(s, reset_less=True) for s in (w.valid, w.data, w.strb, w.last))
        abandoned = Signal(reset_less=True)  # a reset lost the rest of the current burst
        free, moves = ~valid | (w.ready & ~under_way.in_reset), Signal()
        m.d.comb += [
            w.valid.eq(valid & ~under_way.in_reset),
            w.data.eq(value),
            w.strb.eq(strobe),
            w.last.eq(last),
            word.ready.eq(free & (left != 0) & ~abandoned & ~under_way.in_reset),
            moves.eq((word.valid & word.ready) | (free & (left != 0) & abandoned)),
        ]
        with m.If(moves):
            m.d.sync += [valid.eq(1), strobe.eq(Mux(abandoned, 0, word.payload.strobe)), last.eq(left == 1)]
            with m.If(~abandoned):
                m.d.sync += value.eq(word.payload.data)
            m.d.sync += left.eq(left - 1)
        with m.Elif(w.ready & ~under_way.in_reset):
            m.d.sync += valid.eq(0)
        last_moves = moves & (left == 1)
        with m.If(under_way.in_reset & (left != 0) & ~last_moves):
            m.d.sync += abandoned.eq(1)
        with m.Elif(last_moves):
            m.d.sync += abandoned.eq(0)
        return last_moves

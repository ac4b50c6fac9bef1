"""AXI4 read master: converts a read port to the AR and R channels."""

from typing import TYPE_CHECKING, Any

from amaranth import *
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.axi.signature import Axi4ReadSignature, Burst, Response
from rtl_lib.axi.under_way import UnderWay
from rtl_lib.library import shared
from rtl_lib.mem.ports import ReadPort
from rtl_lib.steps import less_one

if TYPE_CHECKING:
    from amaranth.hdl import Statement  # its name in typings/

__all__ = ["AxiReadMaster", "constant_address_fields", "keep_first_error", "stays_within_border"]

BORDER = 4096  #: bytes; no burst crosses a multiple of it


def constant_address_fields(channel: Any, word_bytes: int) -> list["Statement"]:
    """Drive what is the same in every request: whole words, INCR, normal non-cacheable bufferable data access."""
    return [channel.size.eq(exact_log2(word_bytes)), channel.burst.eq(Burst.INCR), channel.cache.eq(0b0011)]


def keep_first_error(m: Module, error: Signal, clear: Value, seen: Value, resp: Value) -> Value:
    """Remember the first response ``seen`` that is an error, until ``clear``."""
    failed = seen & ((resp == Response.SLVERR) | (resp == Response.DECERR))
    with m.If(failed & (clear | (error == Response.OKAY))):
        m.d.sync += error.eq(resp)
    with m.Elif(clear):
        m.d.sync += error.eq(Response.OKAY)
    return failed


def stays_within_border(request: Any, word_bytes: int) -> Value:
    """Whether a burst ends in the 4 KiB page in which it begins."""
    first = request.addr[exact_log2(word_bytes) : exact_log2(BORDER)]
    return first + request.words <= BORDER // word_bytes


@shared
class AxiReadMaster(wiring.Component):
    """Sends bursts as INCR reads with a single ID, and returns their words in order.

    Rules
    -----
    1. Each request becomes one AR transfer of ``words`` beats of full width; responses pass straight through. With one
       ID the memory answers in the order of the requests.
    2. At most ``outstanding`` bursts are in flight.
    3. No burst crosses 4 KiB: the requester ensures it, and an assertion stops the simulation otherwise.
    4. SLVERR and DECERR are returned with their word; the first one also stays in ``error`` until ``clear`` or reset.
    5. Reset of the domain may come at any time, in mid-burst too. ARVALID is low during reset, as the protocol
       requires; an AR transfer on offer is offered again after it, and responses to requests from before the reset are
       accepted and dropped. (The registers for this are not reset; the memory itself must not be reset alone.)

    Ports
    -----
    port : :class:`ReadPort` with addresses within the bank; axi : :class:`Axi4ReadSignature`
    error : first error response; clear : reset ``error``
    """

    def __init__(
        self, *, word_bytes: int, addr_bits: int = 64, max_burst: int = 16, outstanding: int = 64, id_bits: int = 1
    ) -> None:
        self.word_bytes, self.outstanding = word_bytes, outstanding
        self._length_bits = (max_burst - 1).bit_length()
        super().__init__(
            {
                "port": In(ReadPort(word_bytes, addr_bits, max_burst)),
                "axi": Out(Axi4ReadSignature(addr_bits, 8 * word_bytes, id_bits)),
                "error": Out(Response),
                "clear": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a register for the address on offer, the connection of the responses, and the counter of bursts in
        flight. Simulation (``platform`` is None) adds an assertion that no burst crosses 4 KiB."""
        m = Module()
        m.submodules.under_way = under_way = UnderWay(self.outstanding)
        request, response, ar, r = self.port.request, self.port.response, self.axi.ar, self.axi.r
        valid, first, length = (Signal.like(s, reset_less=True) for s in (ar.valid, ar.addr, ar.len))
        taken, passed = request.valid & request.ready, response.valid & response.ready

        m.d.comb += [
            *constant_address_fields(ar, self.word_bytes),
            ar.valid.eq(valid & ~under_way.in_reset),
            ar.addr.eq(first),
            ar.len.eq(length),
            request.ready.eq((~valid | ar.ready) & ~under_way.full & ~under_way.in_reset),
            under_way.begin.eq(taken),
            under_way.end.eq(r.valid & r.ready & r.last),
            r.ready.eq(under_way.stale | response.ready),
            response.valid.eq(r.valid & ~under_way.stale),
            response.payload.data.eq(r.data),
            response.payload.last.eq(r.last),
            response.payload.error.eq(keep_first_error(m, self.error, self.clear, passed, r.resp)),
        ]
        with m.If(taken):
            m.d.sync += [
                valid.eq(1),
                first.eq(request.payload.addr),
                length.eq(less_one(request.payload.words, self._length_bits)),
            ]
            if platform is None:  # in simulation only: the Verilog subset for synthesis has no assertions
                m.d.comb += Assert(stays_within_border(request.payload, self.word_bytes), "a read burst crosses 4 KiB")
        with m.Elif(ar.ready & ~under_way.in_reset):
            m.d.sync += valid.eq(0)
        return m

"""AXI4-Lite decoder: one port for several register files, each in an address window of its own."""

from collections.abc import Sequence
from typing import Any

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.axi.signature import AxiLiteSignature, Response
from rtl_lib.library import shared

__all__ = ["AxiLiteWindows"]

_TO_WINDOW = {"aw": ("addr", "prot"), "w": ("data", "strb"), "ar": ("addr", "prot")}
_FROM_WINDOW = {"b": ("resp",), "r": ("data", "resp")}


@shared
class AxiLiteWindows(wiring.Component):
    """Routes each access to the window that its upper address bits select.

    Rules
    -----
    1. Address bits ``window_bits`` and up select the window; the bits below are passed on to it.
    2. One write and one read are in flight at a time, independently of each other.
    3. An access to a window that does not exist is answered with DECERR.

    Parameters
    ----------
    addr_bits : width of each window's own address, at most ``window_bits``, one number per window
    window_bits : log2 of a window's bytes; bus_bits : width of the address on the bus

    Ports
    -----
    bus : :class:`AxiLiteSignature`, the subordinate's side
    window0, window1 ... : :class:`AxiLiteSignature`, the manager's side; :attr:`windows` lists them
    """

    def __init__(self, addr_bits: Sequence[int], window_bits: int, bus_bits: int) -> None:
        if any(bits > window_bits for bits in addr_bits):
            raise ValueError(f"a window of {window_bits} address bits is too small for {max(addr_bits)}")
        self.window_bits = window_bits
        self.count = len(addr_bits)
        super().__init__(
            {
                "bus": In(AxiLiteSignature(bus_bits)),
                **{f"window{k}": Out(AxiLiteSignature(bits)) for k, bits in enumerate(addr_bits)},
            }
        )

    @property
    def windows(self) -> list[Any]:
        """The ports of the windows, that of the lowest address first."""
        return [getattr(self, f"window{k}") for k in range(self.count)]

    def elaborate(self, platform: object) -> Module:
        """Build a router for writes and one for reads; they share nothing."""
        m = Module()
        self._route(m, "aw", "b")
        self._route(m, "ar", "r")
        return m

    def _route(self, m: Module, address, answer) -> None:
        """One direction: an address selects the window, which holds the bus until its response is taken."""
        request, response = getattr(self.bus, address), getattr(self.bus, answer)
        chosen = Signal(range(self.count + 1), name=f"{address}_window")
        busy, nowhere = Signal(name=f"{address}_busy"), Signal(name=f"{address}_nowhere")
        wanted = request.addr[self.window_bits :]
        here = Signal(self.count, name=f"{address}_here")
        m.d.comb += [here.eq(Cat(wanted == k for k in range(self.count))), nowhere.eq(busy & (chosen == self.count))]
        with m.If(response.valid & response.ready):
            m.d.sync += busy.eq(0)
        with m.If(request.valid & request.ready):
            m.d.sync += [busy.eq(1), chosen.eq(Mux(here.any(), wanted, self.count))]
        for k, window in enumerate(self.windows):
            self._offer(m, address, getattr(window, address), here[k] & ~busy)
            holds = Signal(name=f"{address}_window{k}_holds")
            m.d.comb += holds.eq(busy & (chosen == k))
            if address == "aw":
                self._offer(m, "w", window.w, holds)
            self._answer(m, answer, getattr(window, answer), holds, chosen == k)
        with m.If(~here.any()):
            m.d.comb += request.ready.eq(~busy)
        with m.If(nowhere):
            self._refuse(m, address, response)

    def _offer(self, m: Module, channel, target, allowed) -> None:
        """Pass the channel to a window where it is ``allowed``: only its valid and ready depend on that, for every
        window sees the payload."""
        source = getattr(self.bus, channel)
        m.d.comb += [_narrow(getattr(target, f), getattr(source, f)) for f in _TO_WINDOW[channel]]
        m.d.comb += target.valid.eq(source.valid & allowed)
        with m.If(allowed):
            m.d.comb += source.ready.eq(target.ready)

    def _answer(self, m: Module, channel, source, holds, chosen) -> None:
        """Pass a window's response on while it ``holds`` the bus; its payload wherever it is the one ``chosen``, which
        is always so for a single window."""
        target = getattr(self.bus, channel)
        m.d.comb += source.ready.eq(target.ready & holds)
        with m.If(holds):
            m.d.comb += target.valid.eq(source.valid)
        with m.If(chosen if self.count > 1 else C(1)):
            m.d.comb += [getattr(target, f).eq(getattr(source, f)) for f in _FROM_WINDOW[channel]]

    def _refuse(self, m: Module, address, response) -> None:
        if address == "ar":
            m.d.comb += [response.valid.eq(1), response.resp.eq(Response.DECERR)]
            return
        taken = Signal(name="w_taken")
        m.d.comb += [self.bus.w.ready.eq(~taken), response.valid.eq(taken), response.resp.eq(Response.DECERR)]
        with m.If(self.bus.w.valid & ~taken):
            m.d.sync += taken.eq(1)
        with m.If(response.valid & response.ready):
            m.d.sync += taken.eq(0)


def _narrow(target, source):
    return target.eq(source[: len(target)] if len(source) > len(target) else source)

"""The AXI masters against the rules of the protocol, with a reset that may come in any cycle.

1. VALID is low while the domain is in reset. 2. An offer stands until it is taken, or reset comes. 3. It
   does not change meanwhile.
4. Bursts are complete: as many beats as were announced, the last one marked, and none before its burst was requested.
5. No burst crosses 4 KiB, as no requested one does. (AMBA AXI, A3.1.2, A3.2.1, A3.4.1.)
"""

from amaranth import *
from amaranth.utils import exact_log2

from rtl_lib.axi.read_master import AxiReadMaster, stays_within_border
from rtl_lib.axi.write_master import AxiWriteMaster
from tests.formal.bench import Bench

__all__ = ["reads", "writes"]

WORD, ADDR_BITS, BURST, OUTSTANDING = 16, 14, 4, 3


def reads() -> Bench:
    """AxiReadMaster: whatever is asked for, whenever the memory takes it and answers, and whenever reset comes."""
    bench, rst, part = _bench(AxiReadMaster)
    asked = _requests(bench, part.port.request)
    bench.m.d.comb += [
        part.port.response.ready.eq(bench.free(name="response_ready")),
        part.axi.r.valid.eq(bench.free(name="r_valid")),
        part.axi.r.last.eq(bench.free(name="r_last")),
    ]
    ar = part.axi.ar
    bench.m.d.comb += ar.ready.eq(bench.free(name="ar_ready"))
    _offers(bench, "AR", rst, ar, Cat(ar.addr, ar.len))
    _bursts(bench, "AR", ar)
    bench.reach(asked & rst.past, "a burst is asked for behind a reset in mid-run")
    return bench


def writes() -> Bench:
    """AxiWriteMaster likewise; its words come at any time."""
    bench, rst, part = _bench(AxiWriteMaster)
    _requests(bench, part.port.request)
    bench.drive(part.port.data, "words", stable=False)
    bench.m.d.comb += [
        part.port.ack.ready.eq(bench.free(name="ack_ready")),
        part.axi.b.valid.eq(bench.free(name="b_valid")),
    ]
    aw, w = part.axi.aw, part.axi.w
    for name, channel in (("aw", aw), ("w", w)):
        bench.m.d.comb += channel.ready.eq(bench.free(name=f"{name}_ready"))
    _offers(bench, "AW", rst, aw, Cat(aw.addr, aw.len))
    _offers(bench, "W", rst, w, Cat(w.data, w.strb, w.last))
    _bursts(bench, "AW", aw)
    _beats(bench, part, w)
    return bench


class _Reset:
    """Reset of the part's domain: ``now``, and ``past`` once it has come and gone."""

    def __init__(self, bench: Bench):
        self.now, self.past = bench.free(name="rst"), Signal()
        with bench.m.If(self.now):
            bench.m.d.sync += self.past.eq(1)


def _bench(part) -> tuple[Bench, _Reset, Elaboratable]:
    bench = Bench()
    rst = _Reset(bench)
    bench.m.domains.kernel = kernel = ClockDomain("kernel")
    bench.m.d.comb += [kernel.clk.eq(ClockSignal("sync")), kernel.rst.eq(rst.now)]
    made = part(word_bytes=WORD, addr_bits=ADDR_BITS, max_burst=BURST, outstanding=OUTSTANDING)
    bench.m.submodules.master = DomainRenamer("kernel")(made)
    return bench, rst, made


def _requests(bench: Bench, request):
    """Any bursts that the requesters' own rules allow; whether one is taken."""
    bench.m.d.comb += [
        request.valid.eq(bench.free(name="request")),
        Value.cast(request.payload).eq(bench.free(Value.cast(request.payload).shape(), "burst")),
    ]
    burst = request.payload
    bench.assume(
        (burst.words >= 1) & (burst.words <= BURST) & (burst.addr % WORD == 0) & stays_within_border(burst, WORD),
        "bursts begin with a word, are no longer than allowed and cross no border",
    )
    return request.valid & request.ready


def _offers(bench: Bench, name: str, rst: _Reset, channel, payload):
    refused, before = Signal(name=f"{name}_refused"), Signal.like(payload, name=f"{name}_before")
    bench.m.d.sync += [refused.eq(channel.valid & ~channel.ready & ~rst.now), before.eq(payload)]
    bench.check(~rst.now | ~channel.valid, f"{name}VALID is low in reset")
    bench.check(~refused | rst.now | channel.valid, f"{name} stays on offer")
    bench.check(~refused | rst.now | (payload == before), f"{name} does not change while it is on offer")
    again = Signal(name=f"{name}_again")
    with bench.m.If(refused & rst.now):
        bench.m.d.sync += again.eq(1)
    bench.reach(refused & channel.valid & ~channel.ready, f"{name} is held up for two cycles")
    bench.reach(again & channel.valid & channel.ready, f"{name} is taken behind a reset that found it on offer")


def _bursts(bench: Bench, name: str, channel):
    last = channel.addr + (channel.len << exact_log2(WORD))
    bench.check(~channel.valid | (last[12:] == channel.addr[12:]), f"a burst of {name} stays in 4 KiB")
    bench.check(~channel.valid | (channel.len < BURST), f"a burst of {name} is no longer than allowed")
    bench.reach(channel.valid & channel.ready & (channel.len == BURST - 1), f"{name} takes a burst of {BURST}")


def _beats(bench: Bench, part, w):
    """Lengths of bursts taken by the master, in order, against the beats that leave."""
    request, lengths, count = (
        part.port.request,
        Array(Signal(range(BURST + 1), name=f"length_{k}") for k in range(4)),
        Signal(range(5)),
    )
    taken, beat = request.valid & request.ready, w.valid & w.ready
    sent, done = Signal(range(BURST + 1)), Signal()
    bench.m.d.comb += done.eq(beat & w.last)
    left = [Mux(done, lengths[k + 1] if k < 3 else 0, lengths[k]) for k in range(4)]
    place = count - done
    bench.m.d.sync += [lengths[k].eq(Mux(taken & (place == k), request.payload.words, left[k])) for k in range(4)]
    bench.m.d.sync += count.eq(count + taken - done)
    with bench.m.If(beat):
        bench.m.d.sync += sent.eq(Mux(w.last, 0, sent + 1))
    bench.assume(count < 4, "a few bursts wait for their words")
    bench.check(~w.valid | (count != 0), "no word leaves before its burst was asked for")
    bench.check(~w.valid | (w.last == (sent + 1 == lengths[0])), "the last word of a burst is marked, and no other")
    bench.reach(done & (sent == BURST - 1), f"a burst of {BURST} words is whole")

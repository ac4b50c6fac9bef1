"""The environment of a part in a proof: inputs that may be anything, and claims about the part."""

import re

from amaranth import *
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5
from amaranth.lib import data

__all__ = ["ASSUME", "CHECK", "REACH", "Bench", "Follow"]

ASSUME, CHECK, REACH = "assume: ", "check: ", "reach: "


class Bench(Elaboratable):
    """A design without outside: parts are added to ``m``, what they see comes from :meth:`free`.

    A part is driven with free inputs; claims say of signals, cycle by cycle, what always holds (:meth:`check`), what of
    all inputs is looked at (:meth:`assume`), and what can happen at all (:meth:`reach`).
    """

    def __init__(self):
        self.m = Module()
        self.m.domains.sync = self._clock = ClockDomain("sync", reset_less=True)
        self.claims: dict[str, str] = {}  #: of each output: which claim it is
        self._ports = {"clk": (self._clock.clk, PortDirection.Input)}
        self._later = Signal()  # not the first cycle
        self.m.d.sync += self._later.eq(1)

    def elaborate(self, platform):
        return self.m

    def ports(self):
        """Name, value and direction of each port, as Amaranth's conversion takes them."""
        return self._ports

    def part(self, name, part):
        """Add a part and return it."""
        self.m.submodules[name] = part
        return part

    def free(self, shape=1, name="free"):
        """A signal that has any value in every cycle."""
        name = re.sub(r"\W+", "_", f"{name}_{len(self._ports)}")
        bits = Signal(Shape.cast(shape), name=name)
        self._ports[name] = (bits, PortDirection.Input)
        return data.View(shape, bits) if isinstance(shape, data.Layout) else bits

    def constant(self, shape, name="constant"):
        """A signal that has any value, and the same in all cycles."""
        value, kept, chosen = Signal(shape), Signal(shape), self.free(shape, name)
        self.m.d.comb += value.eq(Mux(self._later, kept, chosen))
        self.m.d.sync += kept.eq(value)
        return value

    def check(self, condition, what):
        """``condition`` holds in every cycle."""
        self._claim(CHECK + what, condition)

    def assume(self, condition, what):
        """Only such inputs are looked at for which ``condition`` holds in every cycle."""
        self._claim(ASSUME + what, condition)

    def reach(self, condition, what):
        """There are inputs for which ``condition`` holds in some cycle."""
        self._claim(REACH + what, condition)

    def soon(self, condition, within, what):
        """``condition`` never holds for more than ``within`` cycles in a row."""
        age = Signal(range(within + 2))
        self.m.d.sync += age.eq(Mux(condition, Mux(age > within, age, age + 1), 0))
        self.check(age <= within, what)

    def drive(self, stream, name, stable=True):
        """Offer anything at a stream into a part; where ``stable``, what is offered stands until it is taken."""
        shape = stream.payload.shape()
        valid, payload = self.free(1, f"{name}_valid"), self.free(Shape.cast(shape).width, f"{name}_payload")
        self.m.d.comb += [stream.valid.eq(valid), Value.cast(stream.payload).eq(payload)]
        if stable:
            refused, before = Signal(), Signal.like(payload)
            self.m.d.sync += [refused.eq(valid & ~stream.ready), before.eq(payload)]
            self.assume(~refused | (valid & (payload == before)), f"{name} stands until it is taken")
        return stream.valid & stream.ready

    def take(self, stream, name, stable=True):
        """Take from a stream out of a part at any time; where ``stable``, its offers must stand until they are
        taken."""
        self.m.d.comb += stream.ready.eq(self.free(1, f"{name}_ready"))
        if stable:
            self.stands(stream, name)
        return stream.valid & stream.ready

    def stands(self, stream, name):
        """Offers of a stream out of a part must stand, unchanged, until they are taken."""
        payload = Value.cast(stream.payload)
        refused, before = Signal(), Signal.like(payload)
        self.m.d.sync += [refused.eq(stream.valid & ~stream.ready), before.eq(payload)]
        self.check(~refused | (stream.valid & (payload == before)), f"{name} stands until it is taken")

    def _claim(self, what, condition):
        name = f"claim_{len(self.claims)}"
        if what in self.claims.values():
            raise ValueError(f"two claims of one name: {what!r}")
        self.claims[name] = what
        holds = Signal(name=name)
        self.m.d.comb += holds.eq(Value.cast(condition).bool())
        self._ports[name] = (holds, PortDirection.Output)


class Follow:
    """Follows one payload, any of those that enter, to the place where it has to leave.

    Payloads are counted as they enter and leave. When as many have left as were in front of the followed one, the next
    that leaves must be it: so if none ever is another, none is lost, made twice, or passed by another on its way. Which
    one is followed is a free input, so a proof is about all of them.

    Parameters
    ----------
    bench, name : where, and what to call it
    enters, value : a payload enters in this cycle, and what is to be known of it
    leaves : number of payloads that leave in this cycle
    most : payloads inside at most
    through : a payload may leave in the cycle in which it enters

    Attributes
    ----------
    out : the followed payload is among those that leave in this cycle
    value : what was known of it as it entered
    inside : payloads that have entered and not left; ``ahead`` : those in front of it, while it is ``under_way``
    """

    def __init__(self, bench, name, enters, value, leaves, most, through=False):
        m, count = bench.m, range(most + 2)
        self.inside, self.ahead = Signal(count, name="inside"), Signal(count, name="ahead")
        self.value, self.out, self.under_way = (
            Signal(len(value), name="value"),
            Signal(name="out"),
            Signal(name="under_way"),
        )
        begun, gone = Signal(name="begun"), Signal(name="gone")
        kept, ahead, starts = (
            Signal.like(self.value, name="kept"),
            Signal(count, name="was_ahead"),
            Signal(name="starts"),
        )
        m.d.comb += [
            starts.eq(~begun & enters & bench.free(1, f"{name}_follow")),
            self.under_way.eq((begun | (starts if through else 0)) & ~gone),
            self.value.eq(Mux(begun, kept, value)),
            self.ahead.eq(Mux(begun, ahead, self.inside)),
            self.out.eq(self.under_way & (leaves > self.ahead)),
        ]
        m.d.sync += [
            self.inside.eq(self.inside + enters - leaves),
            begun.eq(begun | starts),
            kept.eq(self.value),
            gone.eq(gone | self.out),
            ahead.eq(self.ahead - leaves),
        ]
        bench.check(leaves <= self.inside + (enters if through else 0), f"{name}: what leaves has entered")
        bench.check(self.inside <= most, f"{name}: no more than {most} inside")
        bench.check(~begun | gone | (ahead < self.inside), f"{name}: the followed one is one of those inside")
        bench.reach(self.out, f"{name}: the followed one leaves")

"""Random stalls, to show that no result depends on the timing of handshakes."""

from zlib import crc32

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .contract import Timing
from .library import shared

__all__ = ["StallGate", "StallSource", "salt_of", "xorshift"]


def salt_of(name: str) -> int:
    """The salt of the stall source of that name: 32 bits, the same in every run."""
    return crc32(name.encode())


def xorshift(state: int) -> int:
    """Golden function: the 32-bit generator's next state (Marsaglia 2003, triple 13, 17, 5)."""
    state ^= state << 13 & 0xFFFF_FFFF
    state ^= state >> 17
    return state ^ (state << 5 & 0xFFFF_FFFF)


class StallSource(wiring.Component):
    """A pseudo-random bit that prohibits handshakes in a cycle.

    All sources of a design share one seed; the salt makes each of them different. A source also derives its
    stall pattern from its seed: never stalls, single stalls, bursts, or both. A design under test therefore
    has fast neighbours next to slow ones, which reveals more than a uniform rate everywhere.

    Rules
    -----
    1. Seed 0: never stalls.
    2. The stalls are a function of seed, salt and the cycles since the seed was last 0 or in reset: the same
       seed gives the same run.
    3. A single stall comes in one cycle of eight. A burst begins in one of 32 and lasts 8 cycles on average.

    Parameters
    ----------
    salt : 32 bits, different for every instance; see :func:`salt_of`

    Ports
    -----
    seed : 32 bits, constant while the design runs
    stall : high in the cycles to be stalled, from registers
    """

    def __init__(self, salt: int) -> None:
        if not isinstance(salt, int) or not 0 <= salt < 1 << 32:
            raise ValueError(f"salt must be a 32-bit number, not {salt!r}")
        self.salt = salt
        super().__init__({"seed": In(32), "stall": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the salted generator, an instance of a module that all sources share."""
        m = Module()
        m.submodules.salted = salted = _Salted()
        m.d.comb += [salted.seed.eq(self.seed), salted.salt.eq(self.salt), self.stall.eq(salted.stall)]
        return m


@shared
class _Salted(wiring.Component):
    """A stall source whose salt is a port: the hundreds of sources in a design share one Verilog module."""

    def __init__(self) -> None:
        super().__init__({"seed": In(32), "salt": In(32), "stall": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        state, running = Signal(32, init=1), Signal()
        singles, bursts, burst = Signal(), Signal(), Signal()
        with m.If((self.seed == 0) | ~running):
            mixed = self.seed ^ self.salt
            m.d.sync += [
                running.eq(self.seed != 0),
                state.eq(mixed | 1),  # a state of 0 would stay 0
                Cat(singles, bursts).eq(mixed[:2] ^ mixed[16:18]),
                burst.eq(0),
                self.stall.eq(0),
            ]
        with m.Else():
            m.d.sync += [
                state.eq(self._next(m, state)),
                burst.eq(bursts & Mux(burst, state[0:3] != 0, state[3:8] == 0)),
                self.stall.eq(burst | (singles & (state[8:11] == 0))),
            ]
        return m

    @staticmethod
    def _next(m: Module, state: Value) -> Value:
        first, second, third = Signal(32), Signal(32), Signal(32)
        m.d.comb += [
            first.eq(state ^ (state << 13)),
            second.eq(first ^ (first >> 17)),
            third.eq(second ^ (second << 5)),
        ]
        return third


class StallGate(wiring.Component):
    """A stream with random stalls; a wire while the seed is 0.

    Rules
    -----
    1. Payloads pass in order, each once, in the cycle in which they are offered unless stalled.
    2. An offer that was made at ``o`` is never withdrawn: a stall begins before an offer, not during one.
    """

    timing = Timing(latency=0)

    def __init__(self, shape: ShapeLike, salt: int) -> None:
        self.salt = salt
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)), "seed": In(32)})

    def elaborate(self, platform: object) -> Module:
        """Build the stall source, and a register that keeps an offer from being withdrawn."""
        m = Module()
        m.submodules.source = source = StallSource(self.salt)
        offered, go = Signal(), Signal()
        m.d.sync += offered.eq(self.o.valid & ~self.o.ready)
        m.d.comb += [
            source.seed.eq(self.seed),
            go.eq(offered | ~source.stall),
            self.o.valid.eq(self.i.valid & go),
            self.o.payload.eq(self.i.payload),
            self.i.ready.eq(self.o.ready & go),
        ]
        return m

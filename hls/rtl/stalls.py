"""Stream connections, which builds for stall tests stall at random."""

from typing import Any

from amaranth import *

from rtl_lib.stall import StallGate, StallSource, salt_of

__all__ = ["Stalls", "join"]


class Stalls:
    """``seed`` is that of the random stalls; None adds none."""

    def __init__(self, seed: Value | None) -> None:
        self.seed = seed

    def source(self, m: Module, name: str) -> Value:
        """A random bit that stalls tokens; 0 in other builds."""
        if self.seed is None:
            return C(0)
        source = m.submodules[f"stall_{name}"] = StallSource(salt_of(name))
        m.d.comb += source.seed.eq(self.seed)
        return source.stall

    def connect(self, m: Module, source: Any, sink: Any, name: str) -> None:
        """Connect two streams; in builds for stall tests the transfer stalls at random."""
        if self.seed is not None:
            gate = StallGate(source.payload.shape(), salt_of(name))
            m.submodules[f"gate_{name}"] = gate
            m.d.comb += gate.seed.eq(self.seed)
            join(m, source, gate.i)
            source = gate.o
        join(m, source, sink)


def join(m: Module, source: Any, sink: Any) -> None:
    """Plain connection of two streams."""
    m.d.comb += [sink.valid.eq(source.valid), source.ready.eq(sink.ready), sink.payload.eq(source.payload)]

"""The events of a load or store unit that counters may observe."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

__all__ = ["Observation", "observe_reads", "observe_writes"]


class Observation(wiring.Signature):
    """One-cycle strobes; nothing in the unit depends on them.

    accepted : an access was accepted
    stalled : an access was offered and not accepted
    burst : a burst was passed to the memory; of atomic operations: a word that memory has was changed, so that it will
        be written once
    word : a word was moved to or from the memory; of atomic operations: read from it
    error : the memory answered with an error
    """

    def __init__(self) -> None:
        super().__init__({name: Out(1) for name in ("accepted", "stalled", "burst", "word", "error")})


def observe_reads(m: Module, unit: Any) -> None:
    """Drive ``unit.observe`` of a unit that accepts addresses at ``i`` and reads through ``mem``."""
    request, response = unit.mem.request, unit.mem.response
    m.d.comb += [
        unit.observe.accepted.eq(unit.i.valid & unit.i.ready),
        unit.observe.stalled.eq(unit.i.valid & ~unit.i.ready),
        unit.observe.burst.eq(request.valid & request.ready),
        unit.observe.word.eq(response.valid),
        unit.observe.error.eq(response.valid & response.payload.error),
    ]


def observe_writes(m: Module, unit: Any) -> None:
    """Drive ``unit.observe`` of a unit that accepts stores at ``i`` and writes through ``mem``."""
    request, word, ack = unit.mem.request, unit.mem.data, unit.mem.ack
    m.d.comb += [
        unit.observe.accepted.eq(unit.i.valid & unit.i.ready),
        unit.observe.stalled.eq(unit.i.valid & ~unit.i.ready),
        unit.observe.burst.eq(request.valid & request.ready),
        unit.observe.word.eq(word.valid & word.ready),
        unit.observe.error.eq(ack.valid & ack.payload.error),
    ]

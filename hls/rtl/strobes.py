"""Events of load and store units that are seen at their ports: a simulator counts them, hardware has no counters of
them. Nothing is added to a design in which they are not used."""

from typing import Any

from amaranth import *

from rtl_lib.mem.ports import ReadPort, WritePort

__all__ = ["full_burst", "max_burst", "unaligned"]


def max_burst(unit: Any) -> int:
    """The most words of a burst of a unit; 0 for one without a port of its own to memory, such as a load from the
    constant cache."""
    port = unit.signature.members.get("mem")
    signature = port.signature if port is not None else None
    return signature.max_burst if isinstance(signature, ReadPort | WritePort) else 0


def full_burst(unit: Any) -> Value:
    """Strobe: a burst of as many words as bursts can have is passed to memory."""
    request = unit.mem.request
    return request.valid & request.ready & (request.payload.words == max_burst(unit))


def unaligned(unit: Any) -> Value:
    """Strobe: a wide unit accepts an access that has enabled lanes in two words."""
    lanes, access = unit.lanes, unit.i.payload
    _, place = lanes.split(access.addr)
    behind = Cat(place > lanes.places - 1 - k for k in range(lanes.count))  # lanes in the second word
    enabled = access.mask if unit.masked else Const(-1, lanes.count)
    return unit.i.valid & unit.i.ready & (enabled & behind).any() & (enabled & ~behind).any()

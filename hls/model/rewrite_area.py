"""Resources that a rewrite adds to a kernel, from what it makes more of: an estimate, as it is not written yet."""

import math

from ..target.board import Device
from .area import Resources
from .elements import SCALARS, element_of
from .estimate import Planned
from .rewrites import VECTOR, Kind, Rewrite

__all__ = ["added_resources"]


def added_resources(rewrite: Rewrite, planned: Planned, logic: int, device: Device) -> Resources:
    """What the rewrite adds to a kernel whose arithmetic takes so many cells of ``logic``. Vectors repeat that; their
    DSP blocks are not counted. An array on the chip takes block RAMs for each of its loads, as one is read at one
    place in a cycle. Another order of accesses adds nothing."""
    if rewrite.kind is Kind.VECTORS:
        return Resources((VECTOR - 1) * logic)
    if rewrite.kind is Kind.ORDER:
        return Resources()
    if rewrite.kind is Kind.PARTIALS:
        return Resources(rams=rewrite.copies * _blocks(rewrite.elements * 8 * SCALARS[rewrite.element], device))
    (buffer,) = rewrite.buffers
    (parameter,) = (one for one in planned.function.params if one.name == buffer)
    element = element_of(parameter)
    bits = rewrite.elements * 8 * (element.bytes if element is not None else 0)
    loads = sum(one.memory == buffer and one.direction == "load" for one in planned.memory.outside.values())
    return Resources(rams=max(1, loads) * _blocks(bits, device))


def _blocks(bits: int, device: Device) -> int:
    return math.ceil(bits / device.rams.bits) if device.rams.count else 0

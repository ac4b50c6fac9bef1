"""The parts of a split kernel under one control: they start together, and end when all have."""

from dataclasses import replace

from amaranth import *

from ..profile.layout import Layout
from ..profile.refused import READ_REFUSED, STATUS_BITS, WRITE_REFUSED, refused_bit
from .kernel import KernelHardware
from .observe import KernelCounters

__all__ = ["PartCounters", "SplitKernel"]


class SplitKernel:
    """Has the interface of one :class:`~hls.rtl.kernel.KernelHardware` for control; the parts are connected to
    channels and memory each for itself. ``m`` is the module that holds them.

    ``error`` numbers the accesses of all parts one after the other, those of the kernel's own name first.
    """

    autorun = False

    def __init__(self, m: Module, parts: list[KernelHardware]) -> None:
        self.context = parts[0].context
        name = self.context.function.name
        self.start, self.busy, self.done = (Signal(name=f"{name}_{event}_all") for event in ("start", "busy", "done"))
        self.error = Signal(STATUS_BITS, name=f"{name}_error_all")
        strobes: dict[int, list[Value]] = {}
        first = 0
        for part in parts:
            many = len(part.context.memory.outside)
            for bit in (READ_REFUSED, WRITE_REFUSED):
                strobes.setdefault(bit, []).append(part.error[bit])
            for number in range(many):
                strobes.setdefault(refused_bit(first + number), []).append(part.error[refused_bit(number)])
            first += many
        m.d.comb += [
            self.busy.eq(parts[0].busy),
            self.done.eq(Cat(part.quiet for part in parts).all()),
            *(self.error[bit].eq(Cat(each).any()) for bit, each in strobes.items()),
            *(part.start.eq(self.start) for part in parts),
            *(part.finish.eq(self.done) for part in parts),
        ]


class PartCounters:
    """The counters of all parts of a kernel, one after the other."""

    def __init__(self, parts: list[KernelCounters]) -> None:
        first, *others = parts
        self.layout: Layout = replace(first.layout, parts=tuple(one.layout for one in others))
        built = [replace(one.layout, counted=one.counted, probed=False) for one in parts]
        self.registers = replace(built[0], parts=tuple(built[1:])).registers
        self.built = [each for one in parts for each in one.built]

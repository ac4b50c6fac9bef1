"""One kernel as hardware: its arguments, its top region, its load and store units or RAM ports."""

from amaranth import *

from ..passes.memory_fences import FRESH
from .channels import build_ends
from .context import KernelContext
from .fences import build_fences
from .hazards import build_hazards
from .meets import build_meets
from .onchip import build_onchip
from .region import RegionBuilder
from .static import build_static

__all__ = ["build_kernel"]


class KernelHardware:
    """A built kernel.

    ``m`` is its module. ``start`` (in) begins a run with the arguments as they then are; ``busy`` is high until every
    token has left and every store is acknowledged; ``done`` is high in the run's last cycle. ``error`` has a strobe for reads and one
    for writes that the memory refused.
    """

    def __init__(self, context: KernelContext):
        self.context, self.m = context, context.m
        self.autorun = bool(context.function.attrs.get("autorun"))  #: starts by itself
        self.error = Signal(2, name="error")  #: strobes: a read, a write was answered with an error
        self.start, self.busy, self.done = Signal(name="start"), Signal(name="busy"), Signal(name="done")
        self.m.submodules.static = build_static(context)
        for unit in (*context.units.values(), *context.ports.values()):
            unit.attach(context)
        build_onchip(context)
        self.ends = build_ends(context)  #: the stream of each end of a channel
        self.m.submodules.top = RegionBuilder(context, context.plan.top).build()
        build_meets(context)
        build_fences(context)
        build_hazards(context)
        self._control()

    @property
    def reads(self):
        """Read ports of the kernel's load units, in program order."""
        return [u.unit.mem for u in self.context.units.values() if u.access.direction == "load"]

    @property
    def writes(self):
        """Write ports of the kernel's store units, in program order."""
        return [u.unit.mem for u in self.context.units.values() if u.access.direction == "store"]

    @property
    def atomics(self):
        """Ports of the kernel's atomic operations on global memory, and the function of each, in program order."""
        return [(u.unit.mem, u.op.attrs["fn"]) for u in self.context.units.values() if u.access.direction == "atomic"]

    @property
    def ports(self):
        """Pairs of each port to RAM outside of the kernel and its description, in program order."""
        return [(p.ram, p.interface) for p in self.context.ports.values() if p.interface is not None]

    def _control(self):
        m, context = self.m, self.context
        writes = [u.unit.observe.error for u in context.units.values() if u.access.direction != "load"]
        m.d.comb += self.error.eq(Cat(Cat(context.read_errors).any(), Cat(writes).any()))
        wait = context.plan.static_depth
        settling, waiting, passed = Signal(range(wait + 2)), Signal(), Signal()
        stores = [u.unit.idle for u in context.units.values() if u.access.direction != "load"]
        stores += [~unsent for unsent in context.unsent]
        for unit in context.units.values():
            if unit.access.direction != "store":
                # what the last run fetched may have been overwritten since
                anew = self.start | context.flushes.get(unit.op, 0) | bool(unit.op.attrs.get(FRESH))
                m.d.comb += unit.unit.flush.eq(anew)
        m.d.comb += [
            context.start.eq(waiting & (settling == 0)),
            context.restart.eq(self.start),
            self.done.eq(self.busy & passed & (Cat(stores).all() if stores else 1)),
        ]
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), waiting.eq(1), settling.eq(wait), passed.eq(0)]
        with m.Elif(self.busy):
            with m.If(settling != 0):
                m.d.sync += settling.eq(settling - 1)
            with m.If(context.entered):
                m.d.sync += waiting.eq(0)
            with m.If(context.finished):
                m.d.sync += passed.eq(1)
            with m.If(self.done):
                m.d.sync += self.busy.eq(0)


def build_kernel(context: KernelContext) -> KernelHardware:
    """The hardware of one planned kernel."""
    return KernelHardware(context)

"""One kernel as hardware: its arguments, its top region, its load and store units or RAM ports."""

from typing import Any

from amaranth import *
from amaranth.lib import data, stream

from rtl_lib.dispatch import NUMBER

from ..ir import Attr
from ..ir.accesses import reads_anew
from ..ir.launch import is_part
from ..planning.memory import LsuKind
from ..profile.refused import READ_REFUSED, STATUS_BITS, WRITE_REFUSED, refused_bit
from .barrier import build_meets
from .channels import build_ends
from .context import KernelContext
from .fences import build_fences
from .hazards import build_hazards
from .interface import RamPort
from .launch_invariants import build_static
from .modules import build_modules
from .onchip import build_onchip
from .region import RegionBuilder

__all__ = ["build_kernel"]


class KernelHardware:
    """A built kernel.

    ``m`` is its module. ``start`` (in) begins a run with the current arguments; ``busy`` is high until every token has
    left and every store is acknowledged; ``done`` is high in the run's last cycle. ``error`` has strobes for refused
    memory accesses, numbered as in :mod:`hls.profile.refused`.

    A kernel that is one of several compute units gets its work from ``groups``, one token for each group:
    ``all_entered`` is a strobe for each group all of whose work-items have entered. It is ``busy`` until all units are
    done: ``exhausted`` (in) says that no more groups follow, ``quiet`` that no group is inside and all its stores are
    acknowledged, ``finish`` (in) that all units have reached this state. A part of a split kernel has ``quiet`` and
    ``finish`` as well, and waits for the other parts.
    """

    def __init__(self, context: KernelContext) -> None:
        self.context, self.m = context, context.m
        self.autorun = bool(context.function.attrs.get(Attr.AUTORUN))  #: starts by itself
        self.error = Signal(STATUS_BITS, name="error")
        self.start, self.busy, self.done = Signal(name="start"), Signal(name="busy"), Signal(name="done")
        self.quiet, self.finish = Signal(name="quiet"), Signal(name="finish")
        self.m.submodules.static = build_static(context)
        for unit in (*context.servers.units.values(), *context.servers.ports.values()):
            unit.attach(context)
        build_onchip(context)
        self.ends = build_ends(context)  #: the stream of each channel end
        top = RegionBuilder(context, context.plan.top)
        self.m.submodules.top = top.build()
        build_meets(context)
        build_fences(context)
        build_hazards(context)
        build_modules(context)
        if context.by_group:
            self._take_groups(top)
        self._control()

    @property
    def parts(self) -> list["KernelHardware"]:
        """The parts with ports to memory: the kernel itself."""
        return [self]

    def reads(self, location: str | None) -> list:
        """Read ports of the load units of one of the board's memories (None: the default one), in program order."""
        others = (LsuKind.CONSTANT_LOAD, LsuKind.SHARED_LOAD)
        return [u.unit.mem for u in self._units("load", location) if u.access.unit not in others]

    def shared(self, location: str | None) -> list:
        """(plan of the cache, port) of each load from that memory through a cache that other loads use, too, in program
        order."""
        loads = self._units("load", location)
        return [(u.access.shared, u.unit.mem) for u in loads if u.access.unit is LsuKind.SHARED_LOAD]

    def constants(self, location: str | None) -> list:
        """Ports of the loads from the constant cache of that memory, in program order."""
        return [u.unit.mem for u in self._units("load", location) if u.access.unit is LsuKind.CONSTANT_LOAD]

    def writes(self, location: str | None) -> list:
        """Write ports of the store units of that memory, in program order."""
        return [u.unit.mem for u in self._units("store", location)]

    def atomics(self, location: str | None) -> list:
        """Ports of the atomic operations on that memory, and the function of each, in program order."""
        return [(u.unit.mem, u.op.attrs[Attr.FN]) for u in self._units("atomic", location)]

    def _units(self, direction: str, location: str | None) -> list:
        return [
            u
            for u in self.context.servers.reaching.values()
            if (u.access.direction, u.access.location) == (direction, location)
        ]

    @property
    def ports(self) -> list[tuple[Any, RamPort, Value | None]]:
        """Each port to RAM outside of the kernel with its description, and its input that says that no such word exists
        (or None), in program order."""
        return [(p.ram, p.interface, p.refused) for p in self.context.servers.ports.values() if p.interface is not None]

    def _control(self) -> None:
        m, context = self.m, self.context
        self._errors()
        wait = context.plan.static_depth
        offered, passed, finish = self._run_of_groups() if context.by_group else self._run_of_one()
        settling = Signal(range(wait + 2))
        stores = [u.unit.idle for u in context.servers.units.values() if u.access.direction != "load"]
        stores += [~unsent for unsent in context.servers.unsent]
        over = Signal()  # no store is on its way to its unit, and none will follow
        m.d.sync += over.eq(passed & ~Cat(*context.servers.unsent, C(0)).any())
        for unit in context.servers.reaching.values():
            if unit.access.direction != "store":
                # words fetched in the last run may have been overwritten since
                anew = self.start | context.servers.flushes.get(unit.op, 0)
                # the unit of atomic operations sees what all others do to its words
                if unit.access.direction == "load":
                    anew |= reads_anew(unit.op, context.function)
                m.d.comb += unit.unit.flush.eq(anew)
            elif unit.access.unit.gathers_stores:
                m.d.comb += unit.unit.over.eq(over)
        m.d.comb += [
            context.run.start.eq(offered & (settling == 0)),
            context.run.restart.eq(self.start),
            self.quiet.eq(self.busy & passed & (Cat(stores).all() if stores else 1)),
            self.done.eq(self.quiet & finish),
        ]
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), settling.eq(wait)]
        with m.Elif(self.busy):
            with m.If(settling != 0):
                m.d.sync += settling.eq(settling - 1)
            with m.If(self.done):
                m.d.sync += self.busy.eq(0)

    def _errors(self) -> None:
        """Collect refused memory accesses: by direction, and by access."""
        reads = self.context.observations.read_errors
        writes = [
            (op, u.unit.observe.error) for op, u in self.context.servers.units.items() if u.access.direction != "load"
        ]
        strobes = {READ_REFUSED: [strobe for _, strobe in reads], WRITE_REFUSED: [strobe for _, strobe in writes]}
        numbers = {op: k for k, op in enumerate(self.context.memory.outside)}
        for op, strobe in (*reads, *writes):
            strobes.setdefault(refused_bit(numbers[op]), []).append(strobe)
        self.m.d.comb += [self.error[bit].eq(Cat(each).any()) for bit, each in strobes.items()]

    def _run_of_one(self):
        """(the top's token may enter, it has passed, the run may end) of a kernel with one token for the whole
        launch."""
        waiting, passed = Signal(), Signal()
        with self.m.If(self.start):
            self.m.d.sync += [waiting.eq(1), passed.eq(0)]
        with self.m.Else():
            with self.m.If(self.context.run.entered):
                self.m.d.sync += waiting.eq(0)
            with self.m.If(self.context.run.finished):
                self.m.d.sync += passed.eq(1)
        return waiting, passed, self.finish if is_part(self.context.function) else C(1)

    def _run_of_groups(self):
        """The same for a compute unit, whose top has a token for each group."""
        inside = Signal(NUMBER)
        self.m.d.sync += inside.eq(inside + self.context.run.entered - self.context.run.finished)
        return self.groups.valid & self.busy, self.exhausted & (inside == 0), self.finish

    def _take_groups(self, top: RegionBuilder) -> None:
        """Connect the values that come with a group to the values of the top's tokens."""
        context = self.context
        self.groups = stream.Signature(data.StructLayout(dict.fromkeys(context.values.of_group, NUMBER))).create(
            path=("groups",)
        )
        self.exhausted, self.all_entered = Signal(name="exhausted"), Signal(name="all_entered")
        loops = [child.header.done.valid for op, child in top.children.items() if op.attrs.get(Attr.FORM) == "ndrange"]
        self.m.d.comb += [
            self.groups.ready.eq(context.run.entered),
            self.all_entered.eq(Cat(loops).any() if loops else context.run.entered),
            *(signal.eq(self.groups.payload[name]) for name, signal in context.values.of_group.items()),
        ]


def build_kernel(context: KernelContext) -> KernelHardware:
    """The hardware of one planned kernel."""
    return KernelHardware(context)

"""A kernel of several compute units: each is a kernel of its own, and a dispatcher distributes the groups of a
launch."""

from typing import Any

from amaranth import *
from amaranth.lib import stream

from rtl_lib.dispatch import GroupDispatcher
from rtl_lib.stream import RoundRobin

from ..analysis.channels.endpoints import Endpoint
from ..ir import Attr
from ..ir.launch import per_group
from ..profile.refused import STATUS_BITS
from .kernel import KernelHardware

__all__ = ["UnitedKernel", "unit_place"]


def unit_place(units: tuple[int, ...], number: int) -> tuple[int, int, int]:
    """The result of ``get_compute_id`` in each dimension for the compute unit of that number; the last dimension counts
    fastest."""
    place: list[int] = []
    for most in reversed(units):
        number, here = divmod(number, most)
        place.insert(0, here)
    x, y, z = (*place, 0, 0)[:3]
    return x, y, z


class UnitedKernel:
    """Has the interface of one :class:`~hls.rtl.kernel.KernelHardware` for control, channels and memory; ``m`` holds
    the units and the dispatcher."""

    autorun = False

    def __init__(self, units: list[KernelHardware], arguments: dict[str, Value]) -> None:
        self.units, self.context, self.m = units, units[0].context, Module()
        self.start, self.busy, self.done = Signal(name="start"), Signal(name="busy"), Signal(name="done")
        self.error = Signal(STATUS_BITS, name="error")
        for unit in units:
            self.m.submodules[unit.context.unit_name] = unit.m
        self.ends = {end: self._joined(end) for end in self.units[0].ends}  # of what the units print
        self._dispatch(arguments)
        self.m.d.comb += [
            self.busy.eq(units[0].busy),
            self.done.eq(Cat(unit.quiet for unit in units).all()),
            *(self.error[k].eq(Cat(unit.error[k] for unit in units).any()) for k in range(len(self.error))),
            *(unit.start.eq(self.start) for unit in units),
            *(unit.finish.eq(self.done) for unit in units),
        ]

    def _joined(self, end: Endpoint) -> Any:
        """The stream of what all units write to a channel, in turn. The program has calls in kernels of one unit only;
        records of printf have places."""
        each: list[Any] = [unit.ends[end] for unit in self.units]  # streams
        merge = self.m.submodules[f"join_{end.channel}_{end.index}"] = RoundRobin(each[0].payload.shape(), len(each))
        joined = stream.Signature(each[0].payload.shape()).create(path=(f"write_{end.channel}_{end.index}",))
        for one, i in zip(each, merge.i, strict=True):
            self.m.d.comb += [i.valid.eq(one.valid), i.payload.eq(one.payload), one.ready.eq(i.ready)]
        self.m.d.comb += [
            joined.valid.eq(merge.o.valid),
            joined.payload.eq(merge.o.payload.value),
            merge.o.ready.eq(joined.ready),
        ]
        return joined

    def _dispatch(self, arguments: dict[str, Value]) -> None:
        function = self.context.function
        dims = sorted({int(name[-1]) for name in per_group(function) if name[-1].isdigit()})
        dispatcher = self.m.submodules.dispatcher = GroupDispatcher(len(dims), len(self.units))
        self.m.d.comb += [
            dispatcher.start.eq(self.start),
            dispatcher.count.eq(arguments["group_count_012"]),
            dispatcher.entered.eq(Cat(unit.all_entered for unit in self.units)),
        ]
        for k, d in enumerate(dims):
            group = (*(function.attrs.get(Attr.WORK_GROUP_SIZE) or ()), 1, 1, 1)[d]
            size = dispatcher.sizes[k]
            self.m.d.comb += [
                size.offset.eq(arguments.get(f"global_offset_{d}", 0)),
                size.groups.eq(arguments[f"num_groups_{d}"]),
                size.size.eq(arguments.get(f"local_size_{d}", group)),
            ]
        for unit, given in zip(self.units, dispatcher.units, strict=True):
            fields = {"group_turn": given.payload.turn}
            fields |= {f"group_start_{d}": given.payload.start[k] for k, d in enumerate(dims)}
            fields |= {f"group_id_{d}": given.payload.id[k] for k, d in enumerate(dims)}
            self.m.d.comb += [
                unit.groups.valid.eq(given.valid),
                given.ready.eq(unit.groups.ready),
                unit.exhausted.eq(dispatcher.empty),
                *(unit.groups.payload[name].eq(fields[name]) for name in unit.context.values.of_group),
            ]

    @property
    def parts(self) -> list[KernelHardware]:
        """The parts with ports to memory: every unit."""
        return self.units

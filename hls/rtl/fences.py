"""Fences of a kernel: the store units that each waits for, and the load units that it invalidates."""

from typing import TYPE_CHECKING, Any

from amaranth import *
from amaranth.lib import wiring

from rtl_lib.lsu.fence import FenceSequencer, FenceShare

from ..ir import Attr, Op, walk
from .access import Request, Response

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["FenceAccess", "build_fences", "fences_of", "waits_for_stores"]


class FenceAccess:
    """A fence operation as a variable-latency unit: the response to a request says that the stores are in memory."""

    def __init__(self, context: "KernelContext", op: Op) -> None:
        self.op = op
        units = context.servers.units.values()
        self.stores = [u for u in units if waits_for_stores(u, op)]
        keeping = [u for u in context.servers.reaching.values() if u.access.direction != "store"]
        self.loads = [u for u in keeping if u.access.memory in op.attrs[Attr.FLUSH]]
        depths = [_queue_depth(context, u.op) if u.access.direction == "store" else 1 for u in self.stores]
        self.unit = FenceSequencer(tuple(depths), pending=context.memory.fences_under_way)

    def request(self) -> Request:
        """The stream of requests, which carry no value."""
        return self.unit.i, lambda payload: []

    def response(self) -> Response:
        """The stream of answers, which carry no value."""
        return self.unit.o, lambda payload: []


def waits_for_stores(unit: Any, fence: Op) -> bool:
    """Whether the fence waits for the unit's stores."""
    return unit.access.direction != "load" and unit.access.memory in fence.attrs[Attr.MEMS]


def _queue_depth(context: "KernelContext", store: Op) -> int:
    regions = (context.plan.top, *context.plan.loops.values())
    return next(
        row.request_depth for region in regions for level in region.levels for row in level.row if row.op is store
    )


def fences_of(context: "KernelContext") -> dict[Op, FenceAccess]:
    """The fences of a kernel whose store and load units are known; fences with nothing to wait for need no hardware."""
    return {
        op: FenceAccess(context, op)
        for op in walk(context.function.body)
        if op.opcode == "fence" and any(waits_for_stores(unit, op) for unit in context.servers.units.values())
    }


def build_fences(context: "KernelContext") -> None:
    """Connect the fences, also those of barriers, with store units and their queues, once all queues exist; invalidate
    loads."""
    m = context.m
    askers: dict[Any, list[Any]] = {}
    fences = context.servers.all_fences
    for op, fence in fences.items():
        m.submodules[f"{context.names.op(op)}_fence"] = fence.unit
        for store, view in zip(fence.stores, fence.unit.stores, strict=True):
            if store.access.direction == "store":  # a fence after an atomic operation knows that it was answered
                queue = context.servers.queued[store.op]
                m.d.comb += [view.queued.eq(queue.level), view.taken.eq(queue.o.valid & queue.o.ready)]
            askers.setdefault(store, []).append(view.fence)
    for store, views in askers.items():
        share = FenceShare(len(views))
        m.submodules[f"{context.names.op(store.op)}_fences"] = share
        for view, port in zip(views, share.askers, strict=True):
            wiring.connect(m, view, port)
        wiring.connect(m, share.unit, store.unit.fence)
    for load in {load for fence in fences.values() for load in fence.loads}:
        flushes = [fence.unit.flush for fence in fences.values() if load in fence.loads]
        context.servers.flushes[load.op] = context.servers.flushes.get(load.op, 0) | Cat(flushes).any()

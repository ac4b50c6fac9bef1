"""Barriers of a kernel as variable-latency units: a request says that a work-item has arrived, a response releases
it."""

from typing import TYPE_CHECKING

from amaranth.lib import wiring

from rtl_lib.barrier import GroupMeeting

from ..ir import Op, walk
from ..ir.launch import most_tokens
from .access import Request, Response
from .fences import FenceAccess, waits_for_stores

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["MeetAccess", "build_meets", "meets_of"]


class MeetAccess:
    """A ``meet`` operation (barrier) and, where stores to global memory precede it, the fence that its groups wait
    for."""

    def __init__(self, context: "KernelContext", op: Op) -> None:
        self.op = op
        fenced = any(waits_for_stores(unit, op) for unit in context.servers.units.values())
        self.fence = FenceAccess(context, op) if fenced else None
        self.unit = GroupMeeting(most_tokens(context.function), context.bypass_depth(op), fenced)

    def request(self) -> Request:
        """The stream of arrivals, and a function of its payload: whether it is the group's last."""
        return self.unit.i, lambda payload: [(payload.last, self.op.operands[1])]

    def response(self) -> Response:
        """The stream of releases, which carry no value."""
        return self.unit.o, lambda payload: []


def meets_of(context: "KernelContext") -> dict[Op, MeetAccess]:
    """The barriers of a kernel whose store and load units are known."""
    return {op: MeetAccess(context, op) for op in walk(context.function.body) if op.opcode == "meet"}


def build_meets(context: "KernelContext") -> None:
    """Put the barrier units into the kernel's module; their fences are connected with stores by
    :mod:`hls.rtl.fences`."""
    for op, meet in context.servers.meets.items():
        context.m.submodules[f"{context.names.op(op)}_unit"] = meet.unit
        if meet.fence is not None:
            wiring.connect(context.m, meet.unit.fence.request, meet.fence.unit.i)
            wiring.connect(context.m, meet.fence.unit.o, meet.unit.fence.response)

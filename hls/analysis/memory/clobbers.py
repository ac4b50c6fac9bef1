"""Clobbering operations of a load, as found by a MemorySSA walker: operations that may change what it reads."""

from collections.abc import Iterable

from ...ir import Attr, Function, MemoryObject, Op, Region, has, lane_mask, may_share, memory_name, walk
from ...ir.accesses import reaches_memory

__all__ = ["Clobbers"]

#: effects after which other work-items, or other kernels, may have written what is read next
_ACQUIRES = {"barrier", "mem_fence", "channel_fence", "fence", "meet", "group", "call"}


class Clobbers:
    """Which operations may write what a load reads, in one function whose writes do not change meanwhile."""

    def __init__(self, function: Function) -> None:
        self.memories = function.memories
        self._writes = [op for op in walk(function.body) if reaches_memory(op) and op.opcode != "load"]

    def movable(self, op: Op) -> bool:
        """Whether the operation is a load without a lane mask, of a buffer whose accesses nothing else observes."""
        return self.plain(op) and self._memory(op).space == "global"

    def plain(self, op: Op) -> bool:
        """Whether the operation is a load without a lane mask, of a memory whose accesses nothing else observes."""
        return op.opcode == "load" and lane_mask(op) is None and not self._memory(op).volatile

    def among(self, load: Op, ops: Iterable[Op]) -> bool:
        """Whether one of these operations, or of those inside them, may change the value of the load."""
        return any(self._clobbers(load, op) for op in walk(Region(ops=list(ops))))

    def _clobbers(self, load: Op, op: Op) -> bool:
        if op.opcode == "barrier":
            return any(self._overlap(load, write) for write in self._writes)
        if op.opcode == "fresh" or has(op, "whole"):
            return op.attrs[Attr.MEM] == memory_name(load)
        return op.opcode in _ACQUIRES or reaches_memory(op) and op.opcode != "load" and self._overlap(load, op)

    def _overlap(self, load: Op, write: Op) -> bool:
        return may_share(self._memory(load), self._memory(write))

    def _memory(self, access: Op) -> MemoryObject:
        return self.memories[memory_name(access)]

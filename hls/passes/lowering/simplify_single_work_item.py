"""Simplification of single work-item kernels: there is no other work-item to synchronize or share memory with."""

from dataclasses import dataclass, replace

from ...ir import Attr, Function
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass
from ..order.lower_channel_fences import is_channel_fence

__all__ = ["NEEDLESS", "SimplifySingleWorkItem"]

#: operations without effect for one work-item: a group of one always converges, and its accesses are in order
NEEDLESS = frozenset({"barrier", "mem_fence"})


@dataclass(frozen=True)
class SimplifySingleWorkItem(FunctionPass):
    """Barrier elimination and demotion of local memory for single work-item kernels. Before: any kernel without calls.
    After: a kernel of a single work-item has no barriers and only channel fences, and its local variables are
    private."""

    name = "simplify-single-work-item"
    requires = frozenset({Form.INLINED})

    def run(self, function: Function) -> Function:
        """A copy without needless barriers and fences; the function itself if it is an NDRange kernel."""
        if function.attrs.get(Attr.NDRANGE):
            return function
        result = clone_function(function)
        rewrite(result.body, lambda op, b: [] if op.opcode in NEEDLESS and not is_channel_fence(op) else None)
        for memory in result.memories.values():
            if memory.space == "local" and memory.length == 1:
                result.memories[memory.name] = replace(memory, space="private")
        return result

"""A kernel of one work-item waits for nobody, and shares nothing."""

from dataclasses import dataclass, replace

from ...ir import Attr, Function
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass
from ..order.lower_channel_fences import is_channel_fence

__all__ = ["NEEDLESS", "SimplifySingleWorkItem"]

#: what one work-item has no need of: a group of one is always together, and its accesses are in order
NEEDLESS = frozenset({"barrier", "mem_fence"})


@dataclass(frozen=True)
class SimplifySingleWorkItem(FunctionPass):
    """Before: any flat kernel. After: no barriers in a kernel of a single work-item, no fences but those of channels,
    and variables in local memory are variables like others."""

    name = "simplify-single-work-item"
    requires = frozenset({Form.INLINED})

    def run(self, function: Function) -> Function:
        if function.attrs.get(Attr.NDRANGE):
            return function
        result = clone_function(function)
        rewrite(result.body, lambda op, b: [] if op.opcode in NEEDLESS and not is_channel_fence(op) else None)
        for memory in result.memories.values():
            if memory.space == "local" and memory.length == 1:
                result.memories[memory.name] = replace(memory, space="private")
        return result

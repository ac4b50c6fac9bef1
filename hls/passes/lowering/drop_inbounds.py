"""Byte offsets are computed modulo 2**64 from here on."""

from dataclasses import dataclass

from ...ir import Attr, Function, walk
from ...ir.clone import clone_function
from ..manager import FunctionPass

__all__ = ["DropInbounds"]


@dataclass(frozen=True)
class DropInbounds(FunctionPass):
    """Before: sums and products that the frontend made for addresses have the attribute ``inbounds``, by which emulator
    and interpreter find an index whose byte offset has more than 64 bits. After: none has, so what computes the same is
    shared with the program's own arithmetic; accesses inside their memories mean what they did."""

    name = "drop-inbounds"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        for op in walk(result.body):
            op.attrs.pop(Attr.INBOUNDS, None)
        return result

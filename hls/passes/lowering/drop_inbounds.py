"""Removes ``inbounds`` and ``extent``: from here on byte offsets are computed modulo 2**64."""

from dataclasses import dataclass

from ...ir import Attr, Function, walk
from ...ir.clone import clone_function
from ..manager import FunctionPass

__all__ = ["DropInbounds"]


@dataclass(frozen=True)
class DropInbounds(FunctionPass):
    """Removal of ``inbounds`` marks. Before: sums and products that the frontend made for addresses have the attribute
    ``inbounds``, by which emulator and interpreter detect an index whose byte offset exceeds 64 bits, and those of
    subscripts have ``extent``. After: none has either, so that address arithmetic can be merged with equal arithmetic
    of the program; accesses inside their memories are unchanged."""

    name = "drop-inbounds"

    def run(self, function: Function) -> Function:
        """A copy without the attributes."""
        result = clone_function(function)
        for op in walk(result.body):
            op.attrs.pop(Attr.INBOUNDS, None)
            op.attrs.pop(Attr.EXTENT, None)
        return result

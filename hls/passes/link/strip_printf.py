"""printf stripping, where hardware does not print."""

from dataclasses import dataclass

from ...ir import Attr, Function, Module, regions
from ...ir.clone import clone_function
from ..manager import Form, ModulePass

__all__ = ["StripPrintf"]


@dataclass(frozen=True)
class StripPrintf(ModulePass):
    """printf stripping. Before: a linked program. After: no `printf` that no kernel has a channel for. Operations that
    only computed its arguments are dead."""

    name = "strip-printf"
    requires = frozenset({Form.LINKED})

    def run(self, module: Module) -> Module:
        """The module without these."""
        return Module({f.name: _silent(f) for f in module.functions.values()}, module.sources, module.channels)


def _silent(function: Function) -> Function:
    result = clone_function(function)
    for region in regions(result.body):
        region.ops = [op for op in region.ops if op.opcode != "printf" or Attr.FORMAT_NUMBER in op.attrs]
    return result

"""What a program shows while it runs is shown by the emulator alone."""

from ..ir import Function, Module, regions
from ..ir.clone import clone_function

__all__ = ["without_printf"]


def without_printf(module: Module) -> Module:
    """The module as hardware computes it: nothing is printed, and what was computed to be printed alone has no use any more."""
    return Module({f.name: _silent(f) for f in module.functions.values()}, module.sources, module.channels)


def _silent(function: Function) -> Function:
    result = clone_function(function)
    for region in regions(result.body):
        region.ops = [op for op in region.ops if op.opcode != "printf"]
    return result

"""Function passes as passes over whole programs."""

from dataclasses import dataclass

from ..ir import Module
from .manager import FunctionPass, ModulePass

__all__ = ["ForEachFunction"]


@dataclass(frozen=True)
class ForEachFunction(ModulePass):
    """Runs a function pass over kernels and helpers alike."""

    each: FunctionPass

    @property
    def name(self) -> str:
        """The name of the function pass."""
        return self.each.name

    def run(self, module: Module) -> Module:
        """The module with every function transformed."""
        return Module({name: self.each.run(f) for name, f in module.functions.items()}, module.sources, module.channels)

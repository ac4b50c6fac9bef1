"""Passes for loads of global memory, run on the loads of a kernel's own arrays."""

from dataclasses import dataclass, replace

from ...ir import Function, MemoryObject
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["WithinArrays"]


@dataclass(frozen=True)
class WithinArrays(FunctionPass):
    """Runs a pass that makes loads of global memory early on the loads of a kernel's private arrays and tables instead.
    Before: the form that the pass requires. After: what it makes of arrays in the place of buffers; accesses to global
    memory are as before.

    An array in block RAM answers each address after a fixed time, as global memory on the chip does, and no other
    buffer overlaps it. So it is shown to the pass as such a buffer, and buffers as volatile, which no pass loads early.
    Work-items have arrays of their own, which get copies later.
    """

    early: FunctionPass

    @property
    def name(self) -> str:
        """That of the pass, for arrays."""
        return f"array-{self.early.name}"

    @property
    def requires(self) -> frozenset[Form]:
        """What the pass requires."""
        return self.early.requires

    @property
    def forbids(self) -> frozenset[Form]:
        """What the pass does not accept."""
        return self.early.forbids

    def run(self, function: Function) -> Function:
        """A copy with early loads of arrays; the function itself where the pass finds none."""
        memories = function.memories
        if not any(_is_array(memory) for memory in memories.values()):
            return function
        shown = clone_function(function)
        shown.memories = {name: _shown(memory) for name, memory in memories.items()}
        found = self.early.run(shown)
        if found is shown:
            return function
        found.memories = {name: memories[name] for name in found.memories}
        return found


def _is_array(memory: MemoryObject) -> bool:
    """Whether it is in block RAM: an array of the kernel, or a table."""
    return memory.length is not None and memory.space in ("private", "constant")


def _shown(memory: MemoryObject) -> MemoryObject:
    """The memory as the pass sees it."""
    if _is_array(memory):
        return replace(memory, space="global", restrict=True)
    return replace(memory, volatile=True) if memory.space == "global" else memory

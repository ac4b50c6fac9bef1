"""Those that are under way at once have their own copies of a memory: iterations of a loop, or work-groups."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ...diag import Diagnostic
from ...ir import Function
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .buffer_copies import rotate
from .multi_buffer_local import GroupCopies
from .multi_buffer_private import IterationCopies

__all__ = ["BufferOwner", "MultiBuffer"]


class BufferOwner(StrEnum):
    """Who has copies of memories."""

    ITERATIONS = "iterations"  #: of a loop, and work-items, in which an array begins anew
    GROUPS = "groups"  #: of work-items, which share local memory


@dataclass(frozen=True)
class MultiBuffer(FunctionPass):
    """After: memories that are needed by several owners at once hold a power of two of copies, each as far from the
    next as the next power of two of its size; the number of the owner, which a loop counts, chooses one.

    *iterations*: loops name the memories that are their iterations' own. Those whose accesses lie in loops inside have
    copies, so that a loop inside may fill the array of an iteration while another still reads that of the one before.
    How many: :class:`~hls.passes.memory.multi_buffer_private.IterationCopies`. Tokens then tell that iterations do not
    meet.

    *groups*: memories named by a ``group`` are those of one group; copies let groups follow each other through the
    barriers. How many: :class:`~hls.passes.memory.multi_buffer_local.GroupCopies`. Only tokens tell what groups wait
    for.

    ``memory_latency`` is that of global memory, in cycles; ``ram_bytes`` what all block RAMs of the device hold.
    """

    owner: BufferOwner
    memory_latency: int = 0
    ram_bytes: int = 0
    warn: Callable[[Diagnostic], None] | None = None
    name = "multi-buffer"

    @property
    def requires(self) -> frozenset[Form]:
        """Groups are there when memory is ordered."""
        if self.owner is BufferOwner.GROUPS:
            return frozenset({Form.ORDERED})
        return frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})

    @property
    def forbids(self) -> frozenset[Form]:
        """Order among iterations is that of copies."""
        return frozenset() if self.owner is BufferOwner.GROUPS else frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        if self.owner is BufferOwner.GROUPS:
            rotations = GroupCopies(self.memory_latency, self.ram_bytes).rotations(result)
        else:
            rotations = IterationCopies(self.memory_latency, self.ram_bytes, self.warn).rotations(result)
        rotate(result, rotations)
        return result

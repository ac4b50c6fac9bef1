"""Multi-buffering: iterations of a loop, or work-groups, in flight at the same time have copies of a memory."""

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
    """Who owns the copies of a memory."""

    ITERATIONS = "iterations"  #: of a loop, or work-items, in which an array is fresh
    GROUPS = "groups"  #: of work-items, which share local memory


@dataclass(frozen=True)
class MultiBuffer(FunctionPass):
    """Privatization by multi-buffering. Before: a flat kernel, for iterations without memory tokens, for groups with
    them. After: a memory that several owners in flight need at the same time holds a power of two of copies, each at a
    multiple of the next power of two of its size; the number of the owner, which a loop counts, selects one.

    *iterations*: loops name the memories that are private to their iterations. Those with accesses in inner loops get
    copies, so that an inner loop may fill the array of one iteration while another still reads that of the previous
    one. How many: :class:`~hls.passes.memory.multi_buffer_private.IterationCopies`. Tokens then show that the accesses
    of different iterations do not conflict.

    *groups*: memories named by a ``group`` are private to a work-group; copies let groups follow each other through the
    barriers. How many: :class:`~hls.passes.memory.multi_buffer_local.GroupCopies`. Only tokens show what groups wait
    for.

    ``memory_latency`` is that of global memory, in cycles; ``ram_bytes`` the capacity of all block RAMs of the device.
    """

    owner: BufferOwner
    memory_latency: int = 0
    ram_bytes: int = 0
    warn: Callable[[Diagnostic], None] | None = None
    name = "multi-buffer"

    @property
    def requires(self) -> frozenset[Form]:
        """For groups, memory must be ordered."""
        if self.owner is BufferOwner.GROUPS:
            return frozenset({Form.ORDERED})
        return frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})

    @property
    def forbids(self) -> frozenset[Form]:
        """For iterations, order must be computed for the copies."""
        return frozenset() if self.owner is BufferOwner.GROUPS else frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which memories of ``owner`` hold several copies, and accesses add the offset of theirs."""
        result = clone_function(function)
        if self.owner is BufferOwner.GROUPS:
            rotations = GroupCopies(self.memory_latency, self.ram_bytes).rotations(result)
        else:
            rotations = IterationCopies(self.memory_latency, self.ram_bytes, self.warn).rotations(result)
        rotate(result, rotations)
        return result

"""The options of the pass pipeline."""

from collections.abc import Callable
from dataclasses import dataclass

from ..analysis.timing import TimingModel
from ..diag import Diagnostic
from ..ir import Function
from ..limits import Limits
from .inspection import Inspection
from .loops.merged_attributes import Merged
from .loops.unroll import Unrolled
from .loops.unroll_policy import AutoUnrollPolicy
from .memory.copy_buffers import CopyBuffers, Uncopied

__all__ = ["DEFAULTS", "PipelineOptions"]


@dataclass(frozen=True)
class PipelineOptions:
    """``max_inlined`` bounds inlining, ``max_ops`` unrolling, ``max_accesses`` the accesses to global memory, and
    ``max_array_accesses`` those to an array, ``max_barriers`` the barriers. ``address_bits`` is the width of a byte
    offset into any buffer of the board; ``max_access_bytes`` is the most that one access to its memory moves. Accesses
    are coalesced up to ``word_bytes`` (0: not at all). A loop that is unrolled without a pragma has at most
    ``unrolled_floats`` floating-point operations in all copies.

    ``memory_latency``: latency of global memory in cycles; ``stepping_latency``: of a load whose unit is part of a
    loop's pipeline (0: there is none). ``ram_bytes``: capacity of all block RAMs of the device.
    ``hazards``: global memory is so slow that addresses are compared at run time instead of waiting for earlier
    accesses; ``compared`` names further memories for which they are; ``slots`` is how many stores of one operation may
    be in flight then. The buffers ``copied`` (None: all) are copied to the chip where they have at most ``copy_bytes``
    bytes, ``side_by_side`` elements at a time; where they have more, the kernel is executed in the form ``otherwise``,
    if that is given. ``fp_relaxed`` permits reassociation of float additions. ``in_memory``
    names arrays, each with its kernel, that must not become registers. ``timing`` is the delay model of the target
    (None: passes that depend on it do nothing), ``cells`` estimates the logic cells of a kernel, and ``cell_name`` is
    what these are called.
    ``check`` runs the verifier after every pass; ``inspection`` selects dumps and other output. ``warn`` receives
    warnings, ``record`` every loop that is unrolled or merged into another, and buffers that may not be copied.
    """

    max_ops: int = Limits.unrolled
    max_inlined: int = Limits.operations
    max_accesses: int = Limits.accesses
    max_array_accesses: int = Limits.array_accesses
    max_barriers: int = Limits.barriers
    address_bits: int = 40
    max_access_bytes: int = 64
    word_bytes: int = 64
    unrolled_floats: int = AutoUnrollPolicy.floats
    memory_latency: int = 0
    stepping_latency: int = 0
    ram_bytes: int = 0
    hazards: bool = False
    compared: frozenset[str] = frozenset()
    copy_bytes: int = 0
    side_by_side: tuple[int, int] = (1, 1)
    copied: frozenset[str] | None = frozenset()
    otherwise: Function | None = None
    slots: int = 0
    fp_relaxed: bool = False
    in_memory: frozenset[tuple[str, str]] = frozenset()
    timing: TimingModel | None = None
    cells: Callable[[Function], int] | None = None
    cell_name: str = "logic cells"
    check: bool = False
    inspection: Inspection | None = None
    warn: Callable[[Diagnostic], None] | None = None
    record: Callable[[Unrolled | Merged | Uncopied], None] | None = None

    @property
    def copy_buffers(self) -> CopyBuffers:
        """The pass that copies buffers to the chip."""
        return CopyBuffers(self.copy_bytes, self.side_by_side, self.copied, self.record, self.otherwise)


#: without a target: passes that depend on its delays do nothing
DEFAULTS = PipelineOptions()

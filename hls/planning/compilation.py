"""One compilation: the state that its parts share, and the products of each kernel."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from ..diag import Diagnostic
from ..ir import Attr, Function, MemoryObject
from ..model.operations import logic_cells
from ..options import Options
from ..passes.early_stages import EarlyStages
from ..passes.inspection import Inspection
from ..passes.loops.merged_attributes import Merged
from ..passes.loops.unroll import Unrolled
from ..passes.loops.unroll_policy import AutoUnrollPolicy
from ..passes.memory.copy_buffers import Uncopied
from ..passes.pipeline_options import PipelineOptions
from ..target.board import Board
from .copied_buffers import Copies, automatic_bytes
from .memory import STEPPING_LATENCY, MemoryPlan, slots_for
from .schedule import KernelPlan, OperatorTiming

__all__ = ["Compilation", "CompiledKernel"]

#: a loop is unrolled by itself into one floating-point unit for so many cells of the device at most: such a unit takes
#: some 700 lookup tables, so this is a third of the device
CELLS_FOR_EACH_FLOAT = 2048


NO_COPIES = Copies()


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """One kernel, or a part of one, with the products of each stage, and the loops that were unrolled or merged.
    ``inner`` are the channels between the parts of a kernel that was split, ``copies`` what became of the buffers that
    it waits for."""

    function: Function
    memory: MemoryPlan
    plan: KernelPlan
    unrolled: tuple[Unrolled, ...] = ()
    merged: tuple[Merged, ...] = ()
    inner: tuple[MemoryObject, ...] = ()
    copies: Copies = NO_COPIES


@dataclass
class Compilation:
    """The state that all parts of one compilation share: the board as the program uses it, the options, and what has
    been reported so far.

    ``warnings`` and ``changes`` (loops that were unrolled or merged, buffers that may not be copied) grow during the
    compilation; :meth:`apart` returns a compilation that collects them separately, for an attempt that may be
    discarded. ``copied`` names buffers that the kernel gets copies of on the chip, with so
    many elements ``side_by_side`` (see :class:`~hls.passes.memory.copy_buffers.CopyBuffers`), and is in the form
    ``otherwise`` where they are too large. ``target_mhz`` is the
    clock that kernels are scheduled for; None means the board's. ``nests_by_test``: nests whose inner loop may run
    seldom may become one loop. ``early`` is what attempts have in common.
    """

    board: Board
    options: Options
    inspection: Inspection | None = None
    warnings: list[Diagnostic] = field(default_factory=list)
    changes: list[Unrolled | Merged | Uncopied] = field(default_factory=list)
    target_mhz: float | None = None
    copied: frozenset[str] = frozenset()
    otherwise: Function | None = None
    side_by_side: tuple[int, int] = (1, 1)
    nests_by_test: bool = True
    early: EarlyStages = field(default_factory=EarlyStages)

    def of(self, function: Function) -> "Compilation":
        """The same compilation, for the clock that the kernel asks for."""
        target = function.attrs.get(Attr.SCHEDULER_TARGET_FMAX_MHZ)
        return self if target == self.target_mhz else replace(self, target_mhz=target)

    def apart(self) -> "Compilation":
        """The same compilation with nothing reported so far."""
        return replace(self, warnings=[], changes=list(self.changes))

    @property
    def copy_bytes(self) -> int:
        """The bytes of the largest buffer that is copied; 0 for none."""
        asked = self.options.copy_bytes
        return automatic_bytes(self.board) if asked is None else asked

    @cached_property
    def timing(self) -> OperatorTiming:
        """Latencies and delays of operations on the board."""
        return OperatorTiming.of(self.board, self.target_mhz)

    def passes(
        self, in_memory: frozenset[tuple[str, str]] = frozenset(), compared: frozenset[str] = frozenset()
    ) -> PipelineOptions:
        """The options of the passes. ``in_memory`` names arrays, each with its kernel, that must not become
        registers, ``compared`` memories on the chip whose addresses are compared at run time."""
        memory, device, timing = self.board.memory, self.board.device, self.timing
        onchip = memory.kind == "onchip"
        return PipelineOptions(
            max_ops=self.options.limits.unrolled,
            max_inlined=self.options.limits.operations,
            max_accesses=self.options.limits.accesses,
            max_array_accesses=self.options.limits.array_accesses,
            max_barriers=self.options.limits.barriers,
            address_bits=timing.address_bits,
            max_access_bytes=128 if onchip else memory.word_bytes,
            word_bytes=0 if onchip else memory.word_bytes,
            unrolled_floats=min(AutoUnrollPolicy.floats, device.logic_cells // CELLS_FOR_EACH_FLOAT),
            memory_latency=self.board.read_latency,
            stepping_latency=0 if onchip else STEPPING_LATENCY,
            ram_bytes=device.rams.count * device.rams.bits // 8,
            hazards=not onchip,
            compared=compared,
            copy_bytes=self.copy_bytes,
            copied=self.copied,
            otherwise=self.otherwise,
            side_by_side=self.side_by_side,
            slots=0 if onchip else slots_for(self.board.read_latency),
            fp_relaxed=self.options.fp_relaxed,
            in_memory=in_memory,
            timing=timing,
            cells=lambda alone: logic_cells(alone, timing, device),
            cell_name=device.cell.plural,
            warn=self.warnings.append,
            record=self.changes.append,
            inspection=self.inspection,
        )

"""The timing model of a kernel whose parts come from the library and whose memories are planned."""

from dataclasses import dataclass, field
from typing import Any

from rtl_lib.arith.catalog import Choice, PeriodTooShort, choose
from rtl_lib.mem.ram_ports import RamLoadPort

from ...analysis.timing import AccessTiming, TimingModel
from ...diag import Code, CompileError
from ...ir import Op
from ...narrow import instance
from ...target.board import Board
from ...target.delay import DelayModel
from ..memory import MemoryPlan
from .parts import PartChoice, part_for

__all__ = ["LibraryParts", "OperatorTiming"]


@dataclass(frozen=True)
class LibraryParts:
    """The library part that computes an operation, and its cut for the clock of ``model``."""

    model: DelayModel
    _choices: dict[tuple[Any, ...], Choice] = field(default_factory=dict, compare=False, repr=False)

    def part(self, op: Op) -> PartChoice | None:
        """The part that computes the operation, or None where plain logic does."""
        return part_for(op, self.model.dsp_bits, self.model.adder_words)

    def __call__(self, op: Op) -> Choice | None:
        """The timing of that part. Raises CompileError if no number of registers makes it fit the clock."""
        part = self.part(op)
        if part is None:
            return None
        key = part.part, part.params  # the part is in the key because passes rewrite operations in place
        if key not in self._choices:
            self._choices[key] = self._cut(op, part)
        return self._choices[key]

    def _cut(self, op: Op, part: PartChoice) -> Choice:
        model = self.model
        try:
            return choose(part.part, part.params, model.period_ns, model.level, model.overhead_ns)
        except PeriodTooShort as error:
            raise CompileError.at(
                op.span,
                f"this operation cannot run at the kernel clock: {error}",
                "ask for a lower clock: --clock, the kernel_mhz of the board, or scheduler_target_fmax_mhz",
                code=Code.TOO_SLOW_FOR_CLOCK,
            ) from error


class OperatorTiming(TimingModel):
    """The timing model with library parts. ``memory`` knows the accesses of the current kernel; until memory is
    planned, accesses are assumed to take ``wait`` cycles."""

    def __init__(
        self,
        model: DelayModel,
        address_bits: int,
        memory: AccessTiming | None = None,
        wait: int = 1,
        parts: LibraryParts | None = None,
    ) -> None:
        parts = parts or LibraryParts(model)
        super().__init__(model, address_bits, parts, memory or MemoryPlan(), wait, RamLoadPort.timing.latency)

    @classmethod
    def of(cls, board: Board, kernel_mhz: float | None = None) -> "OperatorTiming":
        """The timing of a board, before the memories of a kernel are planned, for its clock or for another one."""
        return cls(board.delay_model(kernel_mhz), board.address_bits, wait=board.read_latency)

    def planned(self, memory: AccessTiming) -> "OperatorTiming":
        """The same timing with the memory plan of a kernel."""
        return OperatorTiming(self.model, self.address_bits, memory, self.wait, instance(self.parts, LibraryParts))

    def part(self, op: Op) -> PartChoice | None:
        """The part that computes the operation, or None where plain logic does."""
        return instance(self.parts, LibraryParts).part(op)

    @property
    def memory_plan(self) -> MemoryPlan:
        """The memory plan of the kernel, once there is one."""
        return instance(self.memory, MemoryPlan)

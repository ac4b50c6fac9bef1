"""The timing model of a kernel whose parts come from the library and whose memories are planned."""

from dataclasses import dataclass, field

from rtl_lib.arith.catalog import Choice, PeriodTooShort, choose
from rtl_lib.mem.ram_ports import RamLoadPort

from ...analysis.timing import AccessTiming, TimingModel
from ...diag import Code, CompileError
from ...ir import Op
from ...target.board import Board
from ...target.delay import DelayModel
from ..memory import MemoryPlan
from .parts import PartChoice, part_for

__all__ = ["LibraryParts", "OperatorTiming"]


@dataclass(frozen=True)
class LibraryParts:
    """Which part of the library computes an operation, and how it is cut for the clock of ``model``."""

    model: DelayModel
    _choices: dict[tuple, Choice] = field(default_factory=dict, compare=False, repr=False)

    def part(self, op: Op) -> PartChoice | None:
        """The part that computes the operation, or None where plain logic does."""
        return part_for(op, self.model.dsp_bits, self.model.adder_words)

    def __call__(self, op: Op) -> Choice | None:
        """The timing of that part. Raises CompileError where no number of registers makes it fit the clock."""
        part = self.part(op)
        if part is None:
            return None
        key = part.part, part.params  # passes turn one operation into another in place
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
                f"this operation cannot run at the board's clock: {error}",
                "choose a board, or a kernel_mhz in the board's file, with a longer period",
                code=Code.TOO_SLOW_FOR_CLOCK,
            ) from error


class OperatorTiming(TimingModel):
    """The timing model with parts of the library. ``memory`` knows the accesses of the kernel at hand; until it is
    planned, accesses are expected to take ``wait`` cycles."""

    def __init__(
        self,
        model: DelayModel,
        address_bits: int,
        memory: AccessTiming | None = None,
        wait: int = 1,
        parts: LibraryParts | None = None,
    ):
        parts = parts or LibraryParts(model)
        super().__init__(model, address_bits, parts, memory or MemoryPlan(), wait, RamLoadPort.timing.latency)

    @classmethod
    def of(cls, board: Board) -> "OperatorTiming":
        """The timing of a board, before the memories of a kernel are planned."""
        return cls(board.delay_model(), board.address_bits, wait=board.read_latency)

    def planned(self, memory: AccessTiming) -> "OperatorTiming":
        """The same for a kernel of which this is the memory plan."""
        return OperatorTiming(self.model, self.address_bits, memory, self.wait, self.parts)

    def part(self, op: Op) -> PartChoice | None:
        """The part that computes the operation, or None where plain logic does."""
        return self.parts.part(op)

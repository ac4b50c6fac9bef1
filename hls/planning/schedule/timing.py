"""How long each operation takes on the target: cycles for parts with registers inside, nanoseconds for plain logic."""

from dataclasses import dataclass, field

from rtl_lib.arith.catalog import Choice, PeriodTooShort, choose

from ...analysis.bits.wiring import is_wires, ordered_bits
from ...analysis.channels.endpoints import answers_at_once
from ...diag import CompileError
from ...ir import OPS, Attr, Op, PointerType, has
from ...target.delay import DelayModel
from ..memory import MemoryPlan
from .parts import PartChoice, part_for
from .problem import EPSILON_NS

__all__ = ["OperatorTiming"]

#: delay classes of operations whose name differs
_CLASS = {"ne": "eq", "ule": "ult", "sle": "slt", "fneg": "not", "fabs": "and", "addr": "add"}
#: traits of operations that begin with a register: of a queue, or of a RAM
OWN_REGISTERS = frozenset({"memory", "atomic", "region", "wait", "channel"})
_WIRES = frozenset({"const", "given", "array", "token", "trunc", "zext", "sext", "bitcast"})


@dataclass(frozen=True)
class OperatorTiming:
    """Answers the scheduler's questions about one operation. ``address_bits`` is the width of a pointer; ``memory``
    knows the accesses of the kernel at hand."""

    model: DelayModel
    address_bits: int
    memory: MemoryPlan = field(default_factory=MemoryPlan)
    _choices: dict[Op, tuple[PartChoice | None, Choice | None]] = field(default_factory=dict)

    @property
    def period(self) -> float:
        return self.model.period_ns

    @property
    def overhead(self) -> float:
        return self.model.overhead_ns

    @property
    def slot_read(self) -> float:
        """Choosing between the initial value and the slot's register."""
        return self.model.delay("select", 1)

    @property
    def header(self) -> float:
        """From the continue condition through the header to the next issue."""
        return 2 * self.model.delay("select", 1)

    @property
    def queue_output(self) -> float:
        """What a queue's output takes more than a register's."""
        return self.model.delay("fifo_out", 1)

    def latency(self, op: Op) -> int:
        """Cycles from operands to result; 0 is combinational."""
        choice = self._choice(op)
        return choice.latency if choice else self.memory.fixed_latency(op) or 0

    def turnaround(self, op: Op, steps: int) -> int:
        """Cycles from an operand to where the result is an operand again, through a history of so many places."""
        read = self.tap(steps)
        late = read + self.delay(op) > self.period - self.overhead + EPSILON_NS  # a register between both
        return self.latency(op) + 1 + late

    def takes(self, op: Op) -> float:
        """Nanoseconds of logic that an operation adds to a way through several: registers inside and one behind it are
        whole cycles."""
        latency = self.latency(op)
        return (latency + 1) * (self.period - self.overhead) if latency else self.delay(op)

    def tap(self, steps: int) -> float:
        """Nanoseconds to read the value of ``steps`` iterations ago: of at most so many places where it may be."""
        return self.slot_read + (self.model.delay("mux", steps) if steps > 1 else 0.0)

    def delay(self, op: Op) -> float:
        """Nanoseconds from the operands to the result, or to the first register inside."""
        choice = self._choice(op)
        if choice:
            return choice.delay_ns
        if op.opcode == "store" and self.memory.forwards(op):
            return self.slot_read  # a choice in front of the register of every load that sees it
        sharers = self.memory.sharers(op)
        if sharers > 1:
            return self.model.delay("mux", sharers)  # of the addresses of those that start in one cycle
        if answers_at_once(op):
            # the channel's own register is there from the start; its answer hangs on the condition
            return self.slot_read
        if not OWN_REGISTERS.isdisjoint(OPS[op.opcode].traits) or op.opcode in _WIRES or not op.results or is_wires(op):
            return 0.0
        if op.opcode == "addr" and op.attrs[Attr.MEM] in self.memory.onchip:
            return self.model.hop  # a memory of its own begins at 0: nothing is added, but its blocks lie elsewhere
        return self._logic(op)

    def out_delay(self, op: Op) -> float:
        """Nanoseconds from the last register inside to the result."""
        choice = self._choice(op)
        if choice:
            return choice.out_delay_ns
        straight = self.memory.fixed_latency(op) == 1  # from the RAM, without a register between
        if not straight and not self.memory.chosen_late(op):
            return 0.0
        banks = self.memory.banks(op)
        return (self.model.delay("ram_out", 1) if straight else 0.0) + (
            self.model.delay("mux", banks) if banks > 1 else 0.0
        )

    def _logic(self, op: Op) -> float:
        name = _CLASS.get(op.opcode, op.opcode)
        width = max((v.type.bits for v in op.operands), default=1)
        if isinstance(op.results[0].type, PointerType):
            width = self.address_bits
        if has(op, "shift") and _is_constant(op.operands[1]):
            name = f"const_{name}"
        if name == "eq" and any(_is_constant(v) for v in op.operands):
            width = max(1, width // 2)  # half as many bits to look at
        if name in ("ult", "slt"):
            width = ordered_bits(op)
            if width == 1:
                return 0.0  # the upper bit itself, or its opposite
        if op.results[0].type.bits == 1 and (has(op, "bitwise") or name == "select"):
            return self.model.delay(name, 1) / 2  # logic on single bits: at least two operations fit one lookup table
        if name in ("extract", "insert"):
            if _is_constant(op.operands[1]):
                return 0.0
            return (
                self.model.delay("mux", op.operands[0].type.length)
                if name == "extract"
                else (self.model.delay("select", 1) + self.model.delay("eq", op.operands[1].type.bits))
            )
        return self.model.delay(name, width)

    def part(self, op: Op) -> PartChoice | None:
        """The part that computes the operation, or None where plain logic does."""
        return self._chosen(op)[0]

    def _choice(self, op: Op) -> Choice | None:
        return self._chosen(op)[1]

    def _chosen(self, op: Op) -> tuple[PartChoice | None, Choice | None]:
        if op not in self._choices:
            part = part_for(op, self.model.dsp_bits, self.model.adder_words)
            self._choices[op] = part, self._cut(op, part) if part else None
        return self._choices[op]

    def _cut(self, op: Op, part: PartChoice) -> Choice:
        try:
            return choose(part.part, part.params, self.period, self.model.level, self.overhead)
        except PeriodTooShort as error:
            raise CompileError.at(
                op.span,
                f"this operation cannot run at the board's clock: {error}",
                "choose a board, or a kernel_mhz in the board's file, with a longer period",
            ) from error


def _is_constant(value) -> bool:
    return value.op is not None and value.op.opcode == "const"

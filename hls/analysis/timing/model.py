"""The timing model of operations: latency in cycles for pipelined parts, delay in ns for combinational logic."""

import math
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple, Protocol

from ...ir import (
    OPS,
    ArrayType,
    Attr,
    Builder,
    FloatType,
    Function,
    Op,
    PointerType,
    Region,
    Value,
    has,
    is_access,
    memory_name,
)
from ...ir.associative import emit
from ...ir.rewrite import is_constant
from ...ir.types import Type
from ...narrow import instance
from ...target.board import Board
from ...target.delay import DelayModel
from ..bits.wiring import is_wires, ordered_bits
from ..channels.endpoints import answers_at_once

__all__ = ["AccessTiming", "Arrival", "PartTiming", "Step", "TimingModel", "lookup_is_long"]

#: delay classes of operations whose class has another name
_CLASS = {"ne": "eq", "ule": "ult", "sle": "slt", "fneg": "not", "fabs": "and", "addr": "add"}
#: traits of operations that start from a register: of a queue, or of a RAM
OWN_REGISTERS = frozenset({"memory", "atomic", "region", "wait", "channel"})
_WIRES = frozenset(
    {"const", "copy_number", "given", "failed", "work_item", "array", "token", "trunc", "zext", "sext", "bitcast"}
)
#: levels of logic behind the comparison of a cached load's lookup: whether it is a miss, whether the guard holds it,
#: whether there is room, whether the burst takes it, and what moves on then; counted in placed units
LEVELS_BEHIND_LOOKUP = 6
EPSILON_NS = 1e-9  # sums of delays are compared with the period up to rounding


class Arrival(NamedTuple):
    """The time at which a value arrives: the cycle, counted from the start of an iteration, and the ns in that
    cycle."""

    cycle: float
    ns: float

    def later(self, cycles: float) -> "Arrival":
        """The same time in another cycle."""
        return Arrival(self.cycle + cycles, self.ns)


class Step(NamedTuple):
    """What an operation adds to the arrival of its operands: ``delay`` ns, then ``latency`` cycles, then ``out_delay``
    ns; without a latency the delay only."""

    delay: float
    latency: int = 0
    out_delay: float = 0.0


START = Arrival(0, 0.0)
#: arrival of values that do not change while a recurrence runs
LONG_BEFORE = Arrival(-math.inf, 0.0)


class PartTiming(Protocol):
    """Timing of an arithmetic part as pipelined for the clock."""

    @property
    def latency(self) -> int:
        """In cycles."""

    @property
    def delay_ns(self) -> float:
        """From the operands to the first register, or to the result if there is no register."""

    @property
    def out_delay_ns(self) -> float:
        """From the last register to the result; 0 if there is no register."""


class AccessTiming(Protocol):
    """Timing of accesses that follows from the memory plan."""

    @property
    def onchip(self) -> Container[str]:
        """The memories of the kernel itself."""

    def fixed_latency(self, op: Op) -> int | None:
        """Cycles that the access always takes; None if it may stall, and for operations that are no access."""

    def forwards(self, store: Op) -> bool:
        """Whether loads may take the stored value before it is in the memory."""

    def sharers(self, op: Op) -> int:
        """The number of accesses that start in the same cycle, this one included, and may use each other's banks."""

    def chosen_late(self, op: Op) -> bool:
        """Whether its result passes a mux over banks after its last register."""

    def banks(self, op: Op) -> int:
        """The number of banks of the memory of an access."""

    def pieces(self, op: Op) -> int:
        """The number of pieces of a word that an answer is chosen from behind a block RAM; 0 if the answer comes from
        elsewhere."""


@dataclass(frozen=True)
class UnplannedAccesses:
    """The accesses of a kernel whose memories are not planned yet: a load from one of its own memories (``onchip``)
    takes ``ram_latency`` cycles, the latency of others is unknown."""

    onchip: frozenset[str] = frozenset()
    ram_latency: int = 1

    def fixed_latency(self, op: Op) -> int | None:
        if not is_access(op) or memory_name(op) not in self.onchip:
            return None
        return self.ram_latency if op.opcode == "load" else 0

    def forwards(self, store: Op) -> bool:
        return False

    def sharers(self, op: Op) -> int:
        return 1

    def chosen_late(self, op: Op) -> bool:
        return False

    def banks(self, op: Op) -> int:
        return 1

    def pieces(self, op: Op) -> int:
        return 0


@dataclass(frozen=True)
class TimingModel:
    """The timing of all operations.

    ``model`` holds the delays of the device at the current clock, ``address_bits`` is the width of a pointer. ``parts``
    returns the timing of the arithmetic part that computes an operation (None: combinational logic), ``memory`` the
    accesses of the current kernel once they are planned, and ``wait`` is the expected latency in cycles of an access or
    channel call that may stall; ``ram_latency`` is that of a load from block RAM.
    """

    model: DelayModel
    address_bits: int
    parts: Callable[[Op], PartTiming | None]
    memory: AccessTiming = UnplannedAccesses()
    wait: int = 1
    ram_latency: int = 1
    #: operations that are not built yet, with what each adds to an arrival
    _probes: dict[tuple[str, Type, bool], tuple[tuple[Op, Step], ...]] = field(
        default_factory=dict,
        init=False,
        compare=False,
        repr=False,  # init: other models have other steps
    )

    def planned(self, memory: AccessTiming) -> "TimingModel":
        """The same for a kernel with these memories."""
        return replace(self, memory=memory)

    def unplanned(self, function: Function) -> "TimingModel":
        """The same for a flat kernel whose memories are not planned yet."""
        own = frozenset(name for name, memory in function.memories.items() if memory.onchip)
        return self.planned(UnplannedAccesses(own, self.ram_latency))

    # --- the clock, and the overhead of every loop

    @property
    def period(self) -> float:
        """The clock period in ns."""
        return self.model.period_ns

    @property
    def overhead(self) -> float:
        """The register overhead in every period (clock to output and setup), in ns."""
        return self.model.overhead_ns

    @cached_property
    def room(self) -> float:
        """The time for logic in a period, in ns."""
        return self.period - self.overhead

    @cached_property
    def slot_read(self) -> float:
        """The delay of selecting between the initial value and the slot's register."""
        return self.model.delay("select", 1)

    @property
    def header(self) -> float:
        """The delay from the continue condition through the header to the next issue."""
        return 2 * self.model.delay("select", 1)

    @property
    def queue_output(self) -> float:
        """The delay of a queue's output in addition to that of a register."""
        return self.model.delay("fifo_out", 1)

    def answer_output(self, op: Op) -> float:
        """The same of the answer of an operation that may wait: a load unit offers the word in the output register of a
        block RAM, or a piece of it. By a table that is not fitted, which says too little of block RAMs, it is the delay
        of a queue."""
        pieces = self.memory.pieces(op) if self.model.fitted else 0
        if not pieces:
            return self.queue_output
        chosen = self.model.delay("mux", pieces) if pieces > 1 else 0.0
        return max(self.queue_output, self.model.delay("ram_out", 1) + chosen)

    def tap(self, steps: int) -> float:
        """Nanoseconds to read the value of ``steps`` iterations ago: a mux over at most so many registers."""
        return self.slot_read + (self.model.delay("mux", steps) if steps > 1 else 0.0)

    def forwarding(self, op: Op) -> float:
        """Nanoseconds from the last register inside an operation to a reader of its result in the next iteration, past
        the state register, before those of :meth:`tap`."""
        return self.out_delay(op) + self.slot_read

    def carried(self, steps: int = 1, forwards: Op | None = None, preset: bool = False) -> float:
        """Nanoseconds to read a carried value: by :meth:`tap`, past the register from the operation that it
        ``forwards``, and without the choice of the initial value where the register begins with that (``preset``)."""
        past = self.forwarding(forwards) if forwards is not None else 0.0
        return self.tap(steps) + past - (self.slot_read if preset else 0.0)

    def exceeds(self, ns: float) -> bool:
        """Whether a chain of logic is too long for a cycle."""
        return ns > self.room + EPSILON_NS

    def misses(self, arrival: Arrival) -> bool:
        """Whether a value with this arrival is too late for the first cycle."""
        return arrival.cycle > 0 or arrival.cycle == 0 and self.exceeds(arrival.ns)

    # --- one operation

    def latency(self, op: Op) -> int:
        """Cycles from operands to result; 0 if it is combinational, or known at run time only."""
        part = self.parts(op)
        return part.latency if part else self.memory.fixed_latency(op) or 0

    def delay(self, op: Op) -> float:
        """Nanoseconds from the operands to the result, or to the first internal register."""
        part = self.parts(op)
        if part:
            return part.delay_ns
        if op.opcode == "store" and self.memory.forwards(op):
            return self.slot_read  # a select in front of the register of every load that sees it
        sharers = self.memory.sharers(op)
        if sharers > 1:
            return self.model.delay("mux", sharers)  # over the addresses of the accesses that start in one cycle
        if answers_at_once(op):
            # the channel's own register is available from the start; the result depends on the condition
            return self.slot_read
        if _begins_with_a_register(op) or op.opcode in _WIRES or not op.results or is_wires(op):
            return 0.0
        if op.opcode == "addr" and op.attrs[Attr.MEM] in self.memory.onchip:
            return self.model.hop  # starts at address 0, so nothing is added; but its blocks are placed apart
        return self._logic(op)

    def out_delay(self, op: Op) -> float:
        """Nanoseconds from the last internal register to the result."""
        part = self.parts(op)
        if part:
            return part.out_delay_ns
        straight = self.memory.fixed_latency(op) == 1  # from the RAM output, without a register between
        if not straight and not self.memory.chosen_late(op):
            return 0.0
        banks = self.memory.banks(op)
        return (self.model.delay("ram_out", 1) if straight else 0.0) + (
            self.model.delay("mux", banks) if banks > 1 else 0.0
        )

    def expected(self, op: Op) -> int:
        """Cycles from operands to result; the usual number if the operation may stall."""
        if _begins_with_a_register(op) and not answers_at_once(op):
            fixed = self.memory.fixed_latency(op)
            return self.wait if fixed is None else fixed
        return self.latency(op)

    def turnaround(self, op: Op, steps: int) -> int:
        """Cycles from an operand to the use of the result as an operand again, through a delay line of ``steps``
        stages."""
        return int(self.after(op, Arrival(0, self.tap(steps))).cycle) + 1

    def _logic(self, op: Op) -> float:
        name = _CLASS.get(op.opcode, op.opcode)
        width = max((v.type.bits for v in op.operands), default=1)
        if isinstance(op.results[0].type, PointerType):
            width = self.address_bits
        if has(op, "shift") and is_constant(op.operands[1]):
            name = f"const_{name}"
        if name == "eq" and any(is_constant(v) for v in op.operands):
            width = max(1, width // 2)  # half as many bits to compare
        if name in ("ult", "slt"):
            width = ordered_bits(op)
            if width == 1:
                return 0.0  # the top bit, or its inverse
        if op.results[0].type.bits == 1 and (has(op, "bitwise") or name == "select"):
            return self.model.delay(name, 1) / 2  # single-bit logic: at least two operations fit one lookup table
        if name in ("extract", "insert"):
            if is_constant(op.operands[1]):
                return 0.0
            return (
                self.model.delay("mux", instance(op.operands[0].type, ArrayType).length)
                if name == "extract"
                else (self.model.delay("select", 1) + self.model.delay("eq", op.operands[1].type.bits))
            )
        return self.model.delay(name, width)

    # --- sequences of operations

    def register(self, cycle: float = 0) -> Arrival:
        """The arrival of a carried value that was computed before ``cycle``."""
        return Arrival(cycle, self.slot_read)

    def after(self, op: Op, start: Arrival, delay: float | None = None) -> Arrival:
        """The arrival of the result if the operands arrive at ``start``; ``delay`` replaces that of the operation. A
        delay that does not fit into the rest of a cycle starts in the next one."""
        if start.cycle == LONG_BEFORE.cycle:
            return LONG_BEFORE
        return self.through(self.step(op) if delay is None else Step(delay), start)

    def step(self, op: Op) -> Step:
        """What the operation adds to the arrival of its operands."""
        latency = self.expected(op)
        return Step(self.delay(op), latency, self.out_delay(op) if latency else 0.0)

    def through(self, step: Step, start: Arrival) -> Arrival:
        """The arrival after an operation whose operands arrive at ``start``."""
        (cycle, ns), (delay, latency, out_delay) = start, step
        begun = cycle + 1 if delay and ns and self.exceeds(ns + delay) else cycle
        if latency:
            return Arrival(begun + latency, out_delay)
        return Arrival(begun, ns + delay if begun == cycle else delay)

    def joined(self, kind: str, type: Type, start: Arrival, flush: bool = False) -> Arrival:
        """The arrival of the result of an operation that is not built yet. ``kind`` is an opcode, or "smin" and the
        like; its operands have one ``type``, none is constant, and with ``flush`` subnormal numbers are zeros."""
        if start.cycle == LONG_BEFORE.cycle:
            return LONG_BEFORE
        for _, step in self._probe(kind, type, flush):
            start = self.through(step, start)
        return start

    def logic(self, kind: str, type: Type) -> float:
        """The delay in ns of a combinational operation that is not built yet."""
        return sum(self.delay(op) for op, _ in self._probe(kind, type, False))

    def _probe(self, kind: str, type: Type, flush: bool) -> tuple[tuple[Op, Step], ...]:
        key = kind, type, flush
        if key not in self._probes:
            body = Region()
            b = Builder(body)
            if isinstance(type, FloatType):
                operands = [Value(type) for _ in range(3 if kind == "fma" else 2)]
                b.op(kind, *operands, attrs={Attr.FLUSH_DENORMALS: True} if flush else {})
            else:
                (b.value if kind in OPS else partial(emit, b=b))(kind, Value(type), Value(type))
            self._probes[key] = tuple((op, self.step(op)) for op in body.ops)
        return self._probes[key]


def lookup_is_long(board: Board) -> bool:
    """Whether a block RAM's output, the comparison of a word's number with it, and what depends on that are too long
    for one cycle of the kernel clock, by a delay table that is fitted to what place and route reaches.

    A table that is not fitted says too little of a path of ten levels: on these boards a lookup keeps its two cycles.
    """
    model = board.delay_model()
    word_bits = board.address_bits - (board.memory.word_bytes.bit_length() - 1)
    compared = model.overhead_ns + model.delay("ram_out", 1) + model.delay("eq", word_bits)
    return model.fitted and compared + LEVELS_BEHIND_LOOKUP * model.level > model.period_ns


def _begins_with_a_register(op: Op) -> bool:
    return not OWN_REGISTERS.isdisjoint(OPS[op.opcode].traits)

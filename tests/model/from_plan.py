"""The model's machine for a compiled kernel, from its schedule and memory plan."""

from dataclasses import dataclass

from hls.analysis.channels.endpoints import is_call
from hls.driver import CompiledKernel
from hls.ir import TokenType, walk
from hls.ir.launch import units_of
from hls.planning.memory import LsuKind
from hls.planning.memory.lsu import BURST_ALIGN
from hls.planning.schedule.levels import is_exceptional
from hls.target.board import Board

from .loop import Loop
from .memory import GlobalMemory
from .recording import Recorded, record
from .simulate import ALL_RULES, Clock, Figures
from .spec import AccessSpec, LevelSpec, LoopSpec, OperationSpec, RecurrenceSpec, UnitSpec

__all__ = ["KernelRun", "kernel_spec", "run_kernel_model"]

#: A FIFO deeper than this is a block RAM, whose words are seen a cycle later.
SHALLOW = 32
INDEX = RecurrenceSpec("index", (0, 0), (0, 0))  # how the model's tokens count their iterations


def kernel_spec(kernel: CompiledKernel, board: Board) -> tuple[LoopSpec, dict]:
    """(The machine, operation name -> IR operation) in runs whose buffers do not overlap.

    Raises ``ValueError`` for what the model has not: channels, fences, windows, memory on the chip, hazard units,
    work-items that meet, compute units, loads inside a level that may stand still.
    """
    if board.memory.kind == "onchip":
        raise ValueError("memory on the chip is not modelled")
    if any(access.unit.holds_pipeline for access in kernel.memory.accesses.values()):
        raise ValueError("loads inside a level that may stand still are not modelled")
    if units_of(kernel.function) > 1:
        raise ValueError("compute units are not modelled")
    if any(op.opcode == "meet" for op in walk(kernel.function.body)):
        raise ValueError("work-items that meet are not modelled")
    translation = _Translation(kernel, board)
    return translation.region(kernel.plan.top), translation.operations


class _Translation:
    def __init__(self, kernel, board):
        self.kernel, self.latency = kernel, board.memory.read_latency
        self.operations = {}

    def region(self, plan) -> LoopSpec:
        name = self._name(plan.loop) if plan.loop else "top"
        levels = tuple(self._level(plan, level) for level in plan.levels)
        results = plan.loop is not None and any(self._travels(r) for r in plan.loop.results)
        return LoopSpec(
            name,
            levels,
            (INDEX, *_recurrences(plan)),
            _point(plan.decide),
            plan.slots,
            plan.entries,
            plan.speculative,
            exit_latency=_latency(plan.entries, results) if plan.slots == 1 else 1,
        )

    def _level(self, plan, level) -> LevelSpec:
        if any(not window.overlap for window in level.windows):
            raise ValueError("windows are not modelled")
        row = tuple(self._operation(row) for row in level.row)
        last = level is plan.levels[-1]
        return LevelSpec(
            level.depth,
            row,
            0 if last else level.bypass_depth,
            not level.elastic,
            _pace(plan) if level.index == 0 else 1,
            _latency(level.bypass_depth),
        )

    def _operation(self, row) -> OperationSpec:
        op = row.op
        name = self._name(op)
        self.operations[name] = op
        if op.opcode == "loop":
            child = self.kernel.plan.loops[op]
            payload = child.invariants or any(self._travels(v) for v in op.operands[1:])
            return OperationSpec(
                name, row.push, row.request_depth, self.region(child), latency=_latency(row.request_depth, payload)
            )
        if is_call(op):
            raise ValueError("other kernels, at the far ends of channels, are not modelled")
        if op.opcode == "hazard":
            raise ValueError("hazard units are not modelled")
        if op.opcode == "fence":
            if not is_exceptional(op):
                raise ValueError(f"{name}: fences are not modelled")
            return OperationSpec(name, row.push, row.request_depth, UnitSpec(), row.joins)
        return OperationSpec(name, row.push, row.request_depth, self._unit(op), row.joins, _latency(row.request_depth))

    def _unit(self, op) -> AccessSpec:
        access = self.kernel.memory.accesses[op]
        pending = max(32, 1 << (self.latency - 1).bit_length())  # whole bursts over the memory's latency
        kept = access.cache_words - pending if access.cache_words else 0
        return AccessSpec(
            access.direction,
            self.latency + 32,
            pending,
            kept,
            3 if access.hardware and access.hardware.options.get("registered") else 2,
            access.reads_ahead,
            BURST_ALIGN // access.word_bytes if access.unit is LsuKind.NEXT_WORD_LOAD else 0,
            access.scattered,
            access.gathers,
            access.unit in (LsuKind.PIPELINED_LOAD, LsuKind.PIPELINED_STORE),
        )

    def _travels(self, value) -> bool:
        """Whether a value takes bits in a request or a result: a token, a constant, an argument does not."""
        fixed = value.op is not None and (value.op.opcode == "const" or value.op in self.kernel.plan.static)
        return not fixed and not isinstance(value.type, TokenType) and value not in self.kernel.function.args

    def _name(self, op) -> str:
        what = op.attrs.get("label") or (op.operands[0].op.attrs["mem"] if op.opcode in ("load", "store") else "")
        names = {op: name for name, op in self.operations.items()}
        line = op.span.line if op.span else 0
        return names.get(op) or f"{op.opcode} {what} L{line} #{len(self.operations)}"


def _point(point):
    return (point.level, point.stage)


def _latency(depth, payload=True):
    return 2 if depth > SHALLOW and payload else 1


def _pace(plan) -> int:
    """The least cycles between two tokens of a slot at the header, as far as level 0 gives them."""
    return plan.again.stage + plan.again_delay + 1 if plan.again.level == 0 else 1


def _recurrences(plan):
    """Of the carried values between two levels the one that is on its way longest; the others wait for less."""
    longest = {}
    for c in plan.carried:
        if c.overlap or c.between or c.root is not None or c.write == c.read and c.read.level == 0:
            continue
        key, (level, stage) = (c.read.level, c.write.level), _point(c.write)
        if key[0] == key[1] and isinstance(c.arg.type, TokenType):
            stage = max(c.read.stage, stage - 1)  # order may be relied on in the cycle in which it is given
        span = stage - c.read.stage if key[0] == key[1] else stage
        if key not in longest or span > longest[key][0]:
            longest[key] = (span, RecurrenceSpec(f"carried {c.index}", _point(c.read), (level, stage)))
    return [r for _, r in longest.values()]


@dataclass(frozen=True)
class KernelRun:
    """``cycles`` from start to done; ``loops`` maps (line, label) of a loop to its figures."""

    cycles: int
    loops: dict[tuple, Figures]


def run_kernel_model(
    kernel: CompiledKernel, board: Board, buffers, addresses, scalars, sizes, age=0, limit=2_000_000
) -> KernelRun:
    """One launch on the model.

    ``buffers``: bytes by name, before the run (they change); ``addresses``: where the buffers lie in global memory;
    ``sizes``: global size, local size, offset; ``age``: cycles that the memory has been running when the
    kernel starts. Raises ``TimeoutError`` after ``limit`` cycles.
    """
    spec, operations = kernel_spec(kernel, board)
    top = record(kernel.function, buffers, scalars, *sizes)
    meaning = Recorded({name: _fact(op, addresses) for name, op in operations.items()})
    clock, loops = Clock(), {}
    # cycle 1, in which the model's top takes its token, is the one in which the static values have settled
    memory = GlobalMemory(clock, board, age + kernel.plan.static_depth - 1)
    root = Loop(clock, spec, meaning, ALL_RULES, 1, loops, memory)
    root.requests.push(top)
    finished = False
    while not finished or not memory.idle:
        clock.step()
        if root.response() is not None:
            root.take()
            finished = True
        if finished:
            memory.end()
        if clock.now > limit:
            raise TimeoutError(f"{limit} cycles")
    by_name = {name: loop.header for name, loop in loops.items() if name != "top"}
    figures = {
        (operations[name].span.line, operations[name].attrs.get("label", "")): Figures(
            tuple(header.issues), header.started
        )
        for name, header in by_name.items()
    }
    return KernelRun(clock.now + kernel.plan.static_depth, figures)


def _fact(op, addresses):
    if op.opcode in ("load", "store"):
        return op, addresses[op.operands[0].op.attrs["mem"]]
    return op, None

"""The closed form of the performance model: cycles of a launch from its schedule, memory plan and workload, without
hardware (docs/rationale/model.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..diag import Span, at_line
from ..ir import Attr, Copying, Function, Op
from ..ir.launch import is_part
from ..passes.loops.merged_attributes import Merged
from ..passes.loops.unroll import Unrolled
from ..planning.memory import MemoryPlan
from ..planning.schedule import KernelPlan, RegionPlan
from ..target.board import Board
from .extremes import LIKELY, Extreme, Unknown
from .ideal import Ideal
from .launch_waits import LaunchWaits
from .memory_time import MemoryTime
from .pace import SchedulePace
from .prediction import SCHEMA, Interval, PredictedAccess, PredictedLoop, Prediction
from .runs import RunCounts
from .workload import Workload

__all__ = ["NotModelled", "Planned", "Timed", "alone", "estimate", "regions", "timed"]


class NotModelled(Exception):
    """A kernel that the closed form does not cover; the text says what it has."""


@dataclass(frozen=True)
class Planned:
    """The plans of one kernel, and what became of the loops of its source. ``main`` is the name of the main file."""

    function: Function
    memory: MemoryPlan
    plan: KernelPlan
    unrolled: Sequence[Unrolled]
    merged: Sequence[Merged]
    main: str


def estimate(planned: Planned, workload: Workload, board: Board) -> Prediction:
    """Predict one launch. Raises NotModelled for a kernel with channels, which only :mod:`hls.model.network` covers."""
    _check(planned)
    return alone(planned, workload, board)


def alone(planned: Planned, workload: Workload, board: Board) -> Prediction:
    """Predict one launch as if no call on a channel ever waited."""
    likely = timed(planned, workload, board)
    pace, memory, counts = likely.pace, likely.memory, likely.counts
    least, most = (timed(planned, workload, board, Unknown.all(one)).cycles for one in (Extreme.LEAST, Extreme.MOST))
    cycles = Interval.of_cycles(likely.cycles, least, most)
    return Prediction(
        SCHEMA,
        workload.kernel,
        board.name,
        cycles,
        likely.cycles * board.clock.period_ns * 1e-9,
        tuple(_loop(planned, pace, counts, op) for op in planned.plan.loops),
        tuple(_access(planned, memory, op) for op in planned.memory.outside),
        _wide(cycles, lambda case: timed(planned, workload, board, case).cycles),
        tuple(dict.fromkeys(f"{one.what}{at_line(one.span)}" for one in counts.assumptions)),
    )


def _check(planned: Planned) -> None:
    if is_part(planned.function):
        copied = Attr.SHARES in planned.function.attrs
        raise NotModelled("copies that share its iterations" if copied else "a memory part and a compute part")
    for region in regions(planned.plan):
        for op in region.place:
            if op.opcode in ("channel_read", "channel_write"):
                raise NotModelled(f"calls on channels{at_line(op.span)}")


@dataclass(frozen=True)
class Timed:
    """The terms of one prediction: its ``cycles``, and what they come from."""

    cycles: float
    pace: SchedulePace
    memory: MemoryTime
    counts: RunCounts


def timed(
    planned: Planned,
    workload: Workload,
    board: Board,
    unknown: Unknown = LIKELY,
    ideal: Ideal = Ideal.NOTHING,
    scaled: Mapping[Op, float] = MappingProxyType({}),
    near: Mapping[Op, float] = MappingProxyType({}),
) -> Timed:
    """The terms under one assumption about memory, with something ``ideal``; of the loops in ``scaled`` only that
    share of the iterations counts. The accesses in ``near`` move so many words in the order of their addresses, as if
    the program used a copy on the chip. Calls on channels never wait."""
    counts = RunCounts(planned.function, planned.plan, planned.unrolled, planned.merged, workload, planned.main)
    for op, factor in scaled.items():
        counts.scale(op, factor)
    stands = {op: region for region in regions(planned.plan) for op in region.place}
    memory = MemoryTime(planned.memory, counts, board, stands, unknown, ideal, near)
    pace = SchedulePace(planned.plan, counts, memory, ideal, unknown)
    return Timed(pace.cycles + LaunchWaits(memory, pace).cycles, pace, memory, counts)


def regions(plan: KernelPlan) -> list[RegionPlan]:
    """The top and all loops of a kernel."""
    return [plan.top, *plan.loops.values()]


def _place(span: Span | None, main: str) -> tuple[str, int]:
    return ("" if span.file == main else span.file, span.line) if span else ("", 0)


def _loop(planned: Planned, pace: SchedulePace, counts: RunCounts, op: Op) -> PredictedLoop:
    count, found = counts.loop(op), pace.of(op)
    return PredictedLoop(
        *_place(op.span, planned.main),
        _label(op),
        count.iterations,
        count.invocations,
        planned.plan.loops[op].ii,
        found.interval,
        found.alone,
        found.cause if found.alone >= found.shared else "loops inside, or memory",
        found.slots,
    )


def _label(loop: Op) -> str:
    """The name of a loop, and whether it is for launches without copies of buffers."""
    label = str(loop.attrs.get(Attr.LABEL, ""))
    return f"{label} without copies".lstrip() if loop.attrs.get(Attr.COPYING) == Copying.WITHOUT else label


def _access(planned: Planned, memory: MemoryTime, op: Op) -> PredictedAccess:
    access, traffic = planned.memory.accesses[op], memory.traffic(op)
    return PredictedAccess(
        *_place(op.span, planned.main),
        access.memory,
        access.direction,
        access.lsu,
        traffic.count,
        traffic.words,
        traffic.words * access.word_bytes,
    )


def _wide(cycles: Interval, found: Callable[[Unknown], float]) -> str:
    """The assumption that makes an interval wide: the one that alone moves the farther end of it most. ``found`` are
    the cycles of a case."""
    if cycles.most <= 1.02 * cycles.least:
        return ""
    extreme = Extreme.MOST if cycles.most - cycles.likely >= cycles.likely - cycles.least else Extreme.LEAST
    moved = {what: abs(found(case) - cycles.likely) for what, case in Unknown.each(extreme).items()}
    return f"{extreme.value}: {max(moved, key=lambda what: moved[what])}"

"""What a replay showed of a launch, and the prediction that it makes."""

from dataclasses import dataclass

from ...diag import Span, at_line
from ...ir import Attr, Op, walk
from ...narrow import present
from ...planning.schedule import RegionPlan
from ...target.board import Board
from ..estimate import Planned
from ..prediction import NOT_ISSUED, SCHEMA, Interval, PredictedAccess, PredictedAccount, PredictedLoop, Prediction

__all__ = ["AccessFigures", "LoopFigures", "Replayed", "prediction_of"]


@dataclass(frozen=True)
class LoopFigures:
    """One loop: tokens and invocations, in how many cycles an invocation was running, and how many stretches of such
    cycles there were."""

    plan: RegionPlan
    iterations: int
    invocations: int
    busy: int
    starts: int

    @property
    def measured_ii(self) -> float | None:
        """Cycles from an iteration to the next while the loop is running; None where no iteration follows another, and
        for outer loops, which issue ahead of the loops inside."""
        inner = not any(row.op.opcode == "loop" for level in self.plan.levels for row in level.row)
        intervals = self.iterations - self.starts
        return (self.busy - self.starts) / intervals if inner and intervals > 0 else None

    @property
    def interleaved(self) -> int:
        """Invocations that share the loop's cycles; more than its II would not increase the rate."""
        return min(self.plan.slots, self.plan.ii)


@dataclass(frozen=True)
class AccessFigures:
    """One access to global memory outside of the chip: executions, and the words and bursts of memory that it asked
    for."""

    op: Op
    count: int
    words: int
    bursts: int


@dataclass(frozen=True)
class Replayed:
    """A launch: ``cycles`` from start to done, of which in ``issued`` an innermost loop, or a kernel without loops,
    issued an iteration."""

    cycles: int
    issued: int
    loops: tuple[LoopFigures, ...]
    accesses: tuple[AccessFigures, ...]
    parts: "tuple[Replayed, ...]" = ()  #: of a split kernel, its other parts, which end with it

    @property
    def accounts(self) -> tuple[PredictedAccount, ...]:
        """Every cycle in one of them."""
        other = self.cycles - self.issued
        return PredictedAccount("issued", None, self.issued), PredictedAccount(NOT_ISSUED, None, other)


def prediction_of(planned: Planned, board: Board, found: Replayed) -> Prediction:
    """The prediction for one launch on the board: the replay counts cycle by cycle, so its interval is a point."""
    return Prediction(
        SCHEMA,
        planned.function.name,
        board.name,
        Interval(found.cycles, found.cycles, found.cycles),
        found.cycles * board.clock.period_ns * 1e-9,
        tuple(_loop(one, planned) for one in found.loops),
        tuple(_access(one, planned) for one in found.accesses),
        "",
        _assumed(planned),
        found.accounts,
    )


def _assumed(planned: Planned) -> tuple[str, ...]:
    """What only a module of the user knows."""
    waiting = [op for op in walk(planned.function.body) if op.opcode == "rtl_wait"]
    return tuple(
        dict.fromkeys(
            f"module {op.attrs[Attr.RTL_MODULE]} answers after {op.attrs[Attr.RTL_LATENCY]} cycles, as its library "
            f"says{at_line(op.span)}"
            for op in waiting
        )
    )


def _loop(one: LoopFigures, planned: Planned) -> PredictedLoop:
    op = present(one.plan.loop)
    return PredictedLoop(
        *_place(op.span, planned.main),
        str(op.attrs.get(Attr.LABEL, "")),
        one.iterations,
        one.invocations,
        one.plan.ii,
        one.busy / one.iterations if one.iterations else 0.0,
        one.plan.ii / one.interleaved,
        "replayed",
        one.interleaved,
    )


def _access(one: AccessFigures, planned: Planned) -> PredictedAccess:
    access = planned.memory.accesses[one.op]
    return PredictedAccess(
        *_place(access.span, planned.main),
        access.memory,
        access.direction,
        access.lsu,
        one.count,
        one.words,
        one.words * access.word_bytes,
    )


def _place(span: Span | None, main: str) -> tuple[str, int]:
    return ("" if span.file == main else span.file, span.line) if span else ("", 0)

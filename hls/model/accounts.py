"""The cycles of an estimate by cause and line: what each cause adds to a launch in which the ones before it are ideal.

The launch without dependences and with ideal memory issues, fills and drains; what memory adds to it is divided among
the accesses by their words, and what dependences add to that, among recurrences and conflicts by the cycles for which
iterations wait for them (docs/rationale/model.md).
"""

from collections.abc import Iterable, Sequence

from ..ir import Op
from ..ir.loop_names import loop_names, place_of
from ..planning.schedule.account_text import awaited_access, awaited_stores, recurrence, unacknowledged
from ..target.board import Board
from .estimate import Planned, Timed, timed
from .ideal import Ideal
from .prediction import PredictedAccount
from .workload import Workload

__all__ = ["ISSUED", "accounts"]

ISSUED = "issued"
FILL = "ramp-up and drain"
#: a cause, its line, and what it has of the cycles of all causes of its kind
Share = tuple[str, int | None, float]


def accounts(planned: Planned, workload: Workload, board: Board) -> tuple[PredictedAccount, ...]:
    """The accounts of a launch, the largest first; they sum to its likely cycles. Calls on channels never wait here."""
    now = timed(planned, workload, board)
    free = min(now.cycles, timed(planned, workload, board, ideal=Ideal.DEPENDENCES).cycles)
    both = Ideal.DEPENDENCES | Ideal.MEMORY
    bare = min(free, timed(planned, workload, board, ideal=both).cycles)
    issued = min(bare, _issues(now))
    found: list[Share] = [(ISSUED, None, issued), (FILL, None, bare - issued)]
    found += _divided(
        now.cycles - free, [*_recurrences(planned, now), *_conflicts(planned, now)], "waiting for dependences"
    )
    found += _divided(free - bare, _accesses(planned, now), "waiting for memory")
    return _rounded(_joined(found))


def _issues(now: Timed) -> float:
    """Cycles in which an innermost loop issues; one of a kernel without loops. Loops beside each other are taken to run
    one after the other."""
    plans = now.pace.plan.loops
    inner = [op for op, one in plans.items() if not any(row.op in plans for level in one.levels for row in level.row)]
    return sum(now.counts.loop(op).iterations for op in inner) if inner else 1.0


def _recurrences(planned: Planned, now: Timed) -> list[Share]:
    """What other invocations do not hide of each; or, where they hide them all until the last ones, the whole of it."""
    found, whole = list[Share](), list[Share]()
    names = loop_names(map(place_of, planned.plan.loops))
    for op in now.pace.plan.loops:
        pace, count = now.pace.of(op), now.counts.loop(op)
        beside = max(1.0, min(pace.slots, count.entered))
        cause = recurrence(op, names[place_of(op)])
        found.append((cause, _line(op), count.iterations * max(0.0, pace.alone / beside - 1)))
        whole.append((cause, _line(op), count.iterations * max(0.0, pace.alone - 1)))
    return found if any(cycles for _, _, cycles in found) else whole


def _conflicts(planned: Planned, now: Timed) -> Iterable[Share]:
    for op, plan in planned.plan.loops.items():
        for check, load, cycles in now.memory.meetings(plan, now.pace.through):
            line = _line(check) or _line(load)
            yield f"waiting for {awaited_stores(check)}", line, now.counts.loop(op).iterations * cycles


def _accesses(planned: Planned, now: Timed) -> Iterable[Share]:
    for op, access in planned.memory.outside.items():
        traffic = now.memory.traffic(op)
        cycles = max(traffic.words * now.memory.word_cycles, traffic.scattered * now.memory.row_cycles)
        stores = access.direction == "store"
        waited = f"waiting for {awaited_access(access.direction, access.memory)}"
        cause = unacknowledged(access.memory) if stores else waited
        yield cause, _line(op), cycles


def _divided(cycles: float, shares: Iterable[Share], otherwise: str) -> list[Share]:
    """So many cycles in proportion to the shares; for the cause ``otherwise`` if there are none."""
    there = [one for one in shares if one[2] > 0]
    whole = sum(share for _, _, share in there)
    if not there:
        return [(otherwise, None, cycles)]
    return [(cause, line, cycles * share / whole) for cause, line, share in there]


def _joined(found: Sequence[Share]) -> list[Share]:
    """One account for each cause and line, the largest first."""
    sums: dict[tuple[str, int | None], float] = {}
    for cause, line, cycles in found:
        sums[cause, line] = sums.get((cause, line), 0.0) + cycles
    ordered = sorted(sums.items(), key=lambda one: -one[1])
    return [(cause, line, cycles) for (cause, line), cycles in ordered]


def _rounded(found: Sequence[Share]) -> tuple[PredictedAccount, ...]:
    """Whole cycles that sum to the rounded sum; none of no cycle."""
    told, exact, rounded = list[PredictedAccount](), 0.0, 0
    for cause, line, cycles in found:
        exact += cycles
        whole = round(exact) - rounded
        rounded += whole
        if whole > 0:
            told.append(PredictedAccount(cause, line, whole))
    return tuple(told)


def _line(op: Op) -> int | None:
    return op.span.line if op.span else None

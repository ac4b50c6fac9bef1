"""The points at which a token admits the next one of its invocation: at the header, and at the entries of levels."""

from collections.abc import Collection, Sequence

from ...ir import Op, Region, TokenType, Value, has
from .plan import Carried, Point
from .stages import LevelStages

__all__ = ["again_point", "ready_point", "uniform_trips"]


def again_point(
    carried: Collection[Carried], decide: Point, ii: int, stages: Sequence[LevelStages]
) -> tuple[Point, int]:
    """The point at which the header may issue again: the continue condition is known, and every value read in level 0
    is written."""
    back = [
        _safe_entry(c) for c in carried if c.read.level == 0 and not c.windowed and (c.write.level > 0 or c.overlap)
    ]
    again = max([decide, *back])
    if again.level == 0 and again.stage < ii - 1:
        stage = min(ii - 1, stages[0].depth - 1)
        return Point(0, stage), ii - 1 - stage
    return again, 0


def ready_point(k: int, carried: Collection[Carried], again: Point, decide: Point | None) -> Point | None:
    """The point that a token must pass before the next one of its slot may enter level ``k``; None where ``again``
    implies it.

    For speculative loops, ``decide`` is given: the deciding level admits a token when the one before it has decided.
    """
    if k == 0:
        return None
    points = [
        _safe_entry(c) for c in carried if c.read.level == k and c.write > again and not c.windowed and c.root is None
    ]
    # a token that was issued implies that the one before has passed ``again``: only later points need a check
    points = [point for point in points if point > again]
    if decide is not None and decide.level == k:
        points.append(decide)
    return max(points, default=None)


def _safe_entry(c: Carried) -> Point:
    """The point that a token passes one cycle before the next one may enter, so that the next one reads ``c`` after it
    is written."""
    if c.read.level == c.write.level:
        at_once = isinstance(c.arg.type, TokenType) or c.forwards is not None  # in the cycle in which it is produced
        apart = c.write.stage - c.read.stage - at_once + 1  # cycles, which ``distance`` tokens share
        return Point(c.read.level, max(0, -(-apart // c.distance) - 1))
    return c.write


def uniform_trips(region: Region, loop: Op | None, fixed: frozenset[Value]) -> bool:
    """Whether every invocation has the same trip count: the continue condition depends on fixed values alone."""
    if loop is None:
        return True
    nexts = dict(zip(region.args, region.terminator.operands[1:], strict=True))
    initial = dict(zip(region.args, loop.operands[1:], strict=True))
    todo, seen = [region.terminator.operands[0]], set(fixed)
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in nexts:
            todo += [nexts[value], initial[value]]
        elif value.op is not None and has(value.op, "pure") and value.op.operands:
            todo += value.op.operands
        else:
            return False
    return True

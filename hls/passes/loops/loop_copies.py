"""Copies of a loop's body in sequence: what unrolling makes of a loop, also to look at before it is decided."""

from collections.abc import Callable, Iterator

from ...analysis.induction.trip_count import count_trips, value_where
from ...ir import Attr, Builder, Op, Region, Value
from ...ir.clone import clone_ops
from .merged_attributes import CONTROLS

__all__ = ["chain", "entirely_unrolled"]


def chain(body: Region, values: list[Value], copies: int, is_sure: Callable[[int], bool]) -> Region:
    """``copies`` bodies in sequence, the first one with ``values`` as its arguments; yields (continue, next...).

    Unless ``is_sure`` that another iteration follows copy k, all later copies are under its ``continue``.
    """
    region = target = Region()
    for k in range(copies):
        ops = clone_ops(body.ops, dict(zip(body.args, values)))
        end = ops.pop()
        target.ops += ops
        values = end.operands[1:]
        if k == copies - 1:
            target.ops.append(end)
        elif not is_sure(k):
            target = _guard(target, end)
    return region


def _guard(region: Region, end: Op) -> Region:
    """End the region with an `if` on the continue of ``end``; returns its empty branch, for the operations that
    follow."""
    b, following, stop = Builder(region, end.span), Region(), Region()
    again, *values = end.operands
    last = Builder(stop, end.span)
    last.op("yield", last.const(0, again.type), *values)
    guarded = b.op("if", again, results=[v.type for v in end.operands], regions=[following, stop])
    b.op("yield", *guarded.results)
    return following


def entirely_unrolled(loop: Op, trips: int, most: int) -> list[Op] | None:
    """The operations that are left of a loop nest if all of its loops are unrolled entirely; None if the trip count of
    one of them is not a constant of at most ``trips``, if a pragma speaks of one inside, or if there are more than
    ``most`` operations."""
    found: list[Op] = []
    for op in _copied(loop, trips):
        if op is None or len(found) >= most:
            return None
        found.append(op)
    return found


def _copied(loop: Op, trips: int) -> Iterator[Op | None]:
    """The operations of all copies, one by one; None at a loop that stays."""
    count = count_trips(loop, trips)
    if count is None or not count.exact:
        yield None
    elif value_where(loop.operands[0], {}) != 0:
        for op in chain(loop.regions[0], loop.operands[1:], count.count, lambda _: True).ops:
            yield from _inside(op, trips)


def _inside(op: Op, trips: int) -> Iterator[Op | None]:
    if op.opcode != "loop":
        yield op
        for region in op.regions:
            for inner in region.ops:
                yield from _inside(inner, trips)
    elif op.attrs.get(Attr.UNROLL, 0) or op.attrs.keys() & CONTROLS:
        yield None
    else:
        yield from _copied(op, trips)

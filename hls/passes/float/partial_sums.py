"""Accumulator expansion: a sum over a loop as several partial sums in rotation, and a short loop that combines them."""

from ...ir import Attr, Builder, IntType, Op, Region, Value
from ...ir.loops import add_carried
from .flush_denormals import flush_of

__all__ = ["NOTHING", "added_up", "split"]

#: the neutral element of addition, also for a negative zero
NOTHING = -0.0


def split(outer: Region, loop: Op, k: int, count: int) -> Value:
    """Carried value ``k`` of a loop in ``outer`` becomes ``count`` partial sums that are updated in rotation: those not
    in use move through a chain of carried values, which the planner turns into a delay line. Returns the total,
    computed after the loop."""
    region, end = loop.regions[0], loop.regions[0].terminator
    kind, total = region.args[k].type, end.operands[1 + k]
    before = Region()
    nothing = Builder(before, loop.span).const(NOTHING, kind)
    outer.ops[outer.ops.index(loop) : outer.ops.index(loop)] = before.ops
    name = region.args[k].name
    waiting = [add_carried(loop, nothing, name, result=Value(kind, name)) for _ in range(count - 1)]
    for place, following in zip(waiting, [*(each.arg for each in waiting[1:]), total], strict=True):
        place.set_next(following)
    end.operands[1 + k] = waiting[0].arg
    sum_, ops = added_up([loop.results[k], *(each.result for each in waiting)], total.defining_op)
    outer.ops[outer.ops.index(loop) + 1 : outer.ops.index(loop) + 1] = ops
    return sum_


def added_up(parts: list[Value], addition: Op) -> tuple[Value, list[Op]]:
    """The total of the parts, oldest first, by a loop that reuses one addition; and the operations that compute it."""
    outside, body = Region(), Region()
    b, inside = Builder(outside, addition.span), Builder(body, addition.span)
    count = IntType(len(parts).bit_length())
    initial = [*parts, b.const(len(parts) - 1, count)]
    body.args = [Value(v.type, v.name, body, k) for k, v in enumerate(initial)]
    total, *rest, left = body.args
    total = inside.value("fadd", total, rest[0], attrs=flush_of(addition))
    left = inside.value("add", left, inside.const(-1, count))
    again = inside.value("ne", left, inside.const(0, count))
    inside.op("yield", again, total, *rest[1:], rest[0], left)
    ring = b.op(
        "loop",
        b.true(),
        *initial,
        results=[v.type for v in initial],
        regions=[body],
        attrs={Attr.TRIP_COUNT: len(parts) - 1},
    )
    return ring.results[0], outside.ops

"""A sum over a loop as several that take turns; a short loop behind it adds them up."""

from ...ir import Attr, Builder, IntType, Op, Region, Value
from .flush_denormals import flush_of

__all__ = ["NOTHING", "added_up", "carry", "split"]

#: neutral in a sum, also beside a negative zero
NOTHING = -0.0


def split(outer: Region, loop: Op, k: int, count: int) -> Value:
    """Carried value ``k`` of a loop in ``outer`` becomes the part whose turn it is of so many; the others wait behind
    it in a ring of carried values, which the planner makes a history. Returns the sum of all, computed behind the
    loop."""
    region, end = loop.regions[0], loop.regions[0].terminator
    kind, total = region.args[k].type, end.operands[1 + k]
    before = Region()
    nothing = Builder(before, loop.span).const(NOTHING, kind)
    outer.ops[outer.ops.index(loop) : outer.ops.index(loop)] = before.ops
    waiting = [carry(loop, nothing, region.args[k].name) for _ in range(count - 1)]
    end.operands += [*waiting[1:], total]
    end.operands[1 + k] = waiting[0]
    sum_, ops = added_up([loop.results[k], *loop.results[-(count - 1) :]], total.op)
    outer.ops[outer.ops.index(loop) + 1 : outer.ops.index(loop) + 1] = ops
    return sum_


def carry(loop: Op, initial: Value, name: str) -> Value:
    """A new carried value of the loop; the terminator gets its operand later."""
    region = loop.regions[0]
    arg = Value(initial.type, name, region, len(region.args))
    region.args.append(arg)
    loop.operands.append(initial)
    loop.results.append(Value(initial.type, name, loop, len(loop.results)))
    return arg


def added_up(parts: list[Value], addition: Op) -> tuple[Value, list[Op]]:
    """The sum of the parts, oldest first, by one addition that a loop uses again; and the operations that make it."""
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

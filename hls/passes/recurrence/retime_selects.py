"""Retiming of selects: what an iteration chooses from carried values by a carried bit is chosen one iteration before."""

from ...analysis.loops.sccs import components
from ...ir import Builder, Op, Region, Value
from ...ir.loops import add_carried
from ...ir.rewrite import constant, literal, resolve

__all__ = ["retime_selects"]


def retime_selects(region: Region, loop: Op) -> bool:
    """Move selects of ``loop``, an operation of ``region``, across its state registers (Leiserson and Saxe 1991), in
    place; whether there were any.

    Where a recurrence begins with ``v = first ? a : b``, and ``first``, ``a`` and ``b`` are carried or invariant, the
    loop carries ``v`` itself, whose next value is chosen from the next values of the three. Loops that were a nest have
    this form: the first iteration of a row takes the row's own value, others that of the iteration before. The bit says
    which of the two it is, so the next values are mostly chosen by one condition, and one select is left of three.
    """
    (body,) = loop.regions
    together, done = components(body), False
    own = {result for op in body.ops for result in op.results}
    for op in list(body.ops):
        if op.opcode == "select" and op.result in together and _carried(op, body, own):
            _retime(region, loop, op)
            done = True
    return done


def _carried(op: Op, body: Region, own: set[Value]) -> bool:
    """Whether the condition is a carried value, and the arms are carried, constant or none of the body's ``own``
    results; at least one is carried."""
    condition, *arms = op.operands
    known = all(value.owner is body or literal(value) is not None or value not in own for value in arms)
    return condition.owner is body and known and any(value.owner is body for value in arms)


def _retime(region: Region, loop: Op, op: Op) -> None:
    """Carry the result of the select ``op``."""
    (body,) = loop.regions
    before = Builder(Region(), op.span)
    begins = [loop.operands[1 + v.index] if v.owner is body else _outside(v, before) for v in op.operands]
    first = constant(begins[0])
    start = before.value("select", *begins) if first is None else begins[1 if first else 2]
    place = region.ops.index(loop)
    region.ops[place:place] = before.region.ops
    carried = add_carried(loop, start, op.result.name, result=Value(op.result.type, op.result.name))
    body.ops.remove(op)
    resolve(body, {op.result: carried.arg})
    end = body.ops.pop()
    following = _chosen(*(_next(v, end, body) for v in op.operands), Builder(body, op.span))
    body.ops.append(end)
    carried.set_next(following)


def _outside(value: Value, b: Builder) -> Value:
    """An invariant as a value before the loop; a constant may be defined inside."""
    return value if literal(value) is None else b.const(literal(value), value.type)


def _next(value: Value, end: Op, body: Region) -> Value:
    """The value in the next iteration."""
    return end.operands[1 + value.index] if value.owner is body else value


def _chosen(condition: Value, yes: Value, no: Value, b: Builder) -> Value:
    """``condition ? yes : no``, without selects inside by the same condition."""
    while (inverse := _inverse(condition)) is not None:
        condition, yes, no = inverse, no, yes
    yes, no = _under(condition, True, yes), _under(condition, False, no)
    return yes if yes is no else b.value("select", condition, yes, no)


def _inverse(value: Value) -> Value | None:
    """The bit whose inverse this one is."""
    op = value.op
    return op.operands[0] if op is not None and op.opcode == "xor" and constant(op.operands[1]) == 1 else None


def _under(condition: Value, holds: bool, value: Value) -> Value:
    """What the value is where the condition holds, or where it does not."""
    while value.op is not None and value.op.opcode == "select":
        by, *arms = value.op.operands
        inverse = _inverse(by)
        if by is not condition and inverse is not condition:
            break
        value = arms[holds != (by is condition)]
    return value

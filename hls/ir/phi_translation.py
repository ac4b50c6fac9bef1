"""Phi translation: an expression as it is on one way into a merge, a select or the begin of a loop's next iteration."""

from collections.abc import Container, Mapping

from .nodes import Op, Value
from .optable import has

__all__ = ["MOST_TRANSLATED", "merging_select", "translated"]

#: operations of an expression that are looked at: addresses are short
MOST_TRANSLATED = 16


def translated(value: Value, known: Mapping[Value, Value], varying: Container[Op] = ()) -> Value | None:
    """The value with others in place of the keys of ``known``, computed by copies that are in no region: what they are
    good for is their number (:class:`hls.ir.same.ValueNumbers`).

    None if it depends on an operation that is not pure and ``varying``, whose result is not known on the other way, or
    if it takes more than ``MOST_TRANSLATED`` operations.
    """
    expression = _expression(value, known, varying)
    if expression is None:
        return None
    values = dict(known)
    for op in expression:
        operands = [values.get(v, v) for v in op.operands]
        if operands != op.operands:
            copy = Op(op.opcode, operands, [], op.attrs, [], op.span)
            copy.results = [Value(v.type, v.name, copy, v.index) for v in op.results]
            values.update(zip(op.results, copy.results, strict=True))
    return values.get(value, value)


def merging_select(value: Value) -> Op | None:
    """The only select that a value depends on by way of at most ``MOST_TRANSLATED`` pure operations; None if there are
    none or several. Selects in front of it do not count."""
    found: set[Op] = set()
    work, seen = [value], {value}
    while work and len(seen) <= MOST_TRANSLATED:
        op = work.pop().op
        if op is not None and op.opcode == "select":
            found.add(op)
        elif op is not None and _is_pure(op):
            fresh = [v for v in op.operands if v not in seen]
            seen.update(fresh)
            work += fresh
    return found.pop() if len(found) == 1 and not work else None


def _expression(value: Value, known: Mapping[Value, Value], varying: Container[Op]) -> list[Op] | None:
    """The pure operations that compute a value from those ``known`` and others, each behind those that it uses."""
    ops: dict[Op, None] = {}
    work = [value]
    while work:
        op = work[-1].op
        if work[-1] in known or op is None or op in ops:
            work.pop()
        elif not _is_pure(op):
            if op in varying:
                return None
            work.pop()
        elif left := [v for v in op.operands if v not in known and v.op not in ops and _counts(v.op, varying)]:
            work += left
        else:
            ops[op] = None
            work.pop()
        if len(ops) > MOST_TRANSLATED or len(work) > 2 * MOST_TRANSLATED:
            return None
    return list(ops)


def _counts(op: Op | None, varying: Container[Op]) -> bool:
    return op is not None and (_is_pure(op) or op in varying)


def _is_pure(op: Op) -> bool:
    return has(op, "pure") and not op.regions

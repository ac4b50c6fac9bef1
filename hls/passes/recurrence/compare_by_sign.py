"""Comparison by sign: a sum that is compared is compared by the sign of an independent sum."""

from dataclasses import dataclass

from ...analysis.bits.ranges import Range, ranges
from ...analysis.predicates.implication import implied
from ...analysis.timing import TimingModel, carried_arrivals
from ...ir import Builder, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ..manager import Form, FunctionPass

__all__ = ["CompareBySign"]

_ORDER = frozenset({"slt", "sle", "ult", "ule"})


@dataclass(frozen=True)
class CompareBySign(FunctionPass):
    """Comparison by sign. Before: flat and narrow. After: if a carried value ``x`` is selected by ``x + k < n``, and
    neither ``k`` nor ``n`` depends on it, the select is by the sign of ``x + (k - n)``, provided that it missed a cycle
    of ``timing`` (None: nothing is done) and no sum wraps.

    In ``x += k; if (x >= n) x -= n;`` the path between two values is then one sum and one select.
    """

    timing: TimingModel | None = None

    name = "compare-by-sign"
    requires = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which late selects are by sign; an equal copy without ``timing``."""
        result = clone_function(function)
        if self.timing is not None:
            timing = self.timing.unplanned(function)
            found = [
                (body, late)
                for _, loop in loops_inside_out(result.body)
                for body in loop.regions
                if (late := _late(body, timing))
            ]
            known = ranges(result) if found else {}
            for body, late in found:
                _replace(body, late, known)
        return result


@dataclass(frozen=True)
class _Sum:
    """The operands of a comparison: ``late + early`` against ``other``; ``late`` is on the recurrence."""

    late: Value
    early: Value
    other: Value


def _late(body: Region, timing: TimingModel) -> dict[Op, _Sum]:
    """Comparisons of sums whose select misses the cycle."""
    arrivals, together = carried_arrivals(body, timing)
    used, control = uses(body), implied(body.terminator.operands[0])
    found = {}
    for op in body.ops:
        parts = _parts(op, together) if op.opcode in _ORDER and op.result not in control else None
        if parts and any(
            timing.misses(arrivals.after(user))
            for user, _ in used.get(op.result, ())
            if user in body.ops and user.opcode == "select"
        ):
            found[op] = parts
    return found


def _parts(op: Op, together: dict[Value, int]) -> _Sum | None:
    late = [v for v in op.operands if v in together]
    if op.result not in together or len(late) != 1 or late[0].op is None or late[0].op.opcode != "add":
        return None
    other = op.operands[op.operands[0] is late[0]]
    carried = [v for v in late[0].op.operands if v in together]
    return (
        _Sum(carried[0], late[0].op.operands[late[0].op.operands[0] is carried[0]], other)
        if len(carried) == 1
        else None
    )


def _replace(body: Region, late: dict[Op, _Sum], known: dict[Value, Range]) -> None:
    before, body.ops = body.ops, []
    for op in before:
        if op in late:
            _as_sign(op, late[op], known, Builder(body, op.span))
        body.ops.append(op)


def _as_sign(op: Op, parts: _Sum, known: dict[Value, Range], b: Builder) -> None:
    """Replace the comparison by one with 0 of a sum that arrives when the compared one did, provided that the compared
    sum cannot wrap."""
    is_signed, first = op.opcode[0] == "s", op.operands[1] is parts.other
    (low, high), (least, most), (floor, top) = (
        _bounds(known[v], is_signed) for v in (parts.late, parts.early, parts.other)
    )
    whole = _bounds(Range.full(parts.late.type.bits), is_signed)
    if low + least < whole[0] or high + most > whole[1]:
        return
    less = int((op.opcode[2] == "e") == first)  # a <= n is a - n - 1 < 0; a > n is its negation
    kind = IntType(1 + max((high + most - floor - less).bit_length(), (~(low + least - top - less)).bit_length()))
    late, early, other = (_in(v, kind, is_signed, b) for v in (parts.late, parts.early, parts.other))
    rest = b.value("sub", b.value("sub", early, other), b.const(less, kind))
    total, zero = b.value("add", late, rest), b.const(0, kind)
    op.opcode, op.operands = ("slt", [total, zero]) if first else ("sle", [zero, total])


def _bounds(known: Range, is_signed: bool) -> tuple[int, int]:
    return (known.smin, known.smax) if is_signed else (known.umin, known.umax)


def _in(value: Value, kind: IntType, is_signed: bool, b: Builder) -> Value:
    """The value resized to the type, which is wide enough for the sum."""
    number, bits = constant(value), value.type.bits
    if number is not None:
        number -= (number >> bits - 1 << bits) if is_signed else 0
        return b.const(number % (1 << kind.bits), kind)
    return (
        value
        if bits == kind.bits
        else b.value(("sext" if is_signed else "zext") if bits < kind.bits else "trunc", value, result=kind)
    )

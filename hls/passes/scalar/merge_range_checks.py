"""Redundant comparison elimination: range checks that another check implies are removed."""

from dataclasses import dataclass, replace

from ...analysis.predicates.implication import implied
from ...ir import BOOL, Attr, Builder, Function, IntType, Op, Value
from ...ir.clone import clone_function
from ...ir.rewrite import constant, literal, rewrite
from ...ir.values import signed
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["MergeRangeChecks"]

_COMPARES = frozenset({"slt", "sle", "ult"})


@dataclass(frozen=True)
class MergeRangeChecks(FunctionPass):
    """Redundant comparison elimination by merging range checks (LLVM: ConstraintElimination). Before: flat. After: `x +
    1 < n and x + 2 < n and ... x + k < n` is one comparison, `x < n - k` with one more bit.

    Conditions of an unrolled loop's copies have this form; the difference does not depend on the counter, which
    shortens the recurrence. In the new width nothing wraps. If a sum of the chain wraps, the previous one is the
    greatest number, which is less than no limit, so the chain was false already; this requires a chain without gaps
    that includes its first sum, unless that cannot wrap either. C makes overflow of signed sums undefined, so chains of
    those may have gaps, and may descend: `n < x - 1 and n < x - 2`.
    """

    name = "merge-range-checks"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which conjunctions of comparisons with one bound are single comparisons."""
        result = clone_function(function)
        simplifier = _Simplifier()
        rewrite(result.body, simplifier.visit, simplifier.enter)
        return result


@dataclass(frozen=True)
class _Row:
    """``base + k`` compared with ``limit``, for all k from ``first`` to ``last`` (of signed sums, for some between
    them, too).

    ``left`` says that the sum is the comparison's left operand.
    """

    opcode: str
    base: Value
    limit: Value
    left: bool
    first: int
    last: int

    def joined(self, other: "_Row") -> "_Row | None":
        """Both ranges as one; None if they concern different values or have a gap between them."""
        if replace(other, first=self.first, last=self.last) != self:
            return None
        gap = max(self.first, other.first) - min(self.last, other.last)
        if gap > 1 and self.opcode[0] == "u":
            return None
        return replace(self, first=min(self.first, other.first), last=max(self.last, other.last))

    def value(self, b: Builder, is_below: bool) -> Value:
        """The comparison that implies all others; ``is_below``: ``base`` itself is known to be less than ``limit``."""
        base, far = self.base, self.last if self.left else self.first
        wide, extend = IntType(base.type.bits + 1), "sext" if self.opcode[0] == "s" else "zext"
        if extend == "zext" and not (is_below and self.first == 1):  # the first sum may wrap, as before
            base, far = b.value("add", base, b.const(self.first, base.type)), far - self.first
        limit = b.value("sub", b.value(extend, self.limit, result=wide), b.const(far, wide))
        base = b.value(extend, base, result=wide)
        return b.value("s" + self.opcode[1:], *((base, limit) if self.left else (limit, base)))


class _Simplifier:
    def __init__(self) -> None:
        #: for a condition: range checks it consists of, each with an equivalent value (None: to be built), and its
        #: other conjuncts
        self.parts: dict[Value, tuple[dict[_Row, Value | None], dict[Value, None]]] = {}
        self.below: set[tuple[Value, Value]] = set()  # (counter, limit): unsigned less-than in every iteration

    def enter(self, op: Op) -> dict:
        """Record the limits that a loop's counters stay below."""
        if op.opcode == "loop":
            (body,), (enable, *inits) = op.regions, op.operands
            at_first, later = implied(enable), implied(body.terminator.operands[0])
            for arg, init, after in zip(body.args, inits, body.terminator.operands[1:], strict=True):
                limits = _limits(after, later)
                started = _limits(init, at_first) | (_positive(at_first) if literal(init) == 0 else set())
                self.below |= {(arg, limit) for limit in limits & started}
        return {}

    def visit(self, op: Op, b: Builder) -> list[Value] | None:
        if op.opcode != "and" or op.result.type != BOOL:
            return None
        rows: dict = {}
        others: dict = {}
        changed = False
        for operand in op.operands:
            found, more = self._of(operand)
            others.update(more)
            for row, value in found.items():
                changed |= self._add(rows, row, value)
        if not changed:
            self.parts[op.result] = rows, others
            return None
        for row, value in rows.items():
            rows[row] = value if value is not None else row.value(b, (row.base, row.limit) in self.below)
        terms = [*rows.values(), *others]
        total = terms[0]
        for term in terms[1:]:
            total = b.value("and", total, term)
        self.parts[total] = rows, others
        return [total]

    def _add(self, rows: dict, row: _Row, value: Value | None) -> bool:
        """Add a range check to others; whether it was merged with an overlapping or adjacent one."""
        if row in rows:
            return False
        for old in list(rows):
            joined = old.joined(row)
            if joined is not None:
                known = {old: rows.pop(old), row: value}
                rows[joined] = known.get(joined)
                return True
        rows[row] = value
        return False

    def _of(self, condition: Value):
        if condition not in self.parts:
            row = _row(condition)
            self.parts[condition] = ({row: condition}, {}) if row else ({}, {condition: None})
        return self.parts[condition]


def _row(condition: Value) -> _Row | None:
    op = condition.op
    if op is None or op.opcode not in _COMPARES or op.operands[0].type.bits >= 64:
        return None
    # C does not exclude wrapping of truncated sums
    if op.opcode[0] == "s" and op.operands[0].type.bits < 32:
        return None
    for left, (moving, limit) in ((True, op.operands), (False, op.operands[::-1])):
        if op.opcode[0] == "s" and moving.op is not None and Attr.WRAPS in moving.op.attrs:
            continue  # nor that of sums that are computed as unsigned
        if moving.op is not None and moving.op.opcode == "add" and constant(moving.op.operands[1]) is not None:
            distance = signed(present(constant(moving.op.operands[1])), moving.type.bits)
            if (distance > 0) == left and (left or op.opcode[0] == "s"):
                return _Row(op.opcode, moving.op.operands[0], limit, left, distance, distance)
    return None


def _limits(value: Value, facts: dict[Value, bool]) -> set[Value]:
    """The values that ``value`` is less than, unsigned, by the facts."""
    return {
        fact.op.operands[1]
        for fact, truth in facts.items()
        if truth and fact.op is not None and fact.op.opcode == "ult" and fact.op.operands[0] is value
    }


def _positive(facts: dict[Value, bool]) -> set[Value]:
    """The values that are not 0 by the facts."""
    return {
        fact.op.operands[0]
        for fact, truth in facts.items()
        if truth and fact.op is not None and fact.op.opcode == "ne" and constant(fact.op.operands[1]) == 0
    }

"""Runs of work-items: those that differ only in the first dimension, in order."""

from dataclasses import dataclass
from typing import Any

from ...analysis.induction.trip_count import leaves, value_where
from ...analysis.loops.loop_tree import step_of
from ...ir import Attr, Builder, IntType, Op, Value
from ...ir.rewrite import constant, literal
from ...ir.values import signed
from ...ir.wrapping import has_wrapping
from ...narrow import instance, present

__all__ = ["STRICT", "Bound", "Row", "as_width", "is_order", "row_of", "times"]

#: comparisons that are false for equal numbers
STRICT = ("slt", "ult")


@dataclass(frozen=True)
class Bound:
    """The sum of a row's counter, ``more`` (None: nothing) and ``number`` is less than ``limit``; with ``equal``, at
    most ``limit``."""

    limit: Value
    more: Value | None
    number: int
    equal: bool
    extend: str  #: "sext" or "zext", by the signedness of the comparison

    def least(self, b: Builder, last: Value) -> Value:
        """The lesser of ``last`` and the greatest value of the counter within the bound. That may not exist; then no
        work-item executes the access. Two additional bits prevent wrapping."""
        wide = IntType(self.limit.type.bits + 2)
        most, *more = (
            b.value(self.extend, value, result=wide) for value in (self.limit, self.more) if value is not None
        )
        most = b.value("sub", most, more[0]) if more else most
        most = b.value("sub", most, b.const(self.number + (not self.equal), wide))
        end = as_width(b, last, wide)
        return as_width(b, b.value("select", b.value("slt", most, end), most, end), instance(last.type, IntType))


@dataclass(frozen=True)
class Row:
    """The work-items that differ only in the first dimension: ``counter`` increases by ``step`` from ``start``,
    ``count`` times, until ``ends`` is true.

    The loop over work-items carries only such counters, so every carried value of their form is one.
    """

    loop: Op
    counter: Value
    ends: Value
    step: int
    start: Value
    count: Value

    def is_steady(self, value: Value) -> bool:
        """Whether a value is the same for all work-items of a row."""
        return all(literal(leaf) is not None or self._stays(leaf) for leaf in leaves(value))

    def _stays(self, leaf: Value) -> bool:
        (body,) = self.loop.regions
        if leaf.owner is not body:
            return leaf.op not in body.ops
        after = body.terminator.operands[1 + leaf.index]
        while after.op is not None and after.op.opcode == "select":
            condition, yes, no = after.op.operands
            truth = value_where(condition, {self.ends: 0})
            if truth is None:
                return False
            after = yes if truth else no
        return after is leaf

    def is_inside(self, bound: Bound) -> bool:
        """Whether a bound is computed inside the loop."""
        (body,) = self.loop.regions
        return any(
            value is not None and (value.owner is body or value.op in body.ops) for value in (bound.limit, bound.more)
        )

    def bounds(self, condition: Value) -> list[Bound] | None:
        """Bounds up to which a condition holds in a row; None unless it holds for a contiguous range."""
        found, work = [], [(condition, True)]
        while work:
            one, truth = work.pop()
            op = one.op
            if constant(one) == truth or self.is_steady(one):
                continue
            if op is not None and op.opcode == ("and" if truth else "or"):
                work += [(operand, truth) for operand in op.operands]
            elif op is not None and op.opcode == "xor" and constant(op.operands[1]) == 1:
                work.append((op.operands[0], not truth))
            elif not is_order(one) or (bound := self._bound(present(op), truth)) is None:
                return None
            else:
                found += bound
        return found

    def _bound(self, test: Op, truth: bool) -> list[Bound] | None:
        """The upper bound that a comparison with the given result puts on the counter: none (an empty list) if it only
        bounds the counter from below; None if neither is known."""
        low, high = test.operands if truth else test.operands[::-1]
        counts, other = (low, high) if self.is_steady(high) else (high, low)
        moved = self._moved(counts)
        if moved is None or not self.is_steady(other):
            return None
        more, number = moved
        if test.opcode[0] == "u" and (more is not None or number < 0):
            return None  # unsigned sums may wrap to 0; signed ones may not, in C
        if test.opcode[0] == "s" and counts.op is not None and has_wrapping(counts.op):
            return None  # the source computes it as unsigned
        equal = (test.opcode in STRICT) != truth
        return [Bound(other, more, number, equal, "zext" if test.opcode[0] == "u" else "sext")] if counts is low else []

    def _moved(self, value: Value) -> tuple[Value | None, int] | None:
        """(value, number) such that ``value`` is the counter plus these; None if it has another form."""
        op = value.op
        if value is self.counter or op is not None and op.opcode == "zext" and op.operands[0] is self.counter:
            return None, 0
        if op is None or op.opcode != "add":
            return None
        for one, other in (op.operands, op.operands[::-1]):
            moved, number = self._moved(one), constant(other)
            if moved and number is not None:
                return moved[0], moved[1] + signed(number, other.type.bits)
            if moved and moved[0] is None and self.is_steady(other):
                return other, moved[1]
        return None

    def is_one_of(self, condition: Value) -> bool:
        """Whether a condition holds for at most one work-item of a row."""
        if condition.op is None or condition.op.opcode != "eq":
            return False
        return any(
            self._moved(one) is not None and self.is_steady(other)
            for one, other in (condition.op.operands, condition.op.operands[::-1])
        )

    def end(self, b: Builder) -> Value:
        """The counter of the last work-item."""
        left = b.value("sub", self.count, b.const(1, self.count.type))
        way = times(b, as_width(b, left, instance(self.counter.type, IntType)), self.step)
        return way if constant(self.start) == 0 else b.value("add", self.start, way)


def row_of(loop: Op) -> Row | None:
    """The row of a work-item loop; None if each row has one work-item, or for another loop."""
    (body,) = loop.regions
    counters: dict[Value, dict[int, tuple[Any, ...]]] = {}
    for arg, start in zip(body.args, loop.operands[1:], strict=True):
        after = body.terminator.operands[1 + arg.index].op
        if (
            after is not None
            and after.opcode == "select"
            and after.operands[0].owner is body
            and after.operands[1] is start
        ):
            step = step_of(arg, after.operands[2])
            counters.setdefault(after.operands[0], {})[-1 if step == -1 else 1] = arg, step, start
    for ends, both in counters.items() if loop.attrs.get(Attr.FORM) == "ndrange" else ():
        if len(both) == 2 and both[1][1]:
            (counter, step, start), (_, _, count) = both[1], both[-1]
            return Row(loop, counter, ends, step, start, count)
    return None


def is_order(condition: Value) -> bool:
    """Whether the condition is an order of two integers: <, <= or their mirror image."""
    return condition.op is not None and condition.op.opcode in (*STRICT, "sle", "ule")


def times(b: Builder, value: Value, factor: int) -> Value:
    """The product by a constant that is not 0; a shift for a power of two."""
    if factor & factor - 1:
        return b.value("mul", value, b.const(factor, value.type))
    return b.value("shl", value, b.const(factor.bit_length() - 1, value.type)) if factor > 1 else value


def as_width(b: Builder, value: Value, type: IntType) -> Value:
    """An unsigned number, resized."""
    if value.type == type:
        return value
    return b.value("zext" if value.type.bits < type.bits else "trunc", value, result=type)

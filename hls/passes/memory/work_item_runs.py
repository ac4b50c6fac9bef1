"""Rows of work-items: those that differ in the first dimension alone come one after the other."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import leaves, value_where
from ...analysis.loops.loop_tree import step_of
from ...ir import Attr, Builder, IntType, Op, Value
from ...ir.rewrite import constant
from ...ir.values import signed

__all__ = ["STRICT", "Bound", "Row", "as_width", "is_order", "row_of", "times"]

#: comparisons that are false of equal numbers
STRICT = ("slt", "ult")


@dataclass(frozen=True)
class Bound:
    """The counter of a row, and ``more`` (None: nothing) and ``number``, is less than ``limit``; or ``equal`` to it, at
    most."""

    limit: Value
    more: Value | None
    number: int
    equal: bool
    extend: str  #: "sext" or "zext", as the numbers are compared

    def least(self, b: Builder, last: Value) -> Value:
        """The lesser of ``last`` and the greatest number that the counter can be, which may be none at all: then nobody
        looks at it. In two bits more nothing wraps."""
        wide = IntType(self.limit.type.bits + 2)
        most, *more = (
            b.value(self.extend, value, result=wide) for value in (self.limit, self.more) if value is not None
        )
        most = b.value("sub", most, more[0]) if more else most
        most = b.value("sub", most, b.const(self.number + (not self.equal), wide))
        end = as_width(b, last, wide)
        return as_width(b, b.value("select", b.value("slt", most, end), most, end), last.type)


@dataclass(frozen=True)
class Row:
    """The work-items that differ in the first dimension alone: ``counter`` goes up by ``step`` from ``start``,
    ``count`` times, until ``ends`` is true.

    The loop over work-items carries nothing but such counters, so whatever has their form is one.
    """

    loop: Op
    counter: Value
    ends: Value
    step: int
    start: Value
    count: Value

    def is_steady(self, value: Value) -> bool:
        """Whether a value is the same for all work-items of a row."""
        return all(constant(leaf) is not None or self._stays(leaf) for leaf in leaves(value))

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
        """Whether a bound is not known before the loop."""
        (body,) = self.loop.regions
        return any(
            value is not None and (value.owner is body or value.op in body.ops) for value in (bound.limit, bound.more)
        )

    def bounds(self, condition: Value) -> list[Bound] | None:
        """Up to where in a row a condition holds, once it does; None where it may hold now and then."""
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
            elif not is_order(one) or (bound := self._bound(op, truth)) is None:
                return None
            else:
                found += bound
        return found

    def _bound(self, test: Op, truth: bool) -> list[Bound] | None:
        """What a comparison that is true, or is not, says of the counter: up to where it is so; nothing where it is so
        from some number on; None where it is neither."""
        low, high = test.operands if truth else test.operands[::-1]
        counts, other = (low, high) if self.is_steady(high) else (high, low)
        moved = self._moved(counts)
        if moved is None or not self.is_steady(other):
            return None
        more, number = moved
        if test.opcode[0] == "u" and (more is not None or number < 0):
            return None  # it may begin again at 0; of signed ones C says that they do not
        equal = (test.opcode in STRICT) != truth
        return [Bound(other, more, number, equal, "zext" if test.opcode[0] == "u" else "sext")] if counts is low else []

    def _moved(self, value: Value) -> tuple[Value | None, int] | None:
        """(what, number) that a value is more than the counter; None where it is something else."""
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
        """Whether a condition holds for one work-item of a row at most."""
        if condition.op is None or condition.op.opcode != "eq":
            return False
        return any(
            self._moved(one) is not None and self.is_steady(other)
            for one, other in (condition.op.operands, condition.op.operands[::-1])
        )

    def end(self, b: Builder) -> Value:
        """What the counter is for the last one."""
        left = b.value("sub", self.count, b.const(1, self.count.type))
        way = times(b, as_width(b, left, self.counter.type), self.step)
        return way if constant(self.start) == 0 else b.value("add", self.start, way)


def row_of(loop: Op) -> Row | None:
    """What makes a row; None where there is one work-item in each, or another loop."""
    (body,) = loop.regions
    counters = {}
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
    return condition.op is not None and condition.op.opcode in (*STRICT, "sle", "ule")


def times(b: Builder, value: Value, factor: int) -> Value:
    if factor & factor - 1:
        return b.value("mul", value, b.const(factor, value.type))
    return b.value("shl", value, b.const(factor.bit_length() - 1, value.type)) if factor > 1 else value


def as_width(b: Builder, value: Value, type: IntType) -> Value:
    """An unsigned number in another width."""
    if value.type == type:
        return value
    return b.value("zext" if value.type.bits < type.bits else "trunc", value, result=type)

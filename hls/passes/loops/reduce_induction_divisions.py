"""Strength reduction of induction variables: quotients and remainders of counters become counters that wrap around."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...analysis.bits.ranges import Range, ranges
from ...ir import Builder, Function, IntType, Op, Region, Type, Value, loops_inside_out, walk
from ...ir.clone import clone_function
from ...ir.loops import CarriedValue, add_carried
from ...ir.rewrite import constant
from ...ir.values import signed
from ..manager import Form, FunctionPass

__all__ = ["ReduceInductionDivisions"]


@dataclass(frozen=True)
class ReduceInductionDivisions(FunctionPass):
    """Induction-variable strength reduction of divisions. Before: flat; integers still have the widths of C. After: no
    quotient or remainder of a counter, or of a counter plus a constant, by a constant that is no power of two, if the
    counter begins with a constant, steps by another, and is shown neither to wrap around nor to be negative.

    ``y % 14`` is a carried value ``r`` with ``r' = r >= 14 - s ? r + s - 14 : r + s`` for the step ``s``, and
    ``y / 14`` one that counts how often ``r`` wraps around: an adder and a comparison instead of a multiplication. The
    addresses computed from it are then seen to be periodic.
    """

    name = "reduce-induction-divisions"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which counters replace quotients and remainders."""
        result = clone_function(function)
        known: Mapping[Value, Range] | None = None
        for region, loop in list(loops_inside_out(result.body)):
            if any(_divisor(op) for op in loop.regions[0].ops):
                known = ranges(result) if known is None else known
                place = region.ops.index(loop)
                region.ops[place:place] = _Loop(loop, known).run()
        return result


def _divisor(op: Op) -> int:
    """The constant by which the operation divides; 0 if it is no division, or by a power of two."""
    if op.opcode not in ("udiv", "urem", "sdiv", "srem"):
        return 0
    number = constant(op.operands[1])
    if number is None or number & number - 1 == 0:
        return 0
    return max(signed(number, op.operands[1].type.bits), 0) if op.opcode[0] == "s" else number


@dataclass(frozen=True)
class _Dividend:
    """A counter plus ``more``; it is ``first`` in the first iteration and increases by ``step``."""

    counter: Value
    more: int
    first: int
    step: int


@dataclass
class _Loop:
    loop: Op
    known: Mapping[Value, Range]
    #: remainder, and whether it wraps around next, by dividend and divisor
    remainders: dict[tuple[_Dividend, int], tuple[Value, Value]] = field(default_factory=dict)
    quotients: dict[tuple[_Dividend, int], Value] = field(default_factory=dict)
    before: Region = field(default_factory=Region)

    def run(self) -> list[Op]:
        """Replaces the divisions; returns the operations to insert before the loop."""
        (body,) = self.loop.regions
        replaced: dict[Value, Value] = {}
        for op in list(body.ops):
            divisor = _divisor(op)
            dividend = self._dividend(op.operands[0], op.opcode[0] == "s") if divisor else None
            if dividend is not None:
                remainder, _ = self._remainder(body, dividend, divisor)
                is_quotient = op.opcode.endswith("div")
                replaced[op.result] = self._quotient(body, dividend, divisor) if is_quotient else remainder
        body.ops = [op for op in body.ops if not (op.results and op.results[0] in replaced)]
        for op in walk(body):
            op.operands = [replaced.get(value, value) for value in op.operands]
        return self.before.ops

    def _dividend(self, value: Value, is_signed: bool) -> _Dividend | None:
        """The counter in a dividend; None if it may wrap around or, where ``is_signed``, be negative."""
        counter, more = value, 0
        if value.op is not None and value.op.opcode == "add" and (number := constant(value.op.operands[1])) is not None:
            counter, more = value.op.operands[0], signed(number, value.type.bits)
        (body,) = self.loop.regions
        if counter.owner is not body or counter not in self.known or not isinstance(counter.type, IntType):
            return None
        after, bits = body.terminator.operands[1 + counter.index], counter.type.bits
        steps = after.op is not None and after.op.opcode == "add" and after.op.operands[0] is counter
        step = constant(after.defining_op.operands[1]) if steps else None
        first = constant(self.loop.operands[1 + counter.index])
        if step is None or first is None:
            return None
        first, step, found = signed(first, bits), signed(step, bits), self.known[counter]
        most, room = (found.smax, 1 << bits - 1) if is_signed else (found.umax, 1 << bits)
        if step <= 0 or first < 0 or first + more < 0 or found.umin < first or most + max(step, more) >= room:
            return None
        return _Dividend(counter, more, first + more, step)

    def _remainder(self, body: Region, dividend: _Dividend, divisor: int) -> tuple[Value, Value]:
        """The remainder, and whether it wraps around before the next iteration."""
        key = dividend, divisor
        if key not in self.remainders:
            kind = dividend.counter.type
            carried = self._carried(dividend.first % divisor, kind, f"{dividend.counter.name}.rest")
            end, b = body.ops.pop(), Builder(body, self.loop.span)
            step = dividend.step % divisor
            wraps = b.value("ule", b.const(divisor - step, kind), carried.arg)
            # the comparison and both sums side by side
            sums = [b.value("add", carried.arg, b.const(more, kind)) for more in (step - divisor, step)]
            following = b.value("select", wraps, *sums)
            body.ops.append(end)
            carried.set_next(following)
            self.remainders[key] = carried.arg, wraps
        return self.remainders[key]

    def _quotient(self, body: Region, dividend: _Dividend, divisor: int) -> Value:
        key = dividend, divisor
        if key not in self.quotients:
            kind = dividend.counter.type
            _, wraps = self._remainder(body, dividend, divisor)
            carried = self._carried(dividend.first // divisor, kind, f"{dividend.counter.name}.quotient")
            end, b = body.ops.pop(), Builder(body, self.loop.span)
            whole = b.value("add", carried.arg, b.const(dividend.step // divisor, kind))
            following = b.value("add", whole, b.value("zext", wraps, result=kind))
            body.ops.append(end)
            carried.set_next(following)
            self.quotients[key] = carried.arg
        return self.quotients[key]

    def _carried(self, first: int, kind: Type, name: str) -> CarriedValue:
        return add_carried(self.loop, Builder(self.before, self.loop.span).const(first, kind), name)

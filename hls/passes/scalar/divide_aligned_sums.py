"""Known-bits simplification of divisions: the copies of an unrolled loop divide ``16 * i + k`` with one quotient."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.bits.known_bits import TrailingZeros
from ...analysis.bits.ranges import Range, ranges
from ...ir import Builder, Function, IntType, Op, Value, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ...ir.values import signed
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["DivideAlignedSums"]

_SHIFTS = ("lshr", "ashr")
_QUOTIENTS = ("udiv", "sdiv", *_SHIFTS)
_REMAINDERS = ("urem", "srem")


@dataclass(frozen=True)
class DivideAlignedSums(FunctionPass):
    """Known-bits simplification of divisions by constants. Before: flat. After: no quotient or remainder of ``x + c``
    where the low bits of the constant ``c`` cannot carry, as ``x`` and the divisor are multiples of a power of two
    above them: with ``low = c % 2**z``, ``(x + c) / d`` is ``(x + c - low) / d``, and ``(x + c) % d`` is
    ``(x + c - low) % d + low``. Signed divisions round towards zero, so their dividend must not be negative.

    The copies of an unrolled loop then have one quotient in common, and loads at ``a[i / 784]`` one address.
    """

    name = "divide-aligned-sums"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy with the low bits taken out of dividends, or the same function if there are none."""
        if not any(_divided(op) for op in walk(function.body)):
            return function
        result = clone_function(function)
        rule = _Rule(TrailingZeros(result), ranges(result))
        rewrite(result.body, rule.apply)
        return result


def _divided(op: Op) -> int:
    """The number by which an operation divides the sum of a value and a constant; 0 if it is nothing of the kind."""
    if op.opcode not in (*_QUOTIENTS, *_REMAINDERS) or not isinstance(op.result.type, IntType):
        return 0
    total, number, bits = op.operands[0].op, constant(op.operands[1]), op.result.type.bits
    if total is None or total.opcode != "add" or constant(total.operands[1]) is None or number is None:
        return 0
    if op.opcode in _SHIFTS:
        return 1 << number if number < bits else 0
    return max(0, signed(number, bits)) if op.opcode in ("sdiv", "srem") else number


@dataclass(frozen=True)
class _Rule:
    zeros: TrailingZeros
    known: Mapping[Value, Range]

    def apply(self, op: Op, b: Builder) -> list[Value] | None:
        divisor = _divided(op)
        if not divisor:
            return None
        total = op.operands[0]
        x, added = total.defining_op.operands
        aligned = min(self.zeros.of(x), (divisor & -divisor).bit_length() - 1)
        more = present(constant(added))
        low = more & (1 << aligned) - 1
        if not low or op.opcode in ("sdiv", "srem") and not self._is_natural(total):
            return None
        # it wraps around where the sum did: both are in one block of 2**aligned numbers
        marks = total.defining_op.attrs
        dividend = b.value("add", x, b.const(more - low, total.type), attrs={**marks}) if more != low else x
        divided = b.value(op.opcode, dividend, op.operands[1])
        if op.opcode in _QUOTIENTS:
            return [divided]
        return [b.value("add", divided, b.const(low, total.type))]

    def _is_natural(self, value: Value) -> bool:
        found = self.known.get(value)
        return found is not None and found.smin >= 0

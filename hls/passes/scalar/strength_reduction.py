"""Strength reduction: multiplications and divisions by constants become shifts and additions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ...ir import Builder, Function, IntType, Op, Value
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ...ir.values import signed
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["StrengthReduction"]


@dataclass(frozen=True)
class StrengthReduction(FunctionPass):
    """Strength reduction of multiplication and division by constants (canonical signed digits; Granlund and Montgomery
    1994). Before: integer operations on constants. After: no division by a constant for which a multiplication of at
    most 64 bits suffices, and no multiplication by a constant of at most ``max_terms`` signed powers of two.
    """

    max_terms: int = 3

    name = "strength-reduction"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy after as many rounds as rules apply: a division becomes a multiplication, and this shifts."""
        result = clone_function(function)
        # a signed division becomes an unsigned one, then a multiplication, then shifts where possible
        while rewrite(result.body, self._visit):
            pass
        return result

    def _visit(self, op: Op, b: Builder) -> list[Value] | None:
        rule = partial(_multiply, max_terms=self.max_terms) if op.opcode == "mul" else _RULES.get(op.opcode)
        if rule is None or constant(op.operands[1]) is None or constant(op.operands[0]) is not None:
            return None
        value = rule(op, b)
        return None if value is None else [value]


def signed_digits(number: int) -> list[tuple[int, int]]:
    """The (sign, exponent) of the fewest signed powers of two that sum to the number (non-adjacent form)."""
    digits, exponent = [], 0
    while number:
        if number & 1:
            sign = 2 - (number & 3)
            digits.append((sign, exponent))
            number -= sign
        number >>= 1
        exponent += 1
    return digits


def _multiply(op: Op, b: Builder, max_terms: int) -> Value | None:
    x, factor, bits = op.operands[0], constant(op.operands[1]), op.result.type.bits
    if factor != 1 << bits - 1:  # which is its own negation
        factor = signed(present(factor), bits)
    digits = sorted(signed_digits(factor), reverse=True)  # a positive term first, if there is one
    if not 0 < len(digits) <= max_terms:
        return None
    total = None
    for sign, exponent in digits:
        term = b.value("shl", x, b.const(exponent, x.type)) if exponent else x
        if total is None:
            total = term if sign > 0 else b.value("sub", b.const(0, x.type), term)
        else:
            total = b.value("add" if sign > 0 else "sub", total, term)
    return total


def _udiv(op: Op, b: Builder) -> Value | None:
    (x, _), divisor, bits = op.operands, present(constant(op.operands[1])), op.result.type.bits
    if divisor == 0:
        return None
    if divisor & divisor - 1 == 0:
        return b.value("lshr", x, b.const(divisor.bit_length() - 1, x.type))
    found = reciprocal(divisor, bits)
    if found is None:
        return None
    factor, shift = found
    wide = IntType(bits + factor.bit_length())
    product = b.value("mul", b.value("zext", x, result=wide), b.const(factor, wide))
    return b.value("trunc", b.value("lshr", product, b.const(shift, wide)), result=x.type)


def reciprocal(divisor: int, bits: int) -> tuple[int, int] | None:
    """(m, k) such that x // divisor = x * m >> k for every x of ``bits`` bits, with a product of at most 64 bits
    (Granlund and Montgomery 1994: m = floor(2^k / d) + 1 works if m * d - 2^k <= 2^(k - bits))."""
    for shift in range(bits, 2 * bits + 1):
        factor = (1 << shift) // divisor + 1
        if factor * divisor - (1 << shift) <= 1 << shift - bits:
            return (factor, shift) if bits + factor.bit_length() <= 64 else None
    return None


def _urem(op: Op, b: Builder) -> Value | None:
    x, divisor = op.operands[0], constant(op.operands[1])
    if divisor and divisor & divisor - 1 == 0:
        return b.value("and", x, b.const(divisor - 1, x.type))
    quotient = _udiv(op, b) if divisor else None
    return None if quotient is None else _rest(x, quotient, op.operands[1], b)


def _rest(x: Value, quotient: Value, divisor: Value, b: Builder) -> Value:
    return b.value("sub", x, b.value("mul", quotient, divisor))


def _sdiv(op: Op, b: Builder) -> Value | None:
    """Divide the magnitudes, then apply the sign."""
    x, bits = op.operands[0], op.result.type.bits
    divisor = signed(present(constant(op.operands[1])), bits)
    size = abs(divisor)
    if divisor == 0 or size & size - 1 and reciprocal(size, bits) is None:
        return None
    if divisor > 0 and size & size - 1 == 0 and divisor > 1:
        return _shifted_towards_zero(x, size.bit_length() - 1, b)
    zero = b.const(0, x.type)
    negative = b.value("slt", x, zero)
    magnitude = b.value("select", negative, b.value("sub", zero, x), x)
    quotient = b.value("udiv", magnitude, b.const(size, x.type))
    flip = negative if divisor > 0 else b.value("xor", negative, b.true())
    return b.value("select", flip, b.value("sub", zero, quotient), quotient)


def _shifted_towards_zero(x: Value, shift: int, b: Builder) -> Value:
    """x / 2^shift: 2^shift - 1 is added to a negative number first."""
    bits = x.type.bits
    sign = b.value("ashr", x, b.const(bits - 1, x.type))
    raise_ = b.value("lshr", sign, b.const(bits - shift, x.type))
    return b.value("ashr", b.value("add", x, raise_), b.const(shift, x.type))


def _srem(op: Op, b: Builder) -> Value | None:
    quotient = _sdiv(op, b)
    return None if quotient is None else _rest(op.operands[0], quotient, op.operands[1], b)


_RULES: dict[str, Callable[[Op, Builder], Value | None]] = {"udiv": _udiv, "urem": _urem, "sdiv": _sdiv, "srem": _srem}

"""Numbers of ``#if``, where pcpp's numbers take unbounded memory or lose digits.

pcpp shifts before it truncates to 64 bits, so that ``1 << 40000000000`` takes 5 GB, and it divides in floating point.
Its grammar refers to its class of numbers directly, so the operations of that class are replaced.
"""

from collections.abc import Callable

from pcpp.evaluator import INTMAXBITS, Value

__all__ = ["mend_numbers"]


def mend_numbers() -> None:
    """Give pcpp's numbers shifts and quotients as in C. A shift by the width or more leaves no bit, as with gcc."""
    Value.__lshift__, Value.__rshift__ = _both(_shift_left), _both(_shift_right)
    Value.__truediv__ = Value.__div__ = _both(_divide)
    Value.__mod__ = _both(_remainder)


def _both(operation: Callable[[Value, Value], Value]) -> Callable:
    """The operation if neither operand is an error; an error is passed on until it is known whether it matters (``0 &&
    1 / 0``)."""

    def result(left: Value, right) -> Value:
        right = Value(right)
        failed = next((one for one in (left, right) if one.exception is not None), None)
        return failed if failed is not None else operation(left, right)

    return result


def _amount(by: Value) -> int:
    if not by.unsigned and int(by) < 0:
        raise ValueError("a shift by less than 0")
    return min(int(by), INTMAXBITS)


def _shift_left(value: Value, by: Value) -> Value:
    return Value(int(value) << _amount(by), value.unsigned)


def _shift_right(value: Value, by: Value) -> Value:
    return Value(int(value) >> _amount(by), value.unsigned)


def _divide(left: Value, right: Value) -> Value:
    a, b, unsigned = _alike(left, right)
    quotient = abs(a) // abs(b)
    return Value(-quotient if (a < 0) != (b < 0) else quotient, unsigned)


def _remainder(left: Value, right: Value) -> Value:
    a, b, unsigned = _alike(left, right)
    return Value(a - b * int(_divide(left, right)), unsigned)


def _alike(left: Value, right: Value) -> tuple[int, int, bool]:
    """Both numbers, converted to one type."""
    unsigned = left.unsigned or right.unsigned
    return int(Value(int(left), unsigned)), int(Value(int(right), unsigned)), unsigned

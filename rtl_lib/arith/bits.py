"""Combinational helpers on bit vectors: pure functions from values to values."""

from amaranth import *

__all__ = ["at_most", "leading_zeros", "shift_left", "shift_right_lost"]


def shift_left(value, amount):
    """``value << amount`` with the width of ``value``; what leaves at the top is lost."""
    return (value << amount)[:len(value)]


def shift_right_lost(value, amount):
    """``value >> amount`` with the width of ``value``, and as many bits more that hold what was shifted out.

    ``amount`` may be as large as ``len(value)``, which shifts everything out.
    """
    width = len(value)
    shifted = Cat(Const(0, width), value) >> amount
    return shifted[width:2 * width], shifted[:width]


def leading_zeros(value):
    """Number of zeros above the first one; ``len(value)`` if there is none."""
    width = len(value)
    padded = 1 << width.bit_length()
    # A one below the last bit ends the count for a zero value; ones below it are never looked at.
    bits = Cat(Const(-1, padded - width), value)
    return _leading_zeros(bits)[1][:width.bit_length()]


def _leading_zeros(bits):
    """Whether ``bits`` (a power of two of them) holds no one, and the count of leading zeros if it does."""
    if len(bits) == 1:
        return ~bits, Const(0, 0)
    half = len(bits) // 2
    (low_empty, low), (high_empty, high) = _leading_zeros(bits[:half]), _leading_zeros(bits[half:])
    count = Cat(Mux(high_empty, low, high), high_empty) if half > 1 else high_empty
    return high_empty & low_empty, count


def at_most(value, limit):
    """The smaller of a non-negative ``value`` and the constant ``limit``, in the bits ``limit`` needs."""
    return Mux(value > limit, limit, value)[:limit.bit_length()]

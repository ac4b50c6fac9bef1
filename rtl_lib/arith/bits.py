"""Combinational helpers on bit vectors: functions from values to values.

Functions that use a value more than once take ``wire``, see :class:`rtl_lib.arith.pipelined.Step`.
"""

from amaranth import *

from rtl_lib.arith.pipelined import Wire

__all__ = ["at_most", "leading_zeros", "saturate", "shift_left", "shift_right_lost", "top_of_shift", "with_carry"]


def shift_left(wire: Wire, value: Value, amount: Value) -> Value:
    """``value << amount`` with the width of ``value``; bits shifted out at the top are lost.

    Large distances are shifted first: of a count of leading zeros the upper bits are known first.
    """
    for bit in reversed(range(len(amount))):
        value = wire(Mux(amount[bit], _moved_up(value, 1 << bit), value), f"by{1 << bit}")
    return value


def _moved_up(value: Value, distance: int) -> Value:
    return Cat(Const(0, distance), value)[: len(value)]


def shift_right_lost(wire: Wire, value: Value, amount: Value) -> tuple[Value, Value]:
    """``value >> amount`` with the width of ``value``, and bits of which one is set if a one was shifted out.

    There is one of these bits for each bit of ``amount``, which may be of any size. Large distances are shifted first:
    what the small ones shift out is then examined in few bits.
    """
    lost = []
    for bit in reversed(range(len(amount))):
        out = value[: 1 << bit]
        lost.append(wire(amount[bit] & out.any(), f"lost{1 << bit}"))
        value = wire(Mux(amount[bit], value[1 << bit :], value), f"by{1 << bit}")
    return value, Cat(lost)


def top_of_shift(wire: Wire, value: Value, amount: Value, kept: int) -> tuple[Value, Value]:
    """The top ``kept`` bits of ``value << amount`` in the width of ``value``, and the bits that end up below them.

    Large distances are shifted first: bits that can no longer reach the top then need no further multiplexers.
    ``amount`` may be anything below ``len(value)``; the order of the bits below the top ones is undefined.
    """
    below = []
    for bit in reversed(range(len(amount))):
        value = wire(Mux(amount[bit], _moved_up(value, 1 << bit), value), f"by{1 << bit}")
        reachable = min(len(value), kept + (1 << bit) - 1)
        below.append(value[: len(value) - reachable])
        value = value[len(value) - reachable :]
    return value, Cat(below)


def leading_zeros(wire: Wire, value: Value) -> Value:
    """Number of zeros above the most significant one; ``len(value)`` if ``value`` is zero."""
    width = len(value)
    padded = 1 << width.bit_length()
    # A one appended below the last bit ends the count for a zero value; ones below it are never examined.
    bits = wire(Cat(Const(-1, padded - width), value), "counted")
    return _leading_zeros(wire, bits)[: width.bit_length()]


def _leading_zeros(wire: Wire, bits: Value) -> Value:
    """Leading zeros of ``bits``: their number is a power of two, and at least one of them is set."""
    half = len(bits) // 2
    high_empty = wire(~bits[half:].any(), "empty")
    if half == 1:
        return high_empty
    return Cat(Mux(high_empty, _leading_zeros(wire, bits[:half]), _leading_zeros(wire, bits[half:])), high_empty)


def at_most(value: Value, limit: int) -> Value:
    """The smaller of a non-negative ``value`` and the constant ``limit``, in the width of ``limit``."""
    return Mux(value > limit, limit, value)[: limit.bit_length()]


def saturate(value: Value, limit: int) -> Value:
    """A non-negative ``value`` where it is below ``limit``, else a number from ``limit`` on, in the width of ``limit``.

    Without a comparison: a value with a bit above those of ``limit`` becomes all ones.
    """
    width = limit.bit_length()
    return value[:width] | value[width:].any().replicate(width)


def with_carry(a: Value, b: Value, carry: Value) -> Value:
    """``a + b + carry`` for a single bit ``carry``, on one carry chain that is one bit longer.

    Written as a sum of three, it would cost lookup tables before the carry chain on targets whose chains add no more
    than two words.
    """
    return (Cat(carry, a) + Cat(carry, b))[1:]

"""Rounds a Kulisch accumulator to a float, after the loop that accumulated it.

A short loop rotates the digits twice, the lowest first. The first round propagates the pending carries up to the sign;
the second replaces a negative sum by its magnitude. Both are one addition of a digit. The second round also records the
highest non-zero digit, the digit below it, and whether any bit below that is set (sticky). Then the leading one is
normalized and the result is rounded once.
"""

from dataclasses import dataclass

from ...ir import BOOL, Attr, Builder, IntType, Region, Value
from ...narrow import instance, present
from .kulisch import FLAGS, Accumulator, bits_of, concatenated, inverted, lowest, repeated, wider

__all__ = ["rounded_sum"]


@dataclass(frozen=True)
class _Magnitude:
    """A magnitude without the zeros above its ``high`` digit, which is digit number ``position`` minus the number of
    digits; ``next`` is the digit below, ``more`` the sticky bit below that. ``negative`` is the sign of the sum."""

    high: Value
    next: Value
    more: Value
    position: Value
    negative: Value


def rounded_sum(b: Builder, shape: Accumulator, state: list[Value]) -> Value:
    """The sum of a state of :func:`hls.passes.float.kulisch.step`, rounded to nearest, ties to even."""
    found = _magnitude(b, shape, _words(b, shape, state[: -len(FLAGS)]))
    return _encoded(b, shape, found, state[-len(FLAGS) :])


def _words(b: Builder, shape: Accumulator, digits: list[Value]) -> list[Value]:
    """Each digit with its pending carry above it; the last sign-extended."""
    words = [concatenated(b, digit, carry) for digit, carry in zip(digits[:-1:2], digits[1::2], strict=True)]
    last = digits[-1]
    if last.type.bits < shape.digit:
        last = b.value("sext", last, result=IntType(shape.digit))
    return [*words, wider(b, last, IntType(shape.digit + 1))]


def _magnitude(b: Builder, shape: Accumulator, words: list[Value]) -> _Magnitude:
    """Build the loop over the digits."""
    count, digit = len(words), IntType(shape.digit)
    number = IntType((2 * count - 1).bit_length())
    no, nothing = b.const(0, BOOL), b.const(0, digit)
    initial = [
        *words,
        b.const(0, IntType(2)),
        no,
        b.const(0, number),
        nothing,
        no,
        nothing,
        nothing,
        no,
        b.const(0, number),
    ]
    body = Region()
    body.args = [Value(v.type, "", body, k) for k, v in enumerate(initial)]
    inner = Builder(body, b.span)
    inner.op("yield", *_round(inner, shape, body.args[:count], body.args[count:]))
    loop = b.op(
        "loop",
        b.true(),
        *initial,
        results=[v.type for v in initial],
        regions=[body],
        attrs={Attr.TRIP_COUNT: 2 * count},
    )
    _, negative, _, _, _, high, next_, more, position = loop.results[count:]
    return _Magnitude(high, next_, more, position, negative)


def _round(b: Builder, shape: Accumulator, words: list[Value], others: list[Value]) -> list[Value]:
    """The loop body for one digit: the loop condition and the next carried values."""
    count, digit = len(words), shape.digit
    carry, negative, number, below, rest, high, next_, more, position = others
    word = words[0]
    complement = wider(
        b, repeated(b, negative, digit), instance(word.type, IntType)
    )  # round 2 only: no pending carries
    total = IntType(digit + 2)
    sum_ = b.value("add", wider(b, b.value("xor", word, complement), total), wider(b, carry, total))
    now = lowest(b, sum_, digit)
    turn = b.value("eq", number, b.const(count - 1, number.type))
    sign = bits_of(b, now, digit - 1, 1)
    found = b.value("ne", now, b.const(0, now.type))

    def kept(new: Value, old: Value) -> Value:
        return b.value("select", found, new, old)

    def begun(start: Value, on: Value) -> Value:
        """``start`` at the beginning of the second round, else ``on``."""
        return b.value("select", turn, start, on)

    rest_on = b.value("or", rest, b.value("ne", below, b.const(0, below.type)))
    return [
        b.value("ne", number, b.const(2 * count - 1, number.type)),
        *words[1:],
        wider(b, now, instance(word.type, IntType)),
        begun(wider(b, sign, instance(carry.type, IntType)), bits_of(b, sum_, digit, 2)),
        begun(sign, negative),
        b.value("add", number, b.const(1, number.type)),
        begun(b.const(0, now.type), now),
        begun(b.const(0, BOOL), rest_on),
        kept(now, high),
        kept(below, next_),
        kept(rest, more),
        kept(number, position),
    ]


def _encoded(b: Builder, shape: Accumulator, found: _Magnitude, flags: list[Value]) -> Value:
    """Round, select special values (zero, infinity, NaN), and apply the sign."""
    fraction = shape.significand - 1
    plain = IntType(shape.type.bits - 1)
    above = bits_of(b, found.high, fraction, shape.digit - fraction)
    small = b.value(
        "and",
        b.value("eq", above, b.const(0, above.type)),
        b.value("eq", found.position, b.const(len(shape.widths), found.position.type)),
    )
    zero = b.value("eq", found.high, b.const(0, found.high.type))
    exact = lowest(b, found.high, plain.bits) if not shape.flush else b.const(0, plain)  # subnormal
    large = _large(b, shape, found)
    number = b.value("select", b.value("or", small, zero), wider(b, exact, plain), large)
    any_, inf, minus_inf, nan = flags
    nan = b.value("or", nan, b.value("and", inf, minus_inf))
    infinity = ((1 << shape.exponent) - 1) << fraction
    number = b.value("select", b.value("or", inf, minus_inf), b.const(infinity, plain), number)
    number = b.value("select", nan, b.const(infinity | 1 << fraction - 1, plain), number)
    sign = b.value("or", found.negative, b.value("and", zero, inverted(b, any_)))
    sign = b.value("select", inf, b.const(0, BOOL), b.value("or", minus_inf, sign))
    sign = b.value("and", sign, inverted(b, nan))
    top = IntType(shape.type.bits)
    signed = b.value("or", wider(b, number, top), b.value("shl", wider(b, sign, top), b.const(top.bits - 1, top)))
    return b.value("bitcast", signed, result=shape.type)


def _large(b: Builder, shape: Accumulator, found: _Magnitude) -> Value:
    """The encoding, without sign, of a magnitude no less than the smallest normal number."""
    precision, digit = shape.significand, shape.digit
    window = concatenated(b, bits_of(b, found.next, digit - precision, precision), found.high)
    window, zeros = _normalized(b, window, digit)
    lost = digit + precision - (precision + 1)  # bits below the round bit
    last, half = bits_of(b, window, lost + 1, 1), bits_of(b, window, lost, 1)
    tail = b.value("or", found.more, b.value("ne", lowest(b, window, lost), b.const(0, IntType(lost))))
    if digit > precision:
        under = lowest(b, found.next, digit - precision)
        tail = b.value("or", tail, b.value("ne", under, b.const(0, under.type)))
    up = b.value("and", half, b.value("or", tail, last))
    # the leading one is bit position * digit + (digit - 1 - zeros); the exponent field is 1 if it is one bit above the
    # highest bit of a subnormal number's significand
    place = concatenated(b, inverted(b, zeros), found.position)
    offset = len(shape.widths) * digit + precision - 2
    exponent = b.value("add", place, b.const(-offset, place.type))
    encoded = concatenated(b, bits_of(b, window, lost + 1, precision - 1), exponent)  # without the leading one
    encoded = b.value("add", encoded, wider(b, up, instance(encoded.type, IntType)))
    exponent = bits_of(b, encoded, precision - 1, place.type.bits)
    infinite = (1 << shape.exponent) - 1
    over = b.value("ule", b.const(infinite, exponent.type), exponent)
    plain = IntType(shape.type.bits - 1)
    return b.value("select", over, b.const(infinite << precision - 1, plain), lowest(b, encoded, plain.bits))


def _normalized(b: Builder, window: Value, digit: int) -> tuple[Value, Value]:
    """The window shifted left until its top bit is one, if its highest digit is not 0, and the shift distance."""
    zeros: Value | None = None
    moves = digit >> 1
    while moves:
        top = bits_of(b, window, window.type.bits - moves, moves)
        empty = b.value("eq", top, b.const(0, top.type))
        window = b.value("select", empty, b.value("shl", window, b.const(moves, window.type)), window)
        zeros = empty if zeros is None else concatenated(b, empty, zeros)
        moves >>= 1
    return window, present(zeros)

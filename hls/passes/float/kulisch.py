"""Kulisch accumulator: an exact sum of floats as one long integer that takes a term every cycle.

The integer counts units of the smallest subnormal number. It is stored as digits, the lowest first, in carry-save
form: the carry out of a digit is pending until the next term, when it is added to the digit above. So no addition is
wider than a digit, and all digits are updated at once::

    digit[k], pending[k + 1] = digit[k] + part[k] of the term + pending[k]

A term's significand is shifted by its exponent modulo the digit width; the rest of the exponent selects the digits that
the pieces are added to. A negative term is complemented in every digit, with a carry into the lowest.
"""

from dataclasses import dataclass

from ...ir import BOOL, Builder, FloatType, IntType, Value
from ...narrow import instance, present

__all__ = [
    "DIGITS",
    "FLAGS",
    "Accumulator",
    "bits_of",
    "concatenated",
    "inverted",
    "lowest",
    "repeated",
    "start_of",
    "step",
    "wider",
]

#: possible digit widths, by the bits of the format: a power of two, at least as wide as the significand
DIGITS = {16: (16, 32), 32: (32,)}
#: widths of the significand and of the exponent field
_FIELDS = {16: (11, 5), 32: (24, 8)}
#: flags for kinds of terms seen: anything other than -0, infinity, minus infinity, NaN
FLAGS = ("any", "inf", "minus_inf", "nan")


@dataclass(frozen=True)
class Accumulator:
    """The shape of a sum of at most ``terms`` floats of ``type``, in digits of ``digit`` bits; the last digit may be
    narrower. With ``flush`` subnormal terms are zeros of their sign."""

    type: FloatType
    digit: int
    terms: int
    flush: bool = False

    @property
    def significand(self) -> int:
        """Bits of the type's significand."""
        return _FIELDS[self.type.bits][0]

    @property
    def exponent(self) -> int:
        """Bits of the type's exponent."""
        return _FIELDS[self.type.bits][1]

    @property
    def places(self) -> int:
        """Bits of the sum, its sign included."""
        greatest = ((1 << self.significand) - 1) << (1 << self.exponent) - 3
        return (self.terms * greatest).bit_length() + 1

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each digit in bits."""
        whole, rest = divmod(self.places, self.digit)
        return (self.digit,) * whole + (rest,) * (rest > 0)

    @property
    def windows(self) -> int:
        """In how many digits the lowest bit of a term may lie."""
        return -(-((1 << self.exponent) - 1) // self.digit)


@dataclass(frozen=True)
class Term:
    """An unpacked term: ``pieces`` of a digit's width, the lowest of which belongs to digit number ``window`` (None:
    there is only one digit); ``negative``; and the flags that it sets."""

    pieces: tuple[Value, ...]
    window: Value | None
    negative: Value
    flags: tuple[Value, ...]


def concatenated(b: Builder, low: Value, high: Value) -> Value:
    """``high`` above ``low``, of at most 32 bits each: pure wiring, where an `or` of both would count as logic."""
    width = max(8, 1 << (max(low.type.bits, high.type.bits) - 1).bit_length())
    word = IntType(width)
    up = b.value("shl", wider(b, low, word), b.const(width - low.type.bits, word))
    both = b.value("bitcast", b.value("array", up, wider(b, high, word)), result=IntType(2 * width))
    return bits_of(b, both, width - low.type.bits, low.type.bits + high.type.bits)


def wider(b: Builder, value: Value, type: IntType) -> Value:
    """The value zero-extended to the type, if it is narrower."""
    return value if value.type == type else b.value("zext", value, result=type)


def lowest(b: Builder, value: Value, bits: int) -> Value:
    """The lowest ``bits`` bits of the value."""
    return value if value.type.bits == bits else b.value("trunc", value, result=IntType(bits))


def bits_of(b: Builder, value: Value, low: int, bits: int) -> Value:
    """``bits`` bits from bit ``low`` up."""
    return lowest(b, b.value("lshr", value, b.const(low, value.type)) if low else value, bits)


def inverted(b: Builder, value: Value) -> Value:
    """All bits of the value inverted."""
    return b.value("xor", value, b.const(-1, value.type))


def repeated(b: Builder, bit: Value, bits: int) -> Value:
    """A number of ``bits`` bits that are all ``bit``."""
    return bit if bits == 1 else b.value("sext", bit, result=IntType(bits))


def unpacked(b: Builder, shape: Accumulator, value: Value, subtracted: bool) -> Term:
    """A float, unpacked as a term to add or subtract."""
    whole = b.value("bitcast", value, result=IntType(shape.type.bits))
    fraction = lowest(b, whole, shape.significand - 1)
    exponent = bits_of(b, whole, shape.significand - 1, shape.exponent)
    negative = bits_of(b, whole, shape.type.bits - 1, 1)
    if subtracted:
        negative = inverted(b, negative)
    normal = b.value("ne", exponent, b.const(0, exponent.type))
    if shape.flush:
        fraction = b.value("and", fraction, repeated(b, normal, fraction.type.bits))
    flags = _flags(b, exponent, fraction, normal, negative)
    # subnormal numbers have the unit of the least normal ones
    place = b.value("sub", exponent, wider(b, normal, instance(exponent.type, IntType)))
    window, shifted = _shifted(b, shape, fraction, normal, place)
    pieces = tuple(
        bits_of(b, shifted, low, min(shape.digit, shifted.type.bits - low))
        for low in range(0, shifted.type.bits, shape.digit)
    )
    return Term(pieces, window, negative, flags)


def _flags(b: Builder, exponent: Value, fraction: Value, normal: Value, negative: Value) -> tuple[Value, ...]:
    special = b.value("eq", exponent, b.const(-1, exponent.type))
    blank = b.value("eq", fraction, b.const(0, fraction.type))
    infinite = b.value("and", special, blank)
    nothing = b.value("and", b.value("and", negative, inverted(b, normal)), blank)
    return (
        inverted(b, nothing),
        b.value("and", infinite, inverted(b, negative)),
        b.value("and", infinite, negative),
        b.value("and", special, inverted(b, blank)),
    )


def _shifted(
    b: Builder, shape: Accumulator, fraction: Value, normal: Value, place: Value
) -> tuple[Value | None, Value]:
    """The number of the lowest digit, and the significand shifted to its position within that digit: a barrel shifter,
    small shifts first, as the shifted value grows."""
    steps = min(shape.digit.bit_length() - 1, shape.exponent)
    width = shape.significand
    shifted = b.value(
        "or",
        wider(b, fraction, IntType(width)),
        b.value("shl", wider(b, normal, IntType(width)), b.const(width - 1, IntType(width))),
    )
    for k in range(steps):
        width += 1 << k
        wide = wider(b, shifted, IntType(width))
        moved = b.value("shl", wide, b.const(1 << k, wide.type))
        shifted = b.value("select", bits_of(b, place, k, 1), moved, wide)
    window = bits_of(b, place, steps, shape.exponent - steps) if shape.windows > 1 else None
    return window, shifted


def _parts(b: Builder, shape: Accumulator, term: Term) -> list[Value]:
    """The addend of each digit, without the carry of a negative term into the lowest."""
    here: dict[int, Value | None] = {k: None for k in range(shape.windows)}
    if term.window is not None:
        here = {k: b.value("eq", term.window, b.const(k, term.window.type)) for k in here}
    parts = []
    for k, width in enumerate(shape.widths):
        given = [_masked(b, piece, here[k - j], width) for j, piece in enumerate(term.pieces) if k - j in here]
        sign = repeated(b, term.negative, width)
        parts.append(b.value("xor", _either(b, given, width), sign) if given else sign)
    return parts


def _masked(b: Builder, piece: Value, here: Value | None, width: int) -> Value:
    """The piece if it belongs to this digit, else 0; at most ``width`` bits of it."""
    piece = lowest(b, piece, min(width, piece.type.bits))
    return piece if here is None else b.value("and", piece, repeated(b, here, piece.type.bits))


def _either(b: Builder, given: list[Value], width: int) -> Value:
    """The addend of a digit: one piece, or the OR of two, of which one is 0."""
    wide, *narrow = sorted(given, key=lambda v: v.type.bits, reverse=True)
    for piece in narrow:
        bits = piece.type.bits
        common = b.value("or", lowest(b, wide, bits), piece)
        wide = (
            common if bits == wide.type.bits else concatenated(b, common, bits_of(b, wide, bits, wide.type.bits - bits))
        )
    return wider(b, wide, IntType(width))


def start_of(b: Builder, shape: Accumulator, value: Value) -> list[Value]:
    """The initial state of a sum whose only term is ``value``: digits, each but the last followed by its pending carry,
    and flags."""
    term = unpacked(b, shape, value, False)
    zero = b.const(0, BOOL)
    state = []
    for k, part in enumerate(_parts(b, shape, term)):
        if k == 0:
            part, carry = _plus(b, part, b.const(0, part.type), term.negative)
        else:
            carry = zero
        state += [part, carry]
    return [*state[:-1], *term.flags]


def step(b: Builder, shape: Accumulator, state: list[Value], value: Value, subtracted: bool) -> list[Value]:
    """The state of the sum after one more term."""
    term = unpacked(b, shape, value, subtracted)
    digits, flags = state[: -len(FLAGS)], state[-len(FLAGS) :]
    after: list[Value] = []
    carry: Value | None = term.negative
    for k, part in enumerate(_parts(b, shape, term)):
        digit, out = _plus(b, digits[2 * k], part, present(carry))
        after += [digit, out]
        carry = digits[2 * k + 1] if 2 * k + 1 < len(digits) else None
    return [*after[:-1], *(b.value("or", old, new) for old, new in zip(flags, term.flags, strict=True))]


def _plus(b: Builder, digit: Value, part: Value, carry: Value) -> tuple[Value, Value]:
    """The sum of two digits and a carry, and the carry out, by one addition: the carry in is added as an extra bit
    below the lowest one."""
    bits = digit.type.bits
    wide = IntType(bits + 2)
    one = b.const(1, wide)
    left = b.value("or", b.value("shl", wider(b, part, wide), one), one)
    total = b.value("add", left, wider(b, concatenated(b, carry, digit), wide))
    return bits_of(b, total, 1, bits), bits_of(b, total, bits + 1, 1)

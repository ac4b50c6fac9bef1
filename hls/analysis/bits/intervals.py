"""Interval arithmetic: the range of each operation's result from the ranges of its operands."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ...ir.values import signed

__all__ = ["TRANSFER", "Range"]


class Range(NamedTuple):
    """Bounds, all inclusive, of a value of ``bits`` bits: umin..umax read unsigned, smin..smax read signed. A tuple, as
    millions are made and compared for a large kernel."""

    bits: int
    umin: int
    umax: int
    smin: int
    smax: int

    @classmethod
    def full(cls, bits: int) -> "Range":
        """The range of a value of ``bits`` bits of which nothing is known."""
        return _full(bits)

    @classmethod
    def exact(cls, number: int, bits: int) -> "Range":
        """The range of a value whose bit pattern is ``number``."""
        return cls(bits, number, number, signed(number, bits), signed(number, bits))

    @classmethod
    def of(cls, bits: int, unsigned: tuple[int, int] | None, as_signed: tuple[int, int] | None) -> "Range":
        """From bounds of the exact result, as unsigned and as signed number; None, or bounds that do not fit, give no
        information."""
        whole = cls.full(bits)
        u = unsigned if unsigned and 0 <= unsigned[0] and unsigned[1] <= whole.umax else (whole.umin, whole.umax)
        s = (
            as_signed
            if as_signed and whole.smin <= as_signed[0] and as_signed[1] <= whole.smax
            else (whole.smin, whole.smax)
        )
        return cls(bits, *u, *s)._agree()

    def _agree(self) -> "Range":
        """Tighten each of the two intervals by the other if the sign is known."""
        bits, umin, umax, smin, smax = self
        half, span = 1 << bits - 1, 1 << bits
        if umax < half or umin >= half:
            shift = 0 if umax < half else span
            smin, smax = max(smin, umin - shift), min(smax, umax - shift)
        if smin >= 0 or smax < 0:
            shift = 0 if smin >= 0 else span
            umin, umax = max(umin, smin + shift), min(umax, smax + shift)
        if umin > umax or smin > smax:  # empty: unreachable code
            return self
        return Range(bits, umin, umax, smin, smax)

    def clip(self, is_signed: bool, low: int | None = None, high: int | None = None) -> "Range":
        """With an additional bound on one of the two intervals; unchanged if that would leave it empty."""
        old = (self.smin, self.smax) if is_signed else (self.umin, self.umax)
        new = (old[0] if low is None else max(old[0], low), old[1] if high is None else min(old[1], high))
        if new[0] > new[1]:
            return self
        bounds = (self.umin, self.umax, *new) if is_signed else (*new, self.smin, self.smax)
        return Range(self.bits, *bounds)._agree()

    def join(self, other: "Range") -> "Range":
        """The smallest range that contains both, bound by bound."""
        bits, umin, umax, smin, smax = self
        _, low, high, least, most = other
        return Range(bits, min(umin, low), max(umax, high), min(smin, least), max(smax, most))

    def meet(self, other: "Range") -> "Range":
        """The intersection; an interval is unchanged if it would be empty."""
        return self.clip(False, other.umin, other.umax).clip(True, other.smin, other.smax)

    def widen(self, other: "Range", limit: "Range") -> "Range":
        """``self`` with every bound that ``other`` exceeds moved to that of ``limit``, or to the full range if that is
        exceeded."""
        whole = Range.full(self.bits)
        return Range(
            self.bits,
            -_widened(-self.umin, -other.umin, -limit.umin, -whole.umin),
            _widened(self.umax, other.umax, limit.umax, whole.umax),
            -_widened(-self.smin, -other.smin, -limit.smin, -whole.smin),
            _widened(self.smax, other.smax, limit.smax, whole.smax),
        )._agree()

    @property
    def unsigned_bits(self) -> int:
        """How many bits hold every value when extended by zeros."""
        return max(1, self.umax.bit_length())

    @property
    def signed_bits(self) -> int:
        """How many bits hold every value when extended by the sign."""
        return (
            max((-self.smin - 1).bit_length() if self.smin < 0 else 0, self.smax.bit_length() if self.smax > 0 else 0)
            + 1
        )


@cache
def _full(bits: int) -> Range:
    """Asked for with every operation; there are few widths."""
    return Range(bits, 0, (1 << bits) - 1, -(1 << bits - 1), (1 << bits - 1) - 1)


def _widened(mine: int, theirs: int, far: int, end: int) -> int:
    """An upper bound of ``mine`` moved to ``far`` where ``theirs`` exceeds it, or to ``end`` where it exceeds that."""
    return mine if theirs <= mine else far if theirs <= far else end


def _add(n, a, b):
    return Range.of(n, (a.umin + b.umin, a.umax + b.umax), (a.smin + b.smin, a.smax + b.smax))


def _sub(n, a, b):
    return Range.of(n, (a.umin - b.umax, a.umax - b.umin), (a.smin - b.smax, a.smax - b.smin))


def _mul(n, a, b):
    corners = [x * y for x in (a.smin, a.smax) for y in (b.smin, b.smax)]
    return Range.of(n, (a.umin * b.umin, a.umax * b.umax), (min(corners), max(corners)))


def _and(n, a, b):
    return Range.of(n, (0, min(a.umax, b.umax)), None)


def _or(n, a, b):
    return Range.of(n, (max(a.umin, b.umin), (1 << max(a.umax, b.umax).bit_length()) - 1), None)


def _xor(n, a, b):
    return Range.of(n, (0, (1 << max(a.umax, b.umax).bit_length()) - 1), None)


def _shl(n, a, b):
    if b.umax >= n:
        return Range.full(n)
    corners = [x << y for x in (a.smin, a.smax) for y in (b.umin, b.umax)]
    return Range.of(n, (a.umin << b.umin, a.umax << b.umax), (min(corners), max(corners)))


def _lshr(n, a, b):
    return Range.of(n, (a.umin >> min(b.umax, n), a.umax >> min(b.umin, n)), None)


def _ashr(n, a, b):
    corners = [x >> min(y, n) for x in (a.smin, a.smax) for y in (b.umin, b.umax)]
    return Range.of(n, None, (min(corners), max(corners)))


def _udiv(n, a, b):
    return Range.of(n, (a.umin // b.umax, a.umax // b.umin), None) if b.umin > 0 else Range.full(n)


def _urem(n, a, b):
    return Range.of(n, (0, min(a.umax, b.umax - 1) if b.umin > 0 else a.umax), None)


def _sdiv(n, a, b):
    if b.smin <= 0:
        return Range.full(n)
    corners = [abs(x) // y * (1 if x >= 0 else -1) for x in (a.smin, a.smax) for y in (b.smin, b.smax)]
    return Range.of(n, None, (min(corners), max(corners)))


def _srem(n, a, b):
    if b.smin <= 0:
        return Range.full(n)
    return Range.of(
        n, None, (max(a.smin, 1 - b.smax) if a.smin < 0 else 0, min(a.smax, b.smax - 1) if a.smax > 0 else 0)
    )


def _zext(n, a):
    return Range.of(n, (a.umin, a.umax), None)


def _sext(n, a):
    return Range.of(n, None, (a.smin, a.smax))


def _trunc(n, a):
    return Range.of(n, (a.umin, a.umax), (a.smin, a.smax))


#: opcode -> function(result bits, operand ranges...) for the operations with a useful rule
TRANSFER: dict[str, Callable[..., Range]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shl,
    "lshr": _lshr,
    "ashr": _ashr,
    "udiv": _udiv,
    "urem": _urem,
    "sdiv": _sdiv,
    "srem": _srem,
    "zext": _zext,
    "sext": _sext,
    "trunc": _trunc,
}

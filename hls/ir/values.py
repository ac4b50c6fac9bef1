"""The meaning of every pure operation on plain Python numbers.

Integers are represented unsigned (0 <= x < 2**bits), floats as Python floats that are exactly representable in their
format, arrays as tuples. Undefined cases of C are defined here as the hardware computes them: a shift by the width or
more gives 0 (or the sign), division by zero gives all ones and the dividend as remainder, a conversion out of range
saturates, NaN converts to 0, an index outside an array reads 0 and writes nothing.

A NaN keeps its bits wherever it is only moved, selected or reinterpreted as bits. A Python float holds the bits of a
shorter format at the top of its own significand (a C cast would make a signaling NaN quiet). Arithmetic produces the
single NaN of :func:`one_nan`.
"""

import math
import struct

__all__ = ["Constant", "bits_to_float", "float_to_bits", "one_nan", "round_float", "signed"]

#: a value of an operation that is known: an integer, a float or an array of them
Constant = int | float | tuple["Constant", ...]

_FORMAT = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
#: bits of the significand
_FRACTION = {16: 10, 32: 23, 64: 52}


def signed(x: int, bits: int) -> int:
    """``x`` read as two's complement of ``bits`` bits."""
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def bits_to_float(x: int, bits: int) -> float:
    """The number of an encoding, including NaNs with all their bits."""
    as_float, as_int = _FORMAT[bits]
    size = _FRACTION[bits]
    fraction = x & (1 << size) - 1
    if bits < 64 and fraction and x >> size & (1 << bits - 1 - size) - 1 == (1 << bits - 1 - size) - 1:
        return struct.unpack("<d", struct.pack("<Q", x >> bits - 1 << 63 | 0x7FF << 52 | fraction << 52 - size))[0]
    return struct.unpack(as_float, struct.pack(as_int, x))[0]


def float_to_bits(x: float, bits: int) -> int:
    """The encoding of ``x``. A NaN is truncated to the bits of the format; if none of them would be set, it becomes the
    quiet NaN."""
    as_float, as_int = _FORMAT[bits]
    if bits < 64 and math.isnan(x):
        size, double = _FRACTION[bits], struct.unpack("<Q", struct.pack("<d", x))[0]
        fraction = (double & (1 << 52) - 1) >> 52 - size or 1 << size - 1
        return double >> 63 << bits - 1 | (1 << bits - 1 - size) - 1 << size | fraction
    return struct.unpack(as_int, struct.pack(as_float, x))[0]


def one_nan(x: float) -> float:
    """``x``, or for any NaN the quiet NaN that arithmetic produces, positive and without a payload."""
    return math.nan if math.isnan(x) else x


def round_float(x: float, bits: int) -> float:
    """``x`` rounded to the nearest value of the format, ties to even.

    Rounding a double to single again is exact for +, -, *, / (Figueroa 1995: 53 >= 2*24 + 2).
    """
    if math.isnan(x):
        return math.nan
    if bits == 64 or math.isinf(x):
        return x
    try:
        return bits_to_float(float_to_bits(x, bits), bits)
    except OverflowError:
        return math.copysign(math.inf, x)

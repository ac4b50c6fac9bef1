"""The meaning of every pure operation on plain Python numbers.

Integers are represented unsigned (0 <= x < 2**bits), floats as Python floats that are exactly representable in
their format, arrays as tuples. Undefined cases of C are defined here as the hardware does them: a shift by the width
or more gives 0 (or the sign), division by zero gives all ones and the dividend as remainder, a conversion out of
range saturates, NaN converts to 0, an index outside an array reads 0 and writes nothing.
"""

import math
import struct

__all__ = ["bits_to_float", "float_to_bits", "round_float", "signed"]

_FORMAT = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
_NAN = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}


def signed(x: int, bits: int) -> int:
    """``x`` read as two's complement of ``bits`` bits."""
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def bits_to_float(x: int, bits: int) -> float:
    as_float, as_int = _FORMAT[bits]
    return struct.unpack(as_float, struct.pack(as_int, x))[0]


def float_to_bits(x: float, bits: int) -> int:
    """The encoding of ``x``; every NaN becomes the one quiet NaN that hardware makes."""
    if math.isnan(x):
        return _NAN[bits]
    as_float, as_int = _FORMAT[bits]
    return struct.unpack(as_int, struct.pack(as_float, x))[0]


def round_float(x: float, bits: int) -> float:
    """``x`` rounded to the nearest value of the format, ties to even.

    Rounding a double to single once more is exact for +, -, *, / (Figueroa 1995: 53 >= 2*24 + 2).
    """
    if bits == 64 or math.isnan(x) or math.isinf(x):
        return x
    try:
        return bits_to_float(float_to_bits(x, bits), bits)
    except OverflowError:
        return math.copysign(math.inf, x)

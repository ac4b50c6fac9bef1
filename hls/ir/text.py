"""printf: C's format strings on values of the IR."""

import re

from .types import FloatType, IntType
from .values import signed

__all__ = ["CONVERSION", "formatted"]

#: flags, width, precision, length, conversion
CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(\.\d*)?(hh|hl|h|ll|l|j|z|t)?([diouxXfFeEgGaAcsp%])")


def formatted(format: str, values, types) -> str:
    """The text that printf writes; ``types`` are those of the values."""
    given = iter(zip(values, types, strict=True))

    def one(match: re.Match) -> str:
        flags, width, precision, _, kind = match.groups()
        if kind == "%":
            return "%"
        value, type = next(given)
        if kind in "di":
            value, kind = signed(value, type.bits), "d"
        elif kind == "u":
            kind = "d"
        elif kind in "aA":
            return _hexadecimal(float(value), f"%{flags}{width}s", kind)
        elif kind == "c":
            value &= 0xFF
        elif kind in "fFeEgG" and isinstance(type, IntType):
            raise ValueError(f"%{kind} cannot show an integer")
        elif kind in "oxX" and isinstance(type, FloatType):
            raise ValueError(f"%{kind} cannot show a float")
        return f"%{flags}{width}{precision or ''}{kind}" % (chr(value) if kind == "c" else value)

    return CONVERSION.sub(one, format)


def _hexadecimal(value: float, layout: str, kind: str) -> str:
    text = layout % value.hex()
    return text.upper() if kind == "A" else text

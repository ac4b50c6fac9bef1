"""printf: C's format strings on values of the IR."""

import re
from collections.abc import Sequence
from math import copysign, isfinite, isnan
from typing import Any

from .types import FloatType, IntType, Type
from .values import signed

__all__ = ["CONVERSION", "formatted"]

#: flags, width, precision, length, conversion
CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(\.\d*)?(hh|hl|h|ll|l|j|z|t)?([diouxXfFeEgGaAcsp%])")

#: length -> bits to which an integer is cut before it is shown
_CUT = {"hh": 8, "h": 16}


def formatted(format: str, values: Sequence[Any], types: Sequence[Type]) -> str:
    """The text that printf writes; ``types`` are those of the values."""
    given = iter(zip(values, types, strict=True))

    def one(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        value, type = next(given)
        if kind in "diouxX" and length in _CUT and isinstance(type, IntType):
            value, type = value & (1 << _CUT[length]) - 1, IntType(_CUT[length])
        return _converted(value, type, flags, int(width or 0), precision, kind)

    return CONVERSION.sub(one, format)


def _converted(value: Any, type: Any, flags: str, width: int, precision: str | None, kind: str) -> str:
    """One value in its field. ``precision`` is as written, with its point."""
    if kind in "csp":
        text = chr(value & 0xFF) if kind == "c" else _address(value) if kind == "p" else f"%{precision or ''}s" % value
        return text.ljust(width) if "-" in flags else text.rjust(width)
    places = None if precision is None else int(precision[1:] or 0)
    if kind in "diouxX":
        if isinstance(type, FloatType):
            raise ValueError(f"%{kind} cannot show a float")
        number = signed(value, type.bits) if kind in "di" else value
        prefix, digits = _integer(abs(number), flags, places, kind)
        negative, zeros = number < 0, places is None
    else:
        if isinstance(type, IntType):
            raise ValueError(f"%{kind} cannot show an integer")
        prefix, digits = _real(abs(float(value)), flags, places, kind)
        negative, zeros = copysign(1, value) < 0 and not isnan(value), isfinite(value)
    sign = "-" if negative else "" if kind in "ouxX" else "+" if "+" in flags else " " if " " in flags else ""
    return _laid_out(sign + prefix, digits, flags if zeros else flags.replace("0", ""), width)


def _address(value: int) -> str:
    return f"{value:#x}" if value else "(nil)"


def _integer(number: int, flags: str, places: int | None, kind: str) -> tuple[str, str]:
    """(prefix, digits): at least ``places`` digits; for 0, none if zero places are requested."""
    digits = f"{number:{kind if kind in 'oxX' else 'd'}}" if number or places != 0 else ""
    digits = digits.rjust(places or 0, "0")
    if kind == "o" and "#" in flags and not digits.startswith("0"):
        digits = "0" + digits
    return f"0{kind}" if kind in "xX" and "#" in flags and number else "", digits


def _real(number: float, flags: str, places: int | None, kind: str) -> tuple[str, str]:
    if not isfinite(number):
        text = "nan" if isnan(number) else "inf"
        return "", text.upper() if kind.isupper() else text
    if kind not in "aA":
        return "", f"%{'#' * ('#' in flags)}{'' if places is None else f'.{places}'}{kind}" % number
    prefix, digits = _hexadecimal(number, "#" in flags, places)
    return (prefix.upper(), digits.upper()) if kind == "A" else (prefix, digits)


def _hexadecimal(number: float, point: bool, places: int | None) -> tuple[str, str]:
    """(prefix, the rest) as written by %a: as many digits as needed, or as requested, rounded to even."""
    whole, _, rest = number.hex().removeprefix("0x").partition(".")
    digits, _, exponent = rest.partition("p")
    if places is None:
        digits = digits.rstrip("0")
    else:
        cut = max(0, len(digits) - places)
        kept, lost = divmod(int(whole + digits, 16), 16**cut)
        kept += 2 * lost > 16**cut or (2 * lost == 16**cut and kept % 2 == 1)
        fraction = len(digits) - cut
        text = f"{kept:x}".rjust(fraction + 1, "0")
        whole, digits = text[: len(text) - fraction], text[len(text) - fraction :].ljust(places, "0")
    return "0x", f"{whole}{'.' if digits or point else ''}{digits}p{int(exponent):+d}"


def _laid_out(before: str, digits: str, flags: str, width: int) -> str:
    """Sign and prefix, then digits, in a field: padding zeros go between them, blanks before or after everything."""
    if "-" in flags:
        return (before + digits).ljust(width)
    if "0" in flags:
        return before + digits.rjust(width - len(before), "0")
    return (before + digits).rjust(width)

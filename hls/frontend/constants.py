"""Literals, and the values of constant expressions."""

import re
from fractions import Fraction

from ..diag import Code, CompileError, Span
from ..ir import exact
from . import types as ct
from .tree import Const

__all__ = ["literal", "unescaped"]

_ESCAPES = {"n": 10, "t": 9, "v": 11, "b": 8, "r": 13, "f": 12, "a": 7, "\\": 92, "'": 39, '"': 34, "?": 63, "0": 0}
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?[lL]{0,2}|[lL]{1,2}[uU]?)$")
_HEX_FLOAT = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$")


def literal(text: str, kind: str, span: Span, doubles: bool = False) -> tuple[Const, bool]:
    """The constant that a literal denotes, and whether its type is not the one that the program wrote: a float for a
    double, or ulong for a decimal number that no signed type has.

    ``kind`` is pycparser's type name. With ``doubles``, a literal written as a double is one.
    """
    if kind.endswith("char") or text.endswith("'"):
        return Const(ct.INT, span, _character(text, span)), False
    if kind in ("float", "double", "long double"):
        return _float(text, span, doubles)
    return _integer(text, span)


def _integer(text: str, span: Span) -> tuple[Const, bool]:
    match = _INTEGER.match(text)
    if not match:
        raise CompileError.at(span, f"'{text}' is not a number", code=Code.LITERAL)
    digits, suffix = match.group(1), match.group(2).lower()
    decimal = digits[0] != "0" or digits == "0"
    value = int(digits, 10 if decimal else 0 if digits[1] in "xXbB" else 8)
    for t in (ct.INT, ct.UINT, ct.LONG, ct.ULONG):
        wrong_sign = (not t.signed and decimal and "u" not in suffix) or (t.signed and "u" in suffix)
        if not wrong_sign and not ("l" in suffix and t.bits < 64) and value < 1 << t.bits - t.signed:
            return Const(t, span, value), False
    if value >> 64:
        raise CompileError.at(span, f"{text} does not fit 64 bits", code=Code.LITERAL)
    return Const(ct.ULONG, span, value), True


def _float(text: str, span: Span, doubles: bool) -> tuple[Const, bool]:
    single = text[-1] in "fFhH"  # the exponent of a hexadecimal float is decimal: its last digit is never an F
    t = ct.HALF if text[-1] in "hH" else ct.FLOAT if single or not doubles else ct.DOUBLE
    body = text.rstrip("fFlLhH")
    match = _HEX_FLOAT.match(body)
    if match:
        whole, fraction, exponent = match.groups()
        _check_exponent(int(exponent), span)
        value = Fraction(int((whole + fraction) or "0", 16)) * Fraction(2) ** (int(exponent) - 4 * len(fraction))
        return Const(t, span, exact.rounded(value, t.bits)), not single and not doubles
    _check_exponent(int(body.lower().partition("e")[2] or 0), span)
    return Const(t, span, exact.of_decimal(body, t.bits)), not single and not doubles


def _check_exponent(exponent: int, span: Span):
    if abs(exponent) > 4000:
        raise CompileError.at(
            span, "the exponent is out of range", "a float reaches from about 1e-45f to 3.4e38f", code=Code.LITERAL
        )


def _character(text: str, span: Span) -> int:
    body = text[text.index("'") + 1 : -1]
    if len(body) == 1 and body != "\\":
        code = ord(body)
    elif re.fullmatch(r"\\[0-7]{1,3}", body):
        code = int(body[1:], 8)
    elif re.fullmatch(r"\\x[0-9a-fA-F]+", body):
        code = int("0" + body[1:], 16)
    elif len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        code = _ESCAPES[body[1]]
    else:
        raise CompileError.at(span, f"{text} is not one character", code=Code.LITERAL)
    if code > 255:
        raise CompileError.at(span, f"{text} does not fit a char", "a char has 8 bits", code=Code.LITERAL)
    return (code - 256 if code > 127 else code) & 0xFFFFFFFF


def unescaped(text: str, span: Span) -> bytes:
    """The characters that a string literal, given without quotes, denotes, one byte per escape. Raises CompileError."""

    def one(match: re.Match) -> str:
        code = match.group(1)
        number = (
            int(code[1:], 16)
            if len(code) > 1 and code[0] == "x"
            else int(code, 8)
            if code.isdigit() and code < "8"
            else _ESCAPES.get(code)
        )
        if number is None or number > 255:
            raise CompileError.at(
                span,
                f"'\\{code}' is not an escape sequence",
                "write \\\\ for a backslash" if number is None else "a char has 8 bits",
                code=Code.LITERAL,
            )
        return bytes([number]).decode("utf-8", "surrogateescape")

    return re.sub(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.|$)", one, text).encode("utf-8", "surrogateescape")

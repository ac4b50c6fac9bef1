"""IR types and constants as C++: an integer of n bits is stored in the next larger unsigned type, with its other bits
zero."""

import math
from typing import Any

from ..ir import ArrayType, FloatType, IntType, PointerType, TokenType, Type
from ..ir.values import float_to_bits
from ..narrow import instance

__all__ = ["c_type", "from_memory", "has_data", "literal", "masked", "memory_type", "to_memory", "zero"]

_FORMATS = {16: "half", 32: "float", 64: "double"}


def has_data(type: Type) -> bool:
    """Whether values of the type exist in the text; memory tokens do not: accesses execute in program order."""
    return not isinstance(type, TokenType)


def c_type(type: Type) -> str:
    """The C++ type of a variable. Half precision is stored in a float."""
    if isinstance(type, IntType):
        return f"u{8 * type.bytes}"
    if isinstance(type, FloatType):
        return "double" if type.bits == 64 else "float"
    if isinstance(type, PointerType):
        return "Ptr"
    if isinstance(type, ArrayType):
        return f"Array<{c_type(type.element)}, {type.length}>"
    raise TypeError(f"no values of type {type} are computed")


def memory_type(type: Type) -> str:
    """The type that moves a value's bytes: an unsigned number, or several."""
    if isinstance(type, ArrayType):
        return f"Array<{memory_type(type.element)}, {type.length}>"
    return f"u{8 * type.bytes}"


def from_memory(text: str, type: Type) -> str:
    """The value of a type from its bytes in memory."""
    if isinstance(type, ArrayType):
        if _is_plain(type.element):
            return text
        element = type.element
        return f"each<{c_type(element)}>({text}, [](auto x) {{ return {from_memory('x', element)}; }})"
    if isinstance(type, FloatType):
        return f"half_value({text})" if type.bits == 16 else f"bits_as<{c_type(type)}>({text})"
    return text if _is_plain(type) else masked(text, instance(type, IntType))


def to_memory(text: str, type: Type) -> str:
    """The bytes in memory for a value."""
    if isinstance(type, ArrayType):
        if _is_plain(type.element):
            return text
        element = type.element
        return f"each<{memory_type(element)}>({text}, [](auto x) {{ return {to_memory('x', element)}; }})"
    return f"{_FORMATS[type.bits]}_bits({text})" if isinstance(type, FloatType) else text


def _is_plain(type: Type) -> bool:
    """Whether value and bytes are equal."""
    return isinstance(type, IntType) and type.bits == 8 * type.bytes


def masked(text: str, type: IntType) -> str:
    """The low bits of an integer expression as a value of the type."""
    if type.bits == 8 * type.bytes:
        return f"({c_type(type)})({text})"
    suffix = "ull" if type.bits > 32 else "u"
    return f"({c_type(type)})(({text}) & {(1 << type.bits) - 1:#x}{suffix})"


def zero(type: Type) -> str:
    """The result of a load whose predicate is false."""
    return f"{c_type(type)}()"


def literal(value: Any, type: Type) -> str:
    """A constant."""
    if isinstance(type, IntType):
        return f"({c_type(type)}){value}{'ull' if type.bits > 32 else 'u'}"
    if isinstance(type, FloatType):
        return _float(value, type)
    if isinstance(type, ArrayType):
        return f"{c_type(type)}{{{{{', '.join(literal(v, type.element) for v in value)}}}}}"
    return zero(type)  # the only pointer constant is null


def _float(value: float, type: FloatType) -> str:
    if math.isnan(value):
        bits = float_to_bits(value, 64 if type.bits == 64 else 32)
        return (
            f"bits_as<{c_type(type)}>((u{64 if type.bits == 64 else 32}){bits:#x}{'ull' if type.bits == 64 else 'u'})"
        )
    if math.isinf(value):
        return f"({c_type(type)}){'-' if value < 0 else ''}__builtin_inf()"
    return f"({c_type(type)}){value.hex()}" if math.copysign(1, value) > 0 else f"({c_type(type)})({value.hex()})"

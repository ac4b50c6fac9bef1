"""IR types and constants as C++: an integer of n bits lives in the next larger unsigned type, its other bits zero."""

import math

from ..ir import ArrayType, FloatType, IntType, PointerType, TokenType, Type

__all__ = ["c_type", "has_data", "literal", "masked", "memory_type", "zero"]


def has_data(type: Type) -> bool:
    """Whether values of the type exist in the text; order tokens do not: accesses take place in program order."""
    return not isinstance(type, TokenType)


def c_type(type: Type) -> str:
    """The type of a variable. Half precision is held in a float."""
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
    """The unsigned type that moves a value's bytes."""
    return f"u{8 * type.bytes}"


def masked(text: str, type: IntType) -> str:
    """The low bits of an integer expression as a value of the type."""
    if type.bits == 8 * type.bytes:
        return f"({c_type(type)})({text})"
    suffix = "ull" if type.bits > 32 else "u"
    return f"({c_type(type)})(({text}) & {(1 << type.bits) - 1:#x}{suffix})"


def zero(type: Type) -> str:
    """What a load that is switched off gives."""
    return f"{c_type(type)}()"


def literal(value, type: Type) -> str:
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
        return f'({c_type(type)})__builtin_nan("")'
    if math.isinf(value):
        return f"({c_type(type)}){'-' if value < 0 else ''}__builtin_inf()"
    return f"({c_type(type)}){value.hex()}" if math.copysign(1, value) > 0 else f"({c_type(type)})({value.hex()})"

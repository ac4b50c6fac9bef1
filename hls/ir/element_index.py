"""From byte offsets back to element numbers."""

from ..narrow import present
from . import Builder, Value
from .rewrite import constant
from .values import signed

__all__ = ["element_index"]


def element_index(offset: Value, size: int, b: Builder) -> Value:
    """``offset / size`` for an offset in bytes that is a multiple of ``size`` (a power of two).

    Offsets are computed modulo 2**64. Where no wrap occurs, as in every access inside its memory, the factor is removed
    from the terms of the sum instead of being shifted out of the result.
    """
    found = _divide(offset, size, b)
    if found is not None:
        return found
    return b.value("lshr", offset, b.const(size.bit_length() - 1, offset.type)) if size > 1 else offset


def _divide(offset: Value, size: int, b: Builder) -> Value | None:
    number = _signed_constant(offset)
    if size == 1:
        return offset
    if number is not None:
        return b.const(number // size, offset.type) if number % size == 0 else None
    if offset.op is None or len(offset.op.operands) != 2:
        return None
    left, right = offset.op.operands
    factor = _signed_constant(right)
    if offset.op.opcode == "shl" and factor is not None and 0 <= factor < offset.type.bits:
        factor = 1 << factor
    elif offset.op.opcode != "mul":
        factor = None
    if factor is not None and factor % size == 0:
        return left if factor == size else b.value("mul", left, b.const(factor // size, offset.type))
    if offset.op.opcode != "add":
        return None
    terms = [_divide(side, size, b) for side in (left, right)]
    return b.value("add", *map(present, terms)) if None not in terms else None


def _signed_constant(value: Value) -> int | None:
    number = constant(value)
    return None if number is None else signed(number, value.type.bits)

"""Splits values into pieces of a few bytes and reassembles them: wide accesses, unions, ``as_T``. All of it is
wiring."""

from math import gcd

from ..ir import I8, I64, ArrayType, Builder, IntType, Type, Value
from ..narrow import instance
from . import types as ct
from .layout import Leaf

__all__ = ["Chunks"]


class Chunks:
    """Appends these operations to the builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def repacked(
        self, values: tuple[Value, ...], source: tuple[Leaf, ...], target: tuple[Leaf, ...]
    ) -> tuple[Value, ...]:
        """Reinterprets the bytes of scalars laid out as in ``source`` as scalars laid out as in ``target``; a byte in
        no scalar is 0."""
        size = _step(source, target)
        pieces = self._split_all(values, source, size)
        return tuple(self._gathered(pieces, offset, scalar, size) for offset, scalar in target)

    def packed(self, values: tuple[Value, ...], source: tuple[Leaf, ...], wide: ArrayType) -> Value:
        """The scalars as one value of the array type."""
        pieces = self._split_all(values, source, wide.element.bytes)
        elements = [self._element(pieces.get(k * wide.element.bytes), wide.element) for k in range(wide.length)]
        return self.builder.value("array", *elements)

    def unpacked(self, whole: Value, target: tuple[Leaf, ...]) -> tuple[Value, ...]:
        """The scalars of one value of array type."""
        size = instance(whole.type, ArrayType).element.bytes
        wanted = {k for offset, scalar in target for k in range(offset, offset + scalar.size, size)}
        pieces = {k: self._extract(whole, k // size) for k in sorted(wanted)}
        return tuple(self._gathered(pieces, offset, scalar, size) for offset, scalar in target)

    def _split_all(self, values, source, size) -> dict[int, Value]:
        pieces = {}
        for value, (offset, scalar) in zip(values, source, strict=True):
            if ct.container(scalar) != scalar:
                value = self.builder.value(
                    "sext" if scalar.signed else "zext", value, result=ct.ir_type(ct.container(scalar))
                )
            for k, piece in enumerate(self.split(value, size)):
                pieces[offset + k * size] = piece
        return pieces

    def split(self, value: Value, size: int) -> list[Value]:
        """The value as pieces of ``size`` bytes, lowest first."""
        if value.type.bits == 1:
            value = self.builder.value("zext", value, result=I8)
        if value.type.bytes == size:
            return [value]
        whole = self._cast(value, ArrayType(IntType(8 * size), value.type.bytes // size))
        return [self._extract(whole, k) for k in range(instance(whole.type, ArrayType).length)]

    def _gathered(self, pieces: dict[int, Value], offset: int, scalar: ct.CType, size: int) -> Value:
        found = [pieces.get(offset + k) for k in range(0, scalar.size, size)]
        if scalar == ct.BOOL_T:
            byte = self._element(found[0], I8)
            return self.builder.value("ne", byte, self.builder.const(0, I8))
        if ct.container(scalar) != scalar:
            whole = self._gathered(pieces, offset, ct.container(scalar), size)
            return self.builder.value("trunc", whole, result=ct.ir_type(scalar))
        if len(found) == 1:
            return self._element(found[0], ct.ir_type(scalar))
        whole = self.builder.value("array", *(self._element(p, IntType(8 * size)) for p in found))
        return self._cast(whole, ct.ir_type(scalar))

    def _element(self, piece: Value | None, type: Type) -> Value:
        """A piece as a value of the type; 0 if there is none."""
        if piece is None:
            return self.builder.const(0 if isinstance(type, IntType) else 0.0, type)
        return self._cast(piece, type)

    def _cast(self, value: Value, type: Type) -> Value:
        return value if value.type == type else self.builder.value("bitcast", value, result=type)

    def _extract(self, whole: Value, k: int) -> Value:
        return self.builder.value("extract", whole, self.builder.const(k, I64))


def _step(*layouts: tuple[Leaf, ...]) -> int:
    return gcd(8, *(n for leaves in layouts for offset, scalar in leaves for n in (offset, scalar.size)))

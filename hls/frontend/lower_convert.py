"""Conversions of values: between numbers, to vectors, and of bit patterns."""

from ..diag import Span
from ..ir import BOOL, Attr, IntType, Value
from . import tree as tt
from . import types as ct
from .builtins_integer import clamp_to
from .layout import leaves, split_pointer
from .lower_memory import MemoryLowering

__all__ = ["ConvertLowering"]


_ROUNDINGS = {"rte": "even", "rtz": "zero", "rtp": "up", "rtn": "down"}


class ConvertLowering(MemoryLowering):
    """Adds conversions. ``value`` and ``condition`` are defined by a subclass."""

    def _convert(self, e):
        if isinstance(e.type, ct.Void):
            self.value(e.operand)
            return None
        if isinstance(e.type, ct.Vector):
            return self._vector(e)
        if split_pointer(e.type):  # of the same struct
            return self.value(e.operand)
        if e.type == ct.BOOL_T:
            return self.condition(e.operand)
        if isinstance(e.operand.type, ct.Pointer) and isinstance(e.type, ct.Int):
            pointer = self.value(e.operand)
            if isinstance(pointer, tuple):  # a split one, for printf: where its first part is
                pointer = pointer[0]
            return self.converted(e.span, self.emit(e.span, "ptraddr", pointer), ct.ULONG, e.type)
        if isinstance(e.operand, (tt.Compare, tt.Logical)) and isinstance(e.type, ct.Int):
            return self.emit(e.span, "zext", self.condition(e.operand), result=ct.ir_type(e.type))
        return self.converted(e.span, self.value(e.operand), e.operand.type, e.type)

    def _vector(self, e):
        source, target = ct.element_of(e.operand.type), e.type.element
        if not isinstance(e.operand.type, ct.Vector):
            return (self.value(e.operand),) * e.type.length
        return tuple(self.converted(e.span, x, source, target) for x in self.value(e.operand))

    def converted(self, span: Span, x: Value, source: ct.CType, target: ct.CType, rounding: str = "") -> Value:
        """``x`` of the scalar type ``source`` as a ``target`` (which is not bool, unless both are)."""
        wanted = ct.ir_type(target)
        if x.type == wanted:
            return x
        if target == ct.BOOL_T:
            return self.nonzero(span, x, source)
        if isinstance(target, ct.Float) and ct.container(source) != source:
            return self.converted(
                span, self.converted(span, x, source, ct.container(source)), ct.container(source), target, rounding
            )
        if isinstance(source, ct.Float) and ct.container(target) != target:
            return self.converted(
                span, self.converted(span, x, source, ct.container(target), rounding), ct.container(target), target
            )
        opcode = _opcode(source, target)
        floating = isinstance(source, ct.Float) or isinstance(target, ct.Float)
        return self.emit(
            span, opcode, x, result=wanted, attrs={Attr.ROUNDING: rounding} if rounding and floating else {}
        )

    def nonzero(self, span: Span, x: Value, t: ct.CType) -> Value:
        """Whether the number is not 0, as an i1."""
        if x.type == BOOL:
            return x
        return self.emit(span, "fne" if isinstance(t, ct.Float) else "ne", x, self.zero(t, span))

    def truth(self, span: Span, bit: Value, t: ct.CType) -> Value:
        """The result of a comparison as C's number: 1 for true, or all ones in a vector's component."""
        opcode = "sext" if isinstance(t, ct.Vector) else "zext"
        return self.emit(span, opcode, bit, result=ct.ir_type(ct.element_of(t)))

    # -- conversions with explicit rounding or saturation

    def _convertexactly(self, e):
        value = self.value(e.operand)
        source, target = ct.element_of(e.operand.type), ct.element_of(e.type)
        if isinstance(value, tuple):
            return tuple(self._exactly(e, x, source, target) for x in value)
        return self._exactly(e, value, source, target)

    def _exactly(self, e, x: Value, source: ct.CType, target: ct.CType) -> Value:
        # an integer outside the range of a float saturates
        if isinstance(source, ct.Float) or isinstance(target, ct.Float):
            return self.converted(e.span, x, source, target, _ROUNDINGS[e.rounding])
        self.builder.span = e.span
        if x.type == BOOL:
            x, source = self.emit(e.span, "zext", x, result=IntType(8)), ct.UCHAR
        return clamp_to(self.builder, x, source.signed, target)

    # -- bits

    def reinterpreted(
        self, value: Value | tuple[Value, ...], source: ct.CType, target: ct.CType, span: Span
    ) -> Value | tuple[Value, ...]:
        """The bytes of a value reinterpreted as another type; a byte in padding is 0."""
        values = value if isinstance(value, tuple) else (value,)
        found = self.chunks(span).repacked(values, leaves(source), leaves(target))
        return found if ct.aggregate(target) else found[0]


def _opcode(source: ct.CType, target: ct.CType) -> str:
    """The operation that converts between two different number types."""
    if isinstance(target, ct.Float):
        return "fresize" if isinstance(source, ct.Float) else "sitofp" if source.signed else "uitofp"
    if isinstance(source, ct.Float):
        return "fptosi" if target.signed else "fptoui"
    return "trunc" if target.bits < source.bits else "sext" if source.signed else "zext"

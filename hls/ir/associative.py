"""Associative operations, which may be regrouped, and their operands: sums, products, logic, minimum and maximum of
integers; sums of floats where the program allows different rounding."""

from collections.abc import Callable
from dataclasses import dataclass

from . import BOOL, Builder, IntType, Op, Value
from .attributes import Attr
from .types import Type
from .wrapping import SUMS, has_wrapping

__all__ = ["AssociativePair", "Term", "emit", "kind_of", "neutral", "pair_of", "rewrite_as", "terms_of"]

_PLAIN = frozenset({"add", "mul", "and", "or", "xor"})
_FLOAT_SUMS = frozenset({"fadd", "fsub", "fma"})
_ORDERS = {"slt": "s", "sle": "s", "ult": "u", "ule": "u"}


@dataclass(frozen=True)
class AssociativePair:
    """``left`` and ``right`` under an operation: an opcode, or "smin", "smax", "umin", "umax", which consist of a
    comparison and a select."""

    kind: str
    left: Value
    right: Value


@dataclass(frozen=True, eq=False)
class Term:
    """A term of an operation: a value, or its product with ``factor``; ``minus``: it is subtracted."""

    value: Value
    minus: bool = False
    factor: Value | None = None

    @property
    def type(self) -> Type:
        """The type of the value, which is also that of the term."""
        return self.value.type


def kind_of(op: Op, floats: bool = False) -> str | None:
    """The kind of an operation; operations of the same kind may be regrouped. A difference is a sum with one subtracted
    term. With ``floats``, sums of floats and multiply-adds are "fadd", or "fadd flush"."""
    if floats and op.opcode in _FLOAT_SUMS:
        return "fadd flush" if op.attrs.get(Attr.FLUSH_DENORMALS) else "fadd"
    if op.opcode == "sub" and isinstance(op.result.type, IntType):
        return "add"
    pair = pair_of(op)
    return pair.kind if pair is not None else None


def terms_of(op: Op) -> list[Term]:
    """The terms of an operation that has a kind."""
    if op.opcode == "fma":
        x, y, addend = op.operands
        return [Term(x, False, y), Term(addend)]
    if op.opcode in ("sub", "fsub"):
        return [Term(op.operands[0]), Term(op.operands[1], True)]
    pair = pair_of(op)
    return [Term(v) for v in ((pair.left, pair.right) if pair is not None else op.operands)]


def pair_of(op: Op | None) -> AssociativePair | None:
    """The operation as a pair of operands if it may be regrouped; None for all others, and for single bits: they are
    conditions."""
    if op is None or len(op.results) != 1 or not isinstance(op.result.type, IntType) or op.result.type == BOOL:
        return None
    if op.opcode in _PLAIN:
        return AssociativePair(op.opcode, *op.operands)
    return _extreme(op) if op.opcode == "select" else None


def _extreme(op: Op) -> AssociativePair | None:
    """Recognizes ``x < y ? x : y`` and its variants."""
    condition, chosen, other = op.operands
    compare = condition.op
    if compare is None or compare.opcode not in _ORDERS or chosen is other:
        return None
    if compare.operands == [chosen, other]:
        return AssociativePair(f"{_ORDERS[compare.opcode]}min", chosen, other)
    if compare.operands == [other, chosen]:
        return AssociativePair(f"{_ORDERS[compare.opcode]}max", chosen, other)
    return None


def emit(kind: str, left: Value, right: Value, b: Builder) -> Value:
    """Build ``kind`` of two values."""
    if kind in _PLAIN or kind == "sub":
        return b.value(kind, left, right)
    return b.value("select", _compared(kind, left, right, b), left, right)


def rewrite_as(op: Op, kind: str, left: Value, right: Value, b: Builder) -> None:
    """Rewrite ``op`` in place as ``kind`` of two values; additional operations are built before it."""
    attrs = {name: value for name, value in op.attrs.items() if name == Attr.LABEL}
    if kind in SUMS and has_wrapping(op):
        attrs[Attr.WRAPS] = True
    op.attrs = attrs
    if kind in _PLAIN:
        op.opcode, op.operands = kind, [left, right]
    else:
        op.opcode, op.operands = "select", [_compared(kind, left, right, b), left, right]


def _compared(kind: str, left: Value, right: Value, b: Builder) -> Value:
    less = {"s": "slt", "u": "ult"}[kind[0]]
    return b.value(less, left, right) if kind.endswith("min") else b.value(less, right, left)


_NEUTRAL: dict[str, Callable[[int], int]] = {
    "add": lambda bits: 0,
    "or": lambda bits: 0,
    "xor": lambda bits: 0,
    "mul": lambda bits: 1,
    "and": lambda bits: -1,
    "umax": lambda bits: 0,
    "umin": lambda bits: -1,
    "smax": lambda bits: 1 << bits - 1,
    "smin": lambda bits: (1 << bits - 1) - 1,
}


def neutral(kind: str, type: IntType, b: Builder) -> Value:
    """The neutral element of such an operation."""
    return b.const(_NEUTRAL[kind](type.bits), type)

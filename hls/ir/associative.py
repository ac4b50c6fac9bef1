"""Integer operations of which several may be taken in any order, each as a pair of operands: sums, products, logic,
least and greatest."""

from collections.abc import Callable
from dataclasses import dataclass

from . import BOOL, Builder, IntType, Op, Value
from .attributes import Attr

__all__ = ["AssociativePair", "emit", "neutral", "pair_of", "rewrite_as"]

_PLAIN = frozenset({"add", "mul", "and", "or", "xor"})
_ORDERS = {"slt": "s", "sle": "s", "ult": "u", "ule": "u"}


@dataclass(frozen=True)
class AssociativePair:
    """``left`` and ``right`` under an operation: an opcode, or "smin", "smax", "umin", "umax", which are a comparison
    and a choice."""

    kind: str
    left: Value
    right: Value


def pair_of(op: Op | None) -> AssociativePair | None:
    """What the operation is if it may be regrouped; None for all others. Single bits are left alone: they are
    conditions."""
    if op is None or len(op.results) != 1 or not isinstance(op.result.type, IntType) or op.result.type == BOOL:
        return None
    if op.opcode in _PLAIN:
        return AssociativePair(op.opcode, *op.operands)
    return _extreme(op) if op.opcode == "select" else None


def _extreme(op: Op) -> AssociativePair | None:
    """``x < y ? x : y`` and its kin."""
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
    """Make ``op`` be ``kind`` of two values; what it needs beside itself is built before it."""
    op.attrs = {name: value for name, value in op.attrs.items() if name == Attr.LABEL}
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
    """The value that changes nothing in such an operation."""
    return b.const(_NEUTRAL[kind](type.bits), type)

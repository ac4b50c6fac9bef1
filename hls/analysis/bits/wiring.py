"""Integer operations that are pure wiring: each bit of the result is a bit of one operand, its inverse, or constant.

Synthesis optimizes them away. `(x << 7) | (x >> 25)` takes no gate, and neither does `x & 0xFF`.
"""

from typing import NamedTuple

from ...ir import IntType, Op, Value, has
from ...ir.rewrite import constant, literal
from ...ir.values import signed

__all__ = ["Cut", "cut_order", "is_wires", "ordered_bits", "possible_ones"]

#: how many operations to look through
_DEPTH = 8


def possible_ones(value: Value, depth: int = _DEPTH) -> int:
    """A mask of the bits of an integer that may be 1, as far as shifts and masks tell."""
    whole = (1 << value.type.bits) - 1
    number = constant(value)
    if number is not None:
        return number & whole
    op = value.op
    rule = _RULES.get(op.opcode) if op is not None and depth else None
    found = rule(op, depth - 1) if op is not None and rule else None
    return whole if found is None else found & whole


def is_wires(op: Op) -> bool:
    """Whether the operation, on integers of more than a bit, needs no logic: it only selects, inverts, or concatenates
    bits."""
    if len(op.results) != 1 or not isinstance(op.result.type, IntType) or op.result.type.bits == 1:
        return False
    if op.opcode == "select":
        return all(literal(arm) is not None for arm in op.operands[1:])
    if has(op, "bitwise") and any(constant(v) is not None for v in op.operands):
        return True
    return op.opcode in ("or", "xor", "add") and not possible_ones(op.operands[0]) & possible_ones(op.operands[1])


class Cut(NamedTuple):
    """An ordered comparison of the value ``x`` with a constant: whether ``x >> zeros`` is less than ``first``, or,
    unless ``below``, is not. ``edge`` says that ``first`` is next to zero or to the greatest pattern of bits: it is
    enough to look whether those bits are all 0, or all 1, and at the sign."""

    x: Value
    zeros: int
    first: int
    below: bool
    edge: bool


def cut_order(op: Op) -> Cut | None:
    """The comparison without the trailing zeros of the constant: ``x < 48`` is ``x >> 4 < 3``, and ``x < 0`` tests the
    sign. None if there are none, unless the rest is at an ``edge``, as of ``0 < x``."""
    x, y = op.operands
    below, bits = constant(x) is None, x.type.bits
    number = constant(y) if below else constant(x)
    if number is None or not below and constant(y) is not None:
        return None
    is_signed = op.opcode[0] == "s"
    # the first number that is not less
    first = (signed(number, bits) if is_signed else number) + ((op.opcode[2] == "e") == below)
    lowest = -(1 << bits - 1) if is_signed else 0
    if not lowest < first < lowest + (1 << bits):
        return None  # left to constant folding
    zeros = min((first & -first).bit_length() - 1, bits - 1) if first else bits - 1
    rest = first >> zeros
    edge = rest in (1, -1 if is_signed else (1 << bits - zeros) - 1)
    return Cut(x if below else y, zeros, rest, below, edge) if zeros or edge else None


def ordered_bits(op: Op) -> int:
    """The number of upper bits that an ordered comparison depends on."""
    cut = cut_order(op)
    return op.operands[0].type.bits - (cut.zeros if cut else 0)


def _both(op: Op, depth: int) -> int:
    return possible_ones(op.operands[0], depth) & possible_ones(op.operands[1], depth)


def _either(op: Op, depth: int) -> int:
    return possible_ones(op.operands[0], depth) | possible_ones(op.operands[1], depth)


def _sum(op: Op, depth: int) -> int | None:
    one, other = (possible_ones(v, depth) for v in op.operands)
    return None if one & other else one | other


def _chosen(op: Op, depth: int) -> int:
    return possible_ones(op.operands[1], depth) | possible_ones(op.operands[2], depth)


def _left(op: Op, depth: int) -> int | None:
    amount = constant(op.operands[1])
    return None if amount is None else possible_ones(op.operands[0], depth) << min(amount, op.result.type.bits)


def _right(op: Op, depth: int) -> int | None:
    amount = constant(op.operands[1])
    return None if amount is None else possible_ones(op.operands[0], depth) >> amount


def _same(op: Op, depth: int) -> int:
    return possible_ones(op.operands[0], depth)


_RULES = {
    "and": _both,
    "or": _either,
    "xor": _either,
    "add": _sum,
    "select": _chosen,
    "shl": _left,
    "lshr": _right,
    "zext": _same,
    "trunc": _same,
}

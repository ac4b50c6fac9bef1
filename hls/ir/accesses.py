"""Loads and stores: what they move, where, and under which conditions.

A wide access moves an array of integers of whole bytes, its lanes, from neighbouring places: lane k is ``k`` elements behind the
pointer. It has one more operand, an array of i1: lanes for which that is false are neither read (they give 0) nor
written. Where the predicate is false no lane is.
"""

from .nodes import Op, Value
from .optable import OPS
from .types import ArrayType, Type

__all__ = ["fixed_operands", "is_access", "lane_mask", "memory_name", "moved_type", "predicate"]


def is_access(op: Op) -> bool:
    return op.opcode in ("load", "store")


def moved_type(access: Op) -> Type:
    """The type of what is loaded or stored."""
    return (access.result if access.opcode == "load" else access.operands[1]).type


def fixed_operands(access: Op) -> int:
    """How many operands come before the tokens."""
    return OPS[access.opcode].arity + isinstance(moved_type(access), ArrayType)


def predicate(access: Op) -> Value:
    return access.operands[OPS[access.opcode].arity - 1]


def lane_mask(access: Op) -> Value | None:
    """The conditions of a wide access's lanes; None for an access that moves one value."""
    fixed = fixed_operands(access)
    return access.operands[fixed - 1] if fixed > OPS[access.opcode].arity else None


def memory_name(access: Op) -> str:
    """The memory of an access of a flat kernel."""
    return access.operands[0].op.attrs["mem"]

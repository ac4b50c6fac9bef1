"""Loads and stores: what they move, where, and under which conditions.

What moves an array moves it from neighbouring places: element k is ``k`` elements behind the pointer. An access with one more
operand, an array of i1, is one of lanes, integers of whole bytes: lanes for which that is false are neither read (they give
0) nor written. Where the predicate is false no lane is. Its address is a multiple of a lane's size; that of any other
access is a multiple of all of its size.
"""

from .nodes import Op, Value
from .optable import OPS
from .types import ArrayType, Type

__all__ = ["PREDICATES", "fixed_operands", "is_access", "lane_mask", "memory_name", "moved_type", "predicate"]

#: which operand of an operation says whether it takes place at all; others always do
PREDICATES: dict[str, int] = {"load": 1, "store": 2, "loop": 0, "fence": 0, "channel_read": 1, "channel_write": 1}


def is_access(op: Op) -> bool:
    return op.opcode in ("load", "store")


def moved_type(access: Op) -> Type:
    """The type of what is loaded or stored."""
    return (access.result if access.opcode == "load" else access.operands[1]).type


def fixed_operands(access: Op) -> int:
    """How many operands come before the tokens."""
    return OPS[access.opcode].arity + (lane_mask(access) is not None)


def predicate(access: Op) -> Value:
    return access.operands[OPS[access.opcode].arity - 1]


def lane_mask(access: Op) -> Value | None:
    """The conditions of an access's lanes; None for one that takes place as a whole."""
    arity = OPS[access.opcode].arity
    has_mask = len(access.operands) > arity and isinstance(access.operands[arity].type, ArrayType)
    return access.operands[arity] if has_mask else None


def memory_name(access: Op) -> str:
    """The memory of an access of a flat kernel."""
    return access.operands[0].op.attrs["mem"]

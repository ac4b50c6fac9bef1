"""Trees of additions: their users and leaves."""

from collections.abc import Collection, Mapping

from ...ir import Op, Value

__all__ = ["leaves", "only_user"]


def only_user(value: Value, used: Mapping[Value, list[tuple[Op, int]]]) -> Op | None:
    """The only operation that uses the value; None if there are several or none."""
    found = used.get(value, [])
    return found[0][0] if len(found) == 1 else None


def leaves(op: Op, inner: Collection[Op]) -> list[Value]:
    """The operands of the tree of additions below ``op``, in order; ``inner`` are the additions that belong to
    trees."""
    return [leaf for v in op.operands for leaf in (leaves(v.defining_op, inner) if v.op in inner else [v])]

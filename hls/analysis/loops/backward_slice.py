"""Backward slices inside a region."""

from collections.abc import Iterable, Sequence

from ...ir import Op, Region, Value, has, walk

__all__ = ["backward_slice", "pure_slice"]


def backward_slice(values: Iterable[Value], ops: Sequence[Op]) -> list[Op]:
    """Those of the operations, in order, that compute the values, whatever effects they have."""
    needed, found = set(values), []
    for op in reversed(ops):
        if needed.intersection(op.results):
            found.append(op)
            needed.update(v for one in walk(Region(ops=[op])) for v in one.operands)
    return found[::-1]


def pure_slice(values: Iterable[Value], ops: Sequence[Op]) -> list[Op] | None:
    """The backward slice: those of the operations, in order, that compute the values; None if one is not pure."""
    needed, found = set(values), []
    for op in reversed(ops):
        if needed.intersection(op.results):
            if not has(op, "pure"):
                return None
            found.append(op)
            needed.update(op.operands)
    return found[::-1]

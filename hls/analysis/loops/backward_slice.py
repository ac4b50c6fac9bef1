"""What computes values: backward slices inside a region."""

from collections.abc import Iterable, Sequence

from ...ir import Op, Value, has

__all__ = ["pure_slice"]


def pure_slice(values: Iterable[Value], ops: Sequence[Op]) -> list[Op] | None:
    """Those of the operations, in order, that compute the values; None where one of them is not pure."""
    needed, found = set(values), []
    for op in reversed(ops):
        if needed.intersection(op.results):
            if not has(op, "pure"):
                return None
            found.append(op)
            needed.update(op.operands)
    return found[::-1]

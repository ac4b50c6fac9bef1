"""Changes of a loop's body that a recurrence is tried with."""

from collections.abc import Callable

from ...analysis.timing import Recurrence
from ...ir import Op

__all__ = ["insert_before", "snapshot"]


def snapshot(one: Recurrence) -> Callable[[], None]:
    """What brings the body back to where it is now, as long as nothing but its operations, and what these are,
    changes."""
    ops, values = list(one.body.ops), set(one.values)
    were = [(op, op.opcode, list(op.operands), op.attrs) for op in ops]

    def restore() -> None:
        one.body.ops, one.values = ops, values
        for op, opcode, operands, attrs in were:
            op.opcode, op.operands, op.attrs = opcode, operands, attrs

    return restore


def insert_before(one: Recurrence, before: Op, added: list[Op]) -> None:
    """Put operations before one of the body."""
    place = one.body.ops.index(before)
    one.body.ops[place:place] = added

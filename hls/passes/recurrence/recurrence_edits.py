"""Edits of a loop's body for trial transformations of a recurrence."""

from collections.abc import Callable

from ...analysis.timing import Recurrence
from ...ir import Op

__all__ = ["insert_before", "snapshot"]


def snapshot(one: Recurrence) -> Callable[[], None]:
    """A function that restores the body as it is now, provided that only its operations, and their opcodes and
    operands, change."""
    ops, values = list(one.body.ops), set(one.values)
    were = [(op, op.opcode, list(op.operands), op.attrs) for op in ops]

    def restore() -> None:
        one.body.ops, one.values = ops, values
        for op, opcode, operands, attrs in were:
            op.opcode, op.operands, op.attrs = opcode, operands, attrs

    return restore


def insert_before(one: Recurrence, before: Op, added: list[Op]) -> None:
    """Insert operations before one of the body."""
    place = one.body.ops.index(before)
    one.body.ops[place:place] = added

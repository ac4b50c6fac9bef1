"""What the replay does not have: it says so by name and place, and guesses nothing."""

from ...diag import Span
from ...ir import Op

__all__ = ["NotReplayed", "refuse"]


class NotReplayed(Exception):
    """A kernel that the replay does not cover: ``what`` it has, at ``span``."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(what)
        self.what, self.span = what, span


def refuse(op: Op) -> NotReplayed:
    """The error for an operation that the machine does not have."""
    return NotReplayed(f"a {op.opcode}", op.span)

"""What the replay does not have: it says so by name and place, and guesses nothing."""

from ...analysis.channels.endpoints import answers_at_once, is_call
from ...diag import Span
from ...ir import Attr, Op, walk
from ...ir.launch import PER_UNIT
from ..estimate import Planned

__all__ = ["NotReplayed", "check_kernel", "refuse"]


class NotReplayed(Exception):
    """A kernel that the replay does not cover: ``what`` it has, at ``span``."""

    def __init__(self, what: str, span: Span | None) -> None:
        super().__init__(what)
        self.what, self.span = what, span


def check_kernel(planned: Planned) -> None:
    """Raises NotReplayed for what concerns a whole kernel."""
    if any(name.startswith(PER_UNIT) for name in planned.function.attrs.get(Attr.LAUNCH_ARGS, ())):
        raise NotReplayed("calls of get_compute_id: what it does depends on the cycle", planned.function.span)
    for op in walk(planned.function.body):
        if op.opcode == "rtl_wait":
            what = f"module {op.attrs[Attr.RTL_MODULE]} of an RTL library waits: when it answers is known to it alone"
            raise NotReplayed(what, op.span)
        if is_call(op):
            _check_call(op)


def _check_call(op: Op) -> None:
    """Raises NotReplayed for a call that depends on when it is made, or leads out of the program."""
    what = "a read of" if op.opcode == "channel_read" else "a write to"
    if answers_at_once(op) or not op.attrs[Attr.BLOCKING]:
        raise NotReplayed(f"{what} a channel that does not block: what it does depends on the cycle", op.span)


def refuse(op: Op) -> NotReplayed:
    """The error for an operation that the machine does not have."""
    return NotReplayed(f"a {op.opcode}", op.span)

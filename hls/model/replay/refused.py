"""What the replay does not have: it says so by name and place, and guesses nothing."""

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


def refuse(op: Op) -> NotReplayed:
    """The error for an operation that the machine does not have."""
    return NotReplayed(f"a {op.opcode}", op.span)

"""Channel endpoints: which channels a kernel reads and writes, and where."""

from dataclasses import dataclass

from ...ir import Attr, Function, Op, TokenType, fixed_operands, has, walk
from ...ir.rewrite import constant

__all__ = ["Endpoint", "answers_at_once", "channel_ends", "end_of", "is_call", "passes_values"]


@dataclass(frozen=True, order=True)
class Endpoint:
    """One end of one channel; ``index`` selects from an array of channels."""

    channel: str
    index: int
    writes: bool

    def text(self, length: int | None) -> str:
        """The channel as the source names it, in an array of ``length``."""
        return self.channel if (length or 1) == 1 else f"{self.channel}[{self.index}]"


def is_call(op: Op) -> bool:
    """Whether the operation reads or writes a channel."""
    return has(op, "channel")


def answers_at_once(op: Op) -> bool:
    """Whether a call executes in the one cycle in which its token passes a stage: it does not wait, and has no order
    with other calls."""
    return (
        op.attrs.get(Attr.AT_ONCE, False)
        and len(op.operands) == fixed_operands(op)
        and not any(isinstance(r.type, TokenType) for r in op.results)
    )


def passes_values(op: Op) -> bool:
    """Whether the operation is a channel call, or a loop that contains one."""
    return is_call(op) or any(passes_values(inner) for region in op.regions for inner in region.ops)


def end_of(call: Op) -> Endpoint:
    """The channel end that a call uses. Pass :mod:`hls.passes.order.expand_channel_indices` has made every index a
    constant."""
    index = constant(call.operands[0])
    assert index is not None, "the channel of this call is only known at run time"
    return Endpoint(call.attrs[Attr.CHANNEL], index, call.opcode == "channel_write")


def channel_ends(function: Function) -> dict[Endpoint, list[Op]]:
    """The calls of a flat kernel on each channel end, in program order."""
    ends: dict[Endpoint, list[Op]] = {}
    for op in walk(function.body):
        if is_call(op):
            ends.setdefault(end_of(op), []).append(op)
    return ends

"""The loops that the program marks with ``feed_forward``: their loads are to run ahead."""

from ...diag import Code, CompileError
from ...ir import Attr, Function, Op, walk

__all__ = ["check_kept", "marked_loops"]


def marked_loops(function: Function) -> list[Op]:
    """These loops of a function, in its order."""
    return [op for op in walk(function.body) if op.opcode == "loop" and Attr.FEED_FORWARD in op.attrs]


def check_kept(before: Function, after: Function) -> None:
    """Raises CompileError for a marked loop of a kernel of which the passes have left neither a loop, nor one that was
    merged with it."""
    marked, left = ({op.span: op for op in marked_loops(one)} for one in (before, after))
    lost = [op for span, op in marked.items() if span not in left]
    if lost and not left.keys() - marked.keys():
        loop = lost[0]
        what = f"the loop over {loop.attrs[Attr.LABEL]}" if loop.attrs.get(Attr.LABEL) else "the loop"
        raise CompileError.at(
            loop.span,
            f"the loads of {what} cannot run ahead: it is no loop any more, as it runs once at most, is unrolled, or "
            "computes nothing that is needed",
            "remove `#pragma feed_forward`, or write it before a loop around this one",
            code=Code.CANNOT_DECOUPLE,
        )

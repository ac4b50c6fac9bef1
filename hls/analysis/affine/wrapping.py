"""Values that wrap around where the source says so: they are computed as unsigned numbers."""

from ...ir import Value
from ...ir.wrapping import SUMS, still_wraps
from ..loops.loop_tree import Loop, LoopTree

__all__ = ["WrappingValues"]

#: operations whose result is a sum, or one of their operands
_THROUGH = SUMS | {"trunc", "select"}


class WrappingValues:
    """Which values of a function are sums that the source computes as unsigned, whatever they are converted to.

    Other sums of 32 bits or more, read as signed, do not wrap (C11 6.5 p5). For
    conversions to fewer bits see :func:`~hls.ir.wrapping.still_wraps`.
    """

    def __init__(self, tree: LoopTree) -> None:
        self._tree = tree
        self._known: dict[Value, bool] = {}

    def may_wrap(self, value: Value) -> bool:
        """Whether a value may differ from the sum of its terms by a multiple of two to the power of its bits."""
        if value not in self._known:
            self._known[value] = self._find(value, value.type.bits)
        return self._known[value]

    def _find(self, value: Value, bits: int) -> bool:
        work, seen = [value], {value}
        while work:
            one = work.pop()
            op = one.op
            if op is None:
                more = self._of_carried(one)
            elif op.opcode in _THROUGH:
                if still_wraps(op, bits):
                    return True
                more = op.operands
            else:
                continue
            work += [v for v in more if v not in seen]
            seen.update(more)
        return False

    def _of_carried(self, arg: Value) -> list[Value]:
        """The first and the following values of a carried value."""
        loop: Loop | None = self._tree.holder(arg)
        if loop is None or arg.owner is not loop.body:
            return []
        return [loop.op.operands[1 + arg.index], loop.following(arg)]

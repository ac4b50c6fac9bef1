"""Wrap-around select merging: a conditional wrap-around counter takes one select instead of two."""

from dataclasses import dataclass

from ...ir import BOOL, Builder, Function, Op, Value
from ...ir.clone import clone_function
from ...ir.rewrite import constant, rewrite
from ..manager import Form, FunctionPass

__all__ = ["MergeWrapAroundSelects"]


@dataclass(frozen=True)
class MergeWrapAroundSelects(FunctionPass):
    """Wrap-around select merging. Before: flat. After: ``turns ? (end ? 0 : x + 1) : x`` is ``turns and end ? 0 : x +
    turns``, which is one select less on the recurrence. (Heads of delay lines that are shifted conditionally have this
    form.)"""

    name = "merge-wrap-around-selects"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which each pair of selects of this form is one."""
        result = clone_function(function)
        rewrite(result.body, _visit)
        return result


def _visit(op: Op, b: Builder) -> list[Value] | None:
    if op.opcode != "select":
        return None
    turns, moved, x = op.operands
    inner = moved.op
    if inner is None or inner.opcode != "select" or constant(inner.operands[1]) != 0 or x.type == BOOL:
        return None
    end, start, following = inner.operands
    step = following.op
    if step is None or step.opcode != "add" or step.operands[0] is not x or constant(step.operands[1]) != 1:
        return None
    by = b.value("zext", turns, result=x.type)
    return [b.value("select", b.value("and", turns, end), start, b.value("add", x, by), name=op.result.name)]

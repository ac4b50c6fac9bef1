"""Select sinking (-fp-relaxed): a select between a sum and one of its terms becomes that term plus a guarded rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from ...ir import Builder, FloatType, Function, Op, Region, Value, uses, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .addition_trees import leaves as leaves_of
from .addition_trees import only_user
from .flush_denormals import flush_of
from .partial_sums import NOTHING

__all__ = ["SinkSelectIntoAddend"]


@dataclass(frozen=True)
class SinkSelectIntoAddend(FunctionPass):
    """Select sinking below a float addition. Before: selects between a sum and one of its terms, as left by conditional
    additions and by guards of unrolled copies. After: that term plus a guarded rest,
    ``c ? s + x + y : s`` being ``s + (c ? x + y : -0.0)``, so that the recurrence on ``s`` is one addition.
    """

    name = "sink-select-into-addend"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which selects of floats are below the additions, in every region."""
        result = clone_function(function)
        for region in [result.body, *(inner for op in walk(result.body) for inner in op.regions)]:
            for op in [op for op in region.ops if op.opcode == "select" and isinstance(op.result.type, FloatType)]:
                self._visit(region, op, uses(result.body))
        return result

    def _visit(self, region: Region, op: Op, used: Mapping[Value, list[tuple[Op, int]]]) -> None:
        condition, total, otherwise = op.operands
        root = total.op
        if root is None or root.opcode != "fadd" or only_user(total, used) is not op:
            return
        inner = {each for each in region.ops if each.opcode == "fadd" and _within(each, root, used)}
        leaves = leaves_of(root, inner)
        if otherwise not in leaves:
            return
        leaves.remove(otherwise)
        built = Region()
        b = Builder(built, root.span)
        rest = reduce(lambda x, y: b.value("fadd", x, y, attrs=flush_of(root)), leaves)
        guarded = b.value("select", condition, rest, b.const(NOTHING, rest.type))
        place = region.ops.index(op)
        region.ops[place:place] = built.ops
        op.opcode, op.operands, op.attrs = "fadd", [otherwise, guarded], {**op.attrs, **flush_of(root)}
        for dead in {root, *inner}:  # dead, but would still count as users of their operands
            region.ops.remove(dead)


def _within(op: Op, root: Op, used: Mapping[Value, list[tuple[Op, int]]]) -> bool:
    """Whether the sum is used inside ``root`` only."""
    while op is not root:
        user = only_user(op.result, used)
        if user is None or user.opcode != "fadd":
            return False
        op = user
    return op is root

"""Common subexpression elimination."""

from dataclasses import dataclass
from typing import Any

from ...ir import OPS, Attr, Function, Op, Region, Value
from ...ir.clone import clone_function
from ..manager import FunctionPass

__all__ = ["CommonSubexpressionElimination"]

_PURE = frozenset(name for name, row in OPS.items() if "pure" in row.traits)
_COMMUTATIVE = frozenset(name for name, row in OPS.items() if "commutative" in row.traits)


@dataclass(frozen=True)
class CommonSubexpressionElimination(FunctionPass):
    """Common subexpression elimination, scoped by dominance (LLVM: EarlyCSE). Before: any IR in SSA form. After: no two
    equal pure operations of which the first dominates the second. Loads are left alone."""

    name = "common-subexpression-elimination"

    def run(self, function: Function) -> Function:
        """A copy in which repeated operations take the first result; the function itself if nothing repeats."""
        if not _repeats(function.body, set()):
            return function
        result = clone_function(function)
        _region(result.body, {}, {})
        return result


def _repeats(region: Region, visible: set[Any]) -> bool:
    """Whether some expression of the region, or of one inside it, equals one before it. ``visible`` are those before
    the region, and again when it is left without any found."""
    added = []
    for op in region.ops:
        for inner in op.regions:
            if _repeats(inner, visible):
                return True
        if op.opcode in _PURE:
            key = _key(op)
            if key in visible:
                return True
            visible.add(key)
            added.append(key)
    visible.difference_update(added)
    return False


def _region(region: Region, visible: dict[Any, Any], replaced: dict[Value, Value]) -> None:
    """``visible`` maps expressions to the value that holds their result."""
    visible, kept, known = dict(visible), [], replaced.get
    for op in region.ops:
        op.operands = list(map(known, op.operands, op.operands))
        for inner in op.regions:
            _region(inner, visible, replaced)
        key = _key(op) if op.opcode in _PURE else None
        if key is not None and key in visible:
            replaced[op.result] = visible[key]
            if Attr.WRAPS in op.attrs:
                visible[key].defining_op.attrs[Attr.WRAPS] = True
            visible[key].name = visible[key].name or op.result.name
            continue
        if key is not None:
            visible[key] = op.result
        kept.append(op)
    region.ops = kept


def _key(op: Op) -> tuple[Any, ...]:
    operands = list(map(id, op.operands))
    if op.opcode in _COMMUTATIVE:
        operands.sort()
    if not op.attrs:
        return op.opcode, op.results[0].type, tuple(operands)
    # repr tells -0.0 from 0.0 and finds nan equal to itself
    attrs = [(name, repr(value)) for name, value in op.attrs.items() if name != Attr.WRAPS]
    return op.opcode, op.results[0].type, tuple(operands), *(sorted(attrs) if len(attrs) > 1 else attrs)

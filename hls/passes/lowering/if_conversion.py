"""Conditionals become predicates and selects."""

from dataclasses import dataclass

from ...ir import Builder, Function, Op, Region, Value
from ...ir.accesses import PREDICATES
from ...ir.clone import clone_function
from ...ir.rewrite import constant, inline_region
from ..manager import Form, FunctionPass

__all__ = ["IfConversion", "flatten"]


#: which operand says whether the operation takes place
_PREDICATE = {"load": 1, "store": 2, "atomic": 1, "barrier": 0, "loop": 0}


@dataclass(frozen=True)
class IfConversion(FunctionPass):
    """Before: `if` with regions. After: none; loops are the only control flow.

    Accesses of memories and channels and barriers take the condition into their predicate, loops into their enable. Everything else runs always: a
    pure operation has a result for all operands, and what a branch not taken computes is not selected.
    """

    name = "if-conversion"
    requires = frozenset({Form.ARRAYS_LOWERED})
    provides = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        flatten(result.body)
        return result


def flatten(region: Region, values: dict[Value, Value] | None = None) -> None:
    """Remove every `if` of the region and of those inside, in place; ``values`` are results replaced before it."""
    values = {} if values is None else values
    before, region.ops = region.ops, []
    for op in before:
        op.operands = [values.get(v, v) for v in op.operands]
        for inner in op.regions:
            flatten(inner, values)
        if op.opcode == "if":
            values.update(zip(op.results, _flat_if(op, Builder(region, op.span))))
        else:
            region.ops.append(op)


def _flat_if(op: Op, b: Builder) -> list[Value]:
    """Put both branches, already flat, where the builder stands; returns the results."""
    then, otherwise = op.regions
    condition = op.operands[0]
    _guard(then, condition)
    first = inline_region(then, b)
    if any(inner.opcode in PREDICATES for inner in otherwise.ops):
        _guard(otherwise, b.value("xor", condition, b.true()))
    second = inline_region(otherwise, b)
    return [x if x is y else b.value("select", condition, x, y, name=result.name)
            for x, y, result in zip(first, second, op.results)]


def _guard(region: Region, condition: Value):
    """Let the accesses and loops of a flat region happen only under the condition."""
    before, region.ops = region.ops, []
    guards: dict[Value, Value] = {}
    inside = Builder(region)
    for op in before:
        place = PREDICATES.get(op.opcode)
        if place is not None:
            if op.opcode == "barrier" and not op.operands:
                op.operands = [inside.true()]
            own = op.operands[place]
            if own not in guards:
                guards[own] = condition if constant(own) == 1 else inside.value("and", condition, own)
            op.operands[place] = guards[own]
        region.ops.append(op)

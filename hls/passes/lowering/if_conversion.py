"""Conditionals become predicates and selects."""

from dataclasses import dataclass

from ...diag import Span
from ...ir import Builder, Function, Op, Region, Value
from ...ir.accesses import PREDICATES
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ..manager import Form, FunctionPass

__all__ = ["IfConversion", "flatten"]


@dataclass(frozen=True)
class IfConversion(FunctionPass):
    """Before: `if` with regions. After: none; loops are the only control flow.

    Accesses of memories and channels and barriers take the condition into their predicate, loops into their enable.
    Everything else runs always: a pure operation has a result for all operands, and what a branch not taken computes is
    not selected.
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
    before, region.ops = region.ops, []
    _flat(before, Builder(region), {} if values is None else values, None)


@dataclass
class _Path:
    """The way to one side of an `if`: its condition and those around. It is computed where it is needed first, and
    once: a branch in so many others costs one operation more, not one for each."""

    outer: "_Path | None"
    condition: Value
    side: bool
    span: Span | None
    found: Value | None = None

    def value(self, b: Builder) -> Value:
        if self.found is None:
            around = self.outer.value(b) if self.outer is not None else None
            b.span = self.span
            own = self.condition if self.side else b.value("xor", self.condition, b.true())
            b.span = None  # of no place: messages look for that of a condition in it
            self.found = own if around is None else b.value("and", around, own)
        return self.found


def _flat(ops: list[Op], b: Builder, values: dict[Value, Value], path: _Path | None):
    """Put the operations where the builder stands, without any `if`, on the way that is ``path``."""
    guards: dict[Value, Value] = {}
    for op in ops:
        b.span = op.span
        op.operands = [values.get(v, v) for v in op.operands]
        if op.opcode == "if":
            values.update(zip(op.results, _flat_if(op, b, values, path)))
            continue
        for inner in op.regions:
            flatten(inner, values)
        if path is not None:
            _guard(op, b, path, guards)
        b.region.ops.append(op)


def _flat_if(op: Op, b: Builder, values: dict[Value, Value], path: _Path | None) -> list[Value]:
    """Both branches, one behind the other; returns the results."""
    condition, ends = op.operands[0], []
    for k, region in enumerate(op.regions):
        *inner, end = region.ops
        _flat(inner, b, values, _Path(path, condition, k == 0, op.span))
        ends.append([values.get(v, v) for v in end.operands])
    b.span = op.span
    return [
        x if x is y else b.value("select", condition, x, y, name=result.name) for x, y, result in zip(*ends, op.results)
    ]


def _guard(op: Op, b: Builder, path: _Path, guards: dict[Value, Value]):
    """Let an access or loop happen only on the way; ``guards`` are predicates by those that they were."""
    place = PREDICATES.get(op.opcode)
    if place is None:
        return
    if op.opcode == "barrier" and not op.operands:
        op.operands = [b.true()]
    own = op.operands[place]
    if own not in guards:
        way, b.span = path.value(b), None
        guards[own] = way if constant(own) == 1 else b.value("and", way, own)
    op.operands[place] = guards[own]

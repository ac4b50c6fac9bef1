"""If-conversion: conditionals become predicates and selects."""

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
    """If-conversion (Allen, Kennedy et al. 1983). Before: `if` with regions. After: none; loops are the only control
    flow.

    Memory accesses, channel calls and barriers take the condition into their predicate, loops into their enable.
    Everything else always executes: a pure operation is defined for all operands, and the results of a branch not taken
    are not selected.
    """

    name = "if-conversion"
    requires = frozenset({Form.ARRAYS_LOWERED})
    provides = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which every `if` is replaced by the operations of its branches, with predicates and selects."""
        result = clone_function(function)
        flatten(result.body)
        return result


def flatten(region: Region, values: dict[Value, Value] | None = None) -> None:
    """Remove every `if` of the region and of nested regions, in place; ``values`` maps results replaced so far."""
    before, region.ops = region.ops, []
    _flat(before, Builder(region), {} if values is None else values, None)


@dataclass
class _Path:
    """The path condition of one branch of an `if`: its condition and those around it. It is built at the first use, and
    only once: a branch nested in many others costs one operation more, not one for each."""

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
            b.span = None  # no span: messages look for that of a condition in it
            self.found = own if around is None else b.value("and", around, own)
        return self.found


def _flat(ops: list[Op], b: Builder, values: dict[Value, Value], path: _Path | None) -> None:
    """Append the operations to the builder's region, without any `if`, under the path condition ``path``."""
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
    """Both branches in sequence; returns the results."""
    condition, ends = op.operands[0], []
    for k, region in enumerate(op.regions):
        *inner, end = region.ops
        _flat(inner, b, values, _Path(path, condition, k == 0, op.span))
        ends.append([values.get(v, v) for v in end.operands])
    b.span = op.span
    return [
        x if x is y else b.value("select", condition, x, y, name=result.name) for x, y, result in zip(*ends, op.results)
    ]


def _guard(op: Op, b: Builder, path: _Path, guards: dict[Value, Value]) -> None:
    """Predicate an access or loop with the path condition; ``guards`` maps original predicates to guarded ones."""
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

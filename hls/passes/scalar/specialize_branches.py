"""In a branch, what other branches that exclude it have made of a value does not count."""

from dataclasses import dataclass, field

from ...analysis.predicates.value_sets import ValueSet, ValueSets, both
from ...ir import Function, Op, Region, Value
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["SpecializeBranches"]


@dataclass(frozen=True)
class SpecializeBranches(FunctionPass):
    """Before: `if` with regions. After: an operation in a branch takes no result of an `if` before it whose condition
    that of the branch decides: it takes what that `if` yields then, where this is a value from before it.

    The sections of a `switch` stand one behind the other, each under a condition. What one has set, the next ones would
    only seem to need, and where a loop carries it, all of them would be one chain from iteration to iteration.
    """

    name = "specialize-branches"
    requires = frozenset({Form.ARRAYS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        _Branch(ValueSets(), {}, {}).run(result.body)
        return result


@dataclass
class _Branch:
    """A region, what is known about values there, and what all regions looked at so far compute."""

    cases: ValueSets
    facts: dict[Value, ValueSet]
    inside: dict[Region, frozenset[Op]]
    found: dict[Value, Value] = field(default_factory=dict)

    def run(self, region: Region):
        for op in region.ops:
            op.operands = [self._value(v) for v in op.operands]
            if op.opcode == "if":
                self._if(op)
            else:
                for inner in op.regions:
                    self.run(inner)

    def _if(self, op: Op):
        """Both branches. What both yield alike they go on to yield alike: it needs no choice."""
        ends = [inner.terminator for inner in op.regions]
        alike = [one is other for one, other in zip(*(end.operands for end in ends))]
        for k, (inner, end) in enumerate(zip(op.regions, ends)):
            before = end.operands
            branch = _Branch(self.cases, both(self.facts, self.cases.of(op.operands[0], k == 0)), self.inside)
            branch.run(inner)
            end.operands = [old if same else new for old, new, same in zip(before, end.operands, alike)]

    def _value(self, value: Value) -> Value:
        if self.facts and value not in self.found:
            now, before = value, None
            while now is not before:
                now, before = self._sooner(now), now
            self.found[value] = now
        return self.found.get(value, value)

    def _sooner(self, value: Value) -> Value:
        """What a choice before this branch comes to, or the value itself."""
        op = value.op
        truth = (
            self.cases.decided(op.operands[0], self.facts) if op is not None and op.opcode in ("if", "select") else None
        )
        if truth is None:
            return value
        if op.opcode == "select":
            return op.operands[1 if truth else 2]
        taken = op.regions[0 if truth else 1]
        choice = taken.terminator.operands[value.index]
        return value if choice.op in self._ops(taken) else choice

    def _ops(self, region: Region) -> frozenset[Op]:
        if region not in self.inside:
            self.inside[region] = frozenset(region.ops)
        return self.inside[region]

"""What a loop carries is chosen so that what is computed last passes one choice only."""

from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.timing import START, Arrival, TimingModel
from ...ir import Builder, Function, Op, Value, has, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .mux_trees import MuxLeaf, choose_last, leaves_of

__all__ = ["RestructureMuxes"]

#: choices looked at together
_MOST_LEAVES = 8


@dataclass(frozen=True)
class RestructureMuxes(FunctionPass):
    """Before: flat. After: where a value carried to the next iteration comes out of choices one after the other, too
    late for one cycle, the operand that is there last is chosen in the last of them, under a condition that says the
    same.

    The counters of loops that became one step under the conditions of all loops inside them; this makes such a step as
    short as that of a single counter.
    """

    timing: TimingModel
    name = "restructure-muxes"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        for op in walk(result.body):
            if op.opcode == "loop":
                _Loop(op, self.timing).run()
        return result


class _Loop:
    """Times are asked twice: with all that is computed from what the loop carries, and with that part alone which comes
    back to the value itself, as the rest may be computed cycles before."""

    def __init__(self, loop: Op, timing: TimingModel):
        (self.body,), self.timing = loop.regions, timing
        self.inside = set(self.body.ops)
        self.component = components(self.body)
        self.scope: int | None = None
        self.fresh: set[Value] = set()
        self.times: dict[Value, Arrival] = {}

    def run(self):
        end = self.body.ops.pop()
        b = Builder(self.body)
        for k, value in enumerate(end.operands[1:]):
            for scope in dict.fromkeys((None, self.component.get(value))):
                if scope != self.scope:
                    self.scope, self.times = scope, {}
                if self._time(end.operands[1 + k]).cycle > 0:
                    end.operands[1 + k] = self._sooner(end.operands[1 + k], b)
        self.body.ops.append(end)

    def _sooner(self, value: Value, b: Builder) -> Value:
        """The value with another leaf chosen last, where that is sooner: any that several conditions decide about."""
        leaves = leaves_of(value, self.inside)
        if not 3 <= len(leaves) <= _MOST_LEAVES:
            return value
        b.span, best = value.op.span, value
        for leaf in leaves:
            if len(leaf.conditions) > 1 and sum(each.value is leaf.value for each in leaves) == 1:
                best = self._better(best, value, leaf, b)
        return best

    def _better(self, best: Value, value: Value, leaf: MuxLeaf, b: Builder) -> Value:
        count = len(self.body.ops)
        found = b.value("select", *choose_last(value.op, leaf, b, _inverted), name=value.name)
        self.inside.update(self.body.ops[count:])
        self.fresh.update(op.result for op in self.body.ops[count:] if op.results)
        if self._time(found) < self._time(best):
            return found
        del self.body.ops[count:]
        return best

    # --- when values are there, from the registers of the iteration on

    def _time(self, value: Value) -> Arrival:
        work = [value]
        while work:
            top = work[-1]
            missing = [v for v in self._needs(top) if v not in self.times]
            if missing:
                work += missing
                continue
            self.times.setdefault(top, self._find_time(top))
            work.pop()
        return self.times[value]

    def _needs(self, value: Value) -> list[Value]:
        """Operands, where they and the result are in one cycle."""
        op = value.op
        if op is None or not has(op, "logic") or op not in self.inside or self._is_beside(value):
            return []
        return op.operands

    def _is_beside(self, value: Value) -> bool:
        """Whether it is no part of what the question is about. (What is put together anew is, and has no component
        yet.)"""
        return (
            self.scope is not None
            and self.component.get(value, self.scope if value in self.fresh else None) != self.scope
        )

    def _find_time(self, value: Value) -> Arrival:
        if self._is_beside(value):
            return START
        if value.owner is self.body:
            return self.timing.register()
        latest = max((self.times[v] for v in self._needs(value)), default=START)
        # else it is the same in every iteration, or begins at a register
        return self.timing.after(value.op, latest) if latest > START else START


def _inverted(condition: Value, b: Builder) -> Value:
    return b.value("xor", condition, b.true())

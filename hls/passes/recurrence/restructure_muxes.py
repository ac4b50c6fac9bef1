"""Timing-driven mux restructuring: the latest operand of a carried value's select tree passes one select only."""

from dataclasses import dataclass
from itertools import islice

from ...analysis.loops.sccs import components
from ...analysis.timing import START, Arrival, TimingModel
from ...ir import Builder, Function, Op, Value, has, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .mux_trees import MuxLeaf, choose_last, leaves_of

__all__ = ["RestructureMuxes"]

#: most leaves of a tree
_MOST_LEAVES = 8


@dataclass(frozen=True)
class RestructureMuxes(FunctionPass):
    """Timing-driven mux restructuring (generalized bypass). Before: flat, with memory tokens. After: if the next value
    of a carried value is computed by successive selects, too late for one cycle, the latest operand is selected in the
    last one, under an equivalent condition.

    The counters of coalesced loops step under the conditions of all loops inside them; this makes such a step as short
    as that of a single counter.
    """

    timing: TimingModel
    name = "restructure-muxes"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which late operands are selected last, by ``timing``."""
        result = clone_function(function)
        for op in walk(result.body):
            if op.opcode == "loop":
                _Loop(op, self.timing).run()
        return result


class _Loop:
    """Arrivals are computed twice: over everything that depends on carried values, and over the recurrence of the value
    alone, as the rest may be computed in earlier cycles."""

    def __init__(self, loop: Op, timing: TimingModel) -> None:
        (self.body,), self.timing = loop.regions, timing
        self.inside = set(self.body.ops)
        self.component = components(self.body)
        self.scope: int | None = None
        self.fresh: set[Value] = set()
        self.times: dict[Value, Arrival] = {}

    def run(self) -> None:
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
        """The value with another leaf selected last, if it arrives sooner: any leaf under several conditions."""
        leaves = list(islice(leaves_of(value, self.inside), _MOST_LEAVES + 1))
        if not 3 <= len(leaves) <= _MOST_LEAVES:
            return value
        b.span, best = value.defining_op.span, value
        for leaf in leaves:
            if len(leaf.conditions) > 1 and sum(each.value is leaf.value for each in leaves) == 1:
                best = self._better(best, value, leaf, b, False)
                best = self._better(best, value, leaf, b, True)
        return best

    def _better(self, best: Value, value: Value, leaf: MuxLeaf, b: Builder, merge: bool) -> Value:
        count = len(self.body.ops)
        found = b.value("select", *choose_last(value.defining_op, leaf, b, _inverted, merge), name=value.name)
        self.inside.update(self.body.ops[count:])
        self.fresh.update(op.result for op in self.body.ops[count:] if op.results)
        if self._time(found) < self._time(best):
            return found
        del self.body.ops[count:]
        return best

    # --- arrival times, from the registers of the iteration

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
        """The operands of an operation that is computed in the same cycle."""
        op = value.op
        if op is None or not has(op, "logic") or op not in self.inside or self._is_beside(value):
            return []
        return op.operands

    def _is_beside(self, value: Value) -> bool:
        """Whether the value is off the recurrence in question. (Rebuilt values are on it, though not in a component
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
        # else it is loop-invariant, or starts at a register
        return self.timing.after(value.defining_op, latest) if latest > START else START


def _inverted(condition: Value, b: Builder) -> Value:
    return b.value("xor", condition, b.true())

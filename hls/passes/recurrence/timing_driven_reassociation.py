"""Where values of a loop depend on each other over several iterations, a sum takes what is there early first, and what
comes last at its end."""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...analysis.bits.wiring import is_wires
from ...analysis.loops.sccs import components
from ...diag import Diagnostic
from ...ir import Attr, Builder, FloatType, Function, IntType, Op, Region, Value, has, loops_inside_out
from ...ir.clone import clone_function
from ...ir.types import Type
from ...target.delay import DelayModel
from ..manager import Form, FunctionPass
from .huffman_trees import Node, Shaper, Tree, rebuild, trees_of
from .look_ahead_control import CONTROL, logic_delay

__all__ = ["TimingDrivenReassociation"]

#: recurrences of more operations times carried values, or of more cycles, are left alone
MOST_WORK, MOST_CYCLES = 20_000, 40
#: the same where sums of floats may be regrouped: a chain of them takes many cycles
MOST_FLOAT_CYCLES = 1000
#: carried values that are tried as the first to be there
MOST_FIRST = 4
#: cycles that an operation which is neither logic nor a product is taken to need
_SLOW = 6
_NEVER = -math.inf
_EPSILON_NS = 1e-6


@dataclass(frozen=True)
class TimingDrivenReassociation(FunctionPass):
    """Before: flat, the recurrence of each value short. After: in a recurrence of several values, sums and differences
    (also products, logic, least and greatest of integers) take what they add in the order in which it is there, if
    iterations can start in fewer cycles of ``model`` (None: nothing is done) for it.

    What was computed some iterations ago is there so many intervals earlier, and what is not part of the recurrence
    long before: where ``h`` is ``e`` of three iterations ago, ``h + f(e) + x`` becomes ``(x + h) + f(e)``. An inner
    result that is also wanted elsewhere is computed once more for that.

    Where ``takes`` tells how many ns of logic an operation takes that is more than integer logic, sums of floats are
    regrouped, too, which changes their rounding: multiply-adds stay as many, but each may take another number. ``tell``
    gets a note for each of these sums.
    """

    model: DelayModel | None = None
    takes: Callable[[Op], float] | None = None
    tell: Callable[[Diagnostic], None] | None = None

    name = "timing-driven-reassociation"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        for _, loop in loops_inside_out(result.body) if self.model is not None else ():
            body = loop.regions[0]
            # no sum of floats changes where iterations wait for each other anyway
            waits = self.takes is None or not loop.attrs.get(Attr.RING)
            together = components(body) if len(body.args) > 1 and waits else {}
            for part in dict.fromkeys(together[arg] for arg in body.args if arg in together):
                self._shorten(body, {value for value, number in together.items() if number == part})
        return result

    def _shorten(self, body: Region, mine: set[Value]):
        """Rebuild the trees of one recurrence where that gains a cycle."""
        way = [op for op in body.ops if not mine.isdisjoint(op.results)]
        carried = [k for k, arg in enumerate(body.args) if arg in mine]
        if len(carried) * len(way) > MOST_WORK or any(op.regions for op in way):
            return
        trees = trees_of(body, way, mine, floats=self.takes is not None)
        if not trees:
            return
        most = MOST_CYCLES if self.takes is None else MOST_FLOAT_CYCLES
        cycle = _Cycle(body, way, carried, self.model, self.takes)
        if cycle.times(most, {}) is None:
            return
        now = cycle.least(most, {})
        if now > 1 and cycle.times(now - 1, trees) is not None:
            shapes = cycle.shapes(trees, cycle.times(cycle.least(now - 1, trees), trees))
            self._say(trees, shapes)
            rebuild(body, shapes)

    def _say(self, trees: Mapping[Op, Tree], shapes: Mapping[Op, Node]):
        for op in shapes if self.tell else ():
            if isinstance(op.result.type, FloatType):
                self.tell(
                    Diagnostic(
                        f"a sum of {len(trees[op].leaves)} terms is taken in another order than written",
                        op.span,
                        "leave -fp-relaxed out where the order matters",
                        "note",
                    )
                )


class _Cycle:
    """When the values of a recurrence are there, in ns, if iterations start at a given interval.

    A carried value is there when the iteration before has computed it, less the interval. Beginning with one of them at
    time 0, the others follow as longest paths; where that one itself would come later than it was taken to be, the
    interval is too short for one of the cycles through it.
    """

    def __init__(
        self, body: Region, way: list[Op], carried: list[int], model: DelayModel, takes: Callable[[Op], float] | None
    ):
        self.model, self.way, self.takes = model, way, takes
        self.float_steps: dict[tuple[str, Type, bool], float] = {}
        self.carried = {body.args[k]: body.terminator.operands[1 + k] for k in carried}
        self.delays = {op: self._delay(op) for op in way}

    def least(self, works: int, trees: Mapping[Op, Tree]) -> int:
        """The least interval that works, in clock cycles, where ``works`` is one."""
        return 1 + bisect_left(range(1, works), True, key=lambda cycles: self.times(cycles, trees) is not None)

    def times(self, cycles: int, trees: Mapping[Op, Tree]) -> dict[Value, float] | None:
        """When the values are there with an interval of so many clock cycles, where ``trees`` take what is there first
        first, and all others are as they are. None: it does not work."""
        room = cycles * (self.model.period_ns - self.model.overhead_ns) - self.model.delay("select", 1)
        for first in [arg for arg, after in self.carried.items() if after not in self.carried][:MOST_FIRST]:
            start = dict.fromkeys(self.carried, _NEVER) | {first: 0.0}
            for _ in range(4 * len(start)):
                times = self._iteration(start, trees)
                after = {arg: times[value] - room for arg, value in self.carried.items()}
                settled = all(after[arg] <= time + _EPSILON_NS for arg, time in start.items())
                if settled or after[first] > _EPSILON_NS:
                    break
                start = {arg: max(time, after[arg]) for arg, time in start.items()}
            if settled:
                return times
        return None

    def shapes(self, trees: Mapping[Op, Tree], times: Mapping[Value, float]) -> dict[Op, Node]:
        """Of the trees those that are ready sooner than they are now if what is there first meets first."""
        shaper = Shaper(times, self._step)
        found = {op: shaper.soonest(tree) for op, tree in trees.items()}
        return {
            op: node
            for op, node in found.items()
            if shaper.at(node, trees[op].kind) < self._now(op, times) - _EPSILON_NS
        }

    def _iteration(self, start: Mapping[Value, float], trees: Mapping[Op, Tree]) -> dict[Value, float]:
        times = dict(start)
        shaper = Shaper(times, self._step)
        for op in self.way:
            soonest = shaper.at(shaper.soonest(trees[op]), trees[op].kind) if op in trees else math.inf
            times.update(dict.fromkeys(op.results, min(soonest, self._now(op, times))))
        return times

    def _now(self, op: Op, times: Mapping[Value, float]) -> float:
        return max((times.get(v, _NEVER) for v in op.operands), default=_NEVER) + self.delays[op]

    def _step(self, kind: str, type: Type, flush: bool) -> float:
        if isinstance(type, FloatType):
            return self._float_step(kind, type, flush)
        if kind == "mul":
            return self._product(type.bits)
        if kind.endswith(("min", "max")):
            return self.model.delay(f"{kind[0]}lt", type.bits) + self.model.delay("select", type.bits)
        return self.model.delay(kind, type.bits)

    def _float_step(self, kind: str, type: FloatType, flush: bool) -> float:
        key = kind, type, flush
        if key not in self.float_steps:
            operands = [Value(type) for _ in range(3 if kind == "fma" else 2)]
            op = Builder(Region()).op(kind, *operands, attrs={Attr.FLUSH_DENORMALS: True} if flush else {})
            self.float_steps[key] = self._delay(op)
        return self.float_steps[key]

    def _product(self, bits: int) -> float:
        return self.model.multiplier(bits).latency * self.model.period_ns

    def _delay(self, op: Op) -> float:
        if is_wires(op) or op.opcode in ("bitcast", "array"):
            return 0.0
        if op.opcode == "mul":
            return self._product(op.result.type.bits)
        integers = all(isinstance(v.type, IntType) for v in (*op.operands, *op.results))
        if integers and op.opcode in CONTROL:
            return logic_delay(op, self.model)
        if self.takes is not None and has(op, "pure"):
            return self.takes(op)
        return _SLOW * self.model.period_ns

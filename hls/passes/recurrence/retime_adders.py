"""Retiming of adders: an invariant that is added to a carried value before it is compared and selected is added in the
previous iteration instead."""

from collections.abc import Callable
from dataclasses import dataclass

from ...analysis.timing import Arrival, TimingModel, carried_arrivals
from ...ir import BOOL, Builder, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import add_carried
from ...ir.rewrite import literal
from ..manager import Form, FunctionPass

__all__ = ["RetimeAdders", "retimed"]

#: most leaves of a next value's select tree
_MOST_LEAVES = 6


@dataclass(frozen=True)
class RetimeAdders(FunctionPass):
    """Retiming of an adder across the loop's state register (Leiserson and Saxe 1991). Before: flat and narrow. After:
    if a carried value ``x`` is the result of selects that depend on ``x + k``, for a loop-invariant ``k``, the loop
    also carries ``z = x + k``, provided that it takes fewer cycles of ``timing`` then (None: nothing is done), and its
    next value is selected among sums: in ``x = max(c, x - gap)`` the sum is computed in parallel with the comparison,
    not before it.

    Sums wrap in the same way on both paths, so it is exact for every operand.
    """

    timing: TimingModel | None = None

    name = "retime-adders"
    requires = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which loops carry late sums beside the values; an equal copy without ``timing``."""
        result = clone_function(function)
        if self.timing is not None:
            timing = self.timing.unplanned(function)
            _retime(result.body, timing)
        return result


def retimed(loop: Op, timing: TimingModel) -> Op:
    """A copy of the loop, without what is around it, as the pass leaves it. No loop around or beside it matters: what
    these retime is the same in all its iterations."""
    alone = Region()
    alone.ops = clone_ops([loop], {})
    _retime(alone, timing)
    return alone.ops[-1]


def _retime(region: Region, timing: TimingModel) -> None:
    for inside, loop in list(loops_inside_out(region)):
        _Loop(inside, loop, timing).run()


class _Loop:
    def __init__(self, region: Region, loop: Op, timing: TimingModel) -> None:
        self.region, self.loop, self.timing = region, loop, timing
        (self.body,) = loop.regions
        self.arrivals, self.together = carried_arrivals(self.body, timing)

    def run(self) -> None:
        own = {*self.body.args, *(result for op in self.body.ops for result in op.results)}
        terms = [(*term, op) for op in self.body.ops if (term := self._term(op, own)) is not None]
        sooner = [term for term in terms if self._gains(*term)]
        gained = {arg for arg, _, _ in sooner}
        # nothing is gained if the recurrence of another value limits the II as much
        rest = (
            max(
                (
                    self._cycles(self.arrivals.at(self._next(arg)))
                    for arg in self.body.args
                    if arg in self.together and arg not in gained
                ),
                default=1,
            )
            if sooner
            else 0
        )
        for arg, other, op in sooner:
            if self._cycles(self.arrivals.at(self._next(arg))) > rest:
                self._carry(arg, other, op)

    def _term(self, op: Op, own: set[Value]) -> tuple[Value, Value] | None:
        """(carried value, addend or subtrahend) if the operation only adds to, or subtracts from, a carried value."""
        if op.opcode not in ("add", "sub") or op.result not in self.together or not isinstance(op.result.type, IntType):
            return None
        for value, other in (op.operands, op.operands[::-1])[: 2 if op.opcode == "add" else 1]:
            arg = self._begins(value)
            if arg is not None and (other not in own or literal(other) is not None):
                return arg, other
        return None

    def _begins(self, value: Value) -> Value | None:
        """The carried value itself, or the one that a select takes unless it takes a value off the recurrence."""
        if value.owner is self.body:
            return value if value in self.together else None
        if not self._is_choice(value) or value.defining_op.operands[0] in self.together:
            return None
        carried = [arm for arm in value.defining_op.operands[1:] if arm in self.together]
        return self._begins(carried[0]) if len(carried) == 1 else None

    def _next(self, arg: Value) -> Value:
        return self.body.terminator.operands[1 + arg.index]

    def _gains(self, arg: Value, other: Value, op: Op) -> bool:
        """Whether the recurrence of the carried value takes more cycles than it would with the sum carried."""
        following = self._next(arg)
        if (
            following not in self.together
            or not self._is_choice(following)
            or len(self._leaves(following)) > _MOST_LEAVES
        ):
            return False
        # both: the sum is available from the start, and the selected values pass the adder first
        times = {op.result: self._time(op.operands[op.operands[0] is other], {})}
        soon = max(self._time(following, times, step) for step in (None, lambda arm: self.timing.after(op, arm)))
        return self._cycles(soon) < self._cycles(self.arrivals.at(following))

    def _cycles(self, arrival: Arrival) -> float:
        """The cycles of a recurrence that ends with this arrival."""
        return max(1, arrival.cycle + 1)

    def _time(
        self, value: Value, times: dict[Value, Arrival], step: Callable[[Arrival], Arrival] | None = None
    ) -> Arrival:
        """The arrival of the select tree if the sum is carried, and the selected values pass ``step`` first."""
        if not self._is_choice(value):
            arrival = self._plain(value, times)
            return step(arrival) if step else arrival
        condition, *arms = value.defining_op.operands
        latest = max([self._plain(condition, times), *(self._time(arm, times, step) for arm in arms)])
        return self.timing.after(value.defining_op, latest)

    def _plain(self, value: Value, times: dict[Value, Arrival]) -> Arrival:
        if value not in self.together or value.op is None:
            return self.arrivals.at(value)
        if value not in times:
            times[value] = self.timing.after(value.op, max(self._plain(v, times) for v in value.op.operands))
        return times[value]

    def _is_choice(self, value: Value) -> bool:
        return (
            value.op is not None
            and value.op.opcode == "select"
            and value in self.together
            and isinstance(value.type, IntType)
            and value.type != BOOL
        )

    def _leaves(self, value: Value) -> list[Value]:
        return (
            [leaf for arm in value.defining_op.operands[1:] for leaf in self._leaves(arm)]
            if self._is_choice(value)
            else [value]
        )

    def _carry(self, arg: Value, other: Value, op: Op) -> None:
        """Carry the sum that ``op`` computes."""
        place = self.region.ops.index(self.loop)
        behind, self.region.ops = self.region.ops[place:], self.region.ops[:place]
        b = Builder(self.region, op.span)
        start = b.value(op.opcode, self.loop.operands[1 + arg.index], self._outside(other, b))
        self.region.ops += behind
        name = op.result.name or arg.name
        carried = add_carried(self.loop, start, name, result=Value(arg.type, name))
        place = self.body.ops.index(op)
        behind, self.body.ops = self.body.ops[place:], self.body.ops[:place]
        b = Builder(self.body, op.span)
        begins = self._begun(op.operands[op.operands[0] is other], carried.arg, op.opcode, other, b)
        self.body.ops += behind
        for user, index in uses(self.body).get(op.result, ()):
            user.operands[index] = begins
        end = self.body.ops.pop()
        following = self._added(end.operands[1 + arg.index], op.opcode, other, b)
        self.body.ops.append(end)
        carried.set_next(following)

    def _begun(self, value: Value, carried: Value, opcode: str, other: Value, b: Builder) -> Value:
        """The sum with the initial value of an iteration, given the sum ``carried`` of the carried value."""
        if value.owner is self.body:
            return carried
        condition, *arms = value.defining_op.operands
        sums = [
            self._begun(arm, carried, opcode, other, b) if arm in self.together else self._added(arm, opcode, other, b)
            for arm in arms
        ]
        return b.value("select", condition, *sums)

    def _outside(self, other: Value, b: Builder) -> Value:
        return other if literal(other) is None else b.const(literal(other), other.type)

    def _added(self, value: Value, opcode: str, other: Value, b: Builder) -> Value:
        """The select tree with the addition in each arm."""
        if not self._is_choice(value):
            other = self._outside(other, b)  # a constant may be defined after the select
            return b.value(opcode, value, other)
        condition, *arms = value.defining_op.operands
        return b.value("select", condition, *(self._added(arm, opcode, other, b) for arm in arms))

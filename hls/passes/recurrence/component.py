"""One recurrence of a loop, and how many cycles of plain logic it takes."""

import math
from collections.abc import Callable, Iterator, Mapping

from ...analysis.bits.wiring import is_wires
from ...analysis.loops.sccs import components
from ...ir import BOOL, Attr, IntType, Op, Region, Value
from ...target.delay import DelayModel
from .look_ahead_control import CONTROL, logic_delay

__all__ = ["Recurrence", "recurrences_of"]

#: bodies of more operations are left alone
MOST_OPS = 5_000
_EPSILON_NS = 1e-6


class Recurrence:
    """Values of a loop's ``body`` that depend on themselves in an iteration before, all of them together. ``takes``
    tells what an operation takes that is no integer logic, in ns (None: a period)."""

    def __init__(self, body: Region, values: set[Value], model: DelayModel, takes: Callable[[Op], float] | None = None):
        self.body, self.values, self.model, self.takes = body, values, model, takes

    @property
    def ops(self) -> list[Op]:
        """The operations between these values, in order."""
        return [op for op in self.body.ops if not self.values.isdisjoint(op.results)]

    @property
    def args(self) -> list[Value]:
        """The carried values."""
        return [arg for arg in self.body.args if arg in self.values]

    def following(self, arg: Value) -> Value:
        """What a carried value is in the next iteration."""
        return self.body.terminator.operands[1 + arg.index]

    def late(self, op: Op) -> list[bool]:
        """Of each operand whether it belongs to the recurrence."""
        return [v in self.values for v in op.operands]

    def decides_the_end(self) -> bool:
        """Whether it hangs on the recurrence if another iteration follows."""
        hangs = set(self.values)
        for op in self.body.ops:
            if not hangs.isdisjoint(op.operands):
                hangs.update(op.results)
        return self.body.terminator.operands[0] in hangs

    def snapshot(self) -> Callable[[], None]:
        """What brings the body back to where it is now, as long as nothing but its operations, and what these are,
        changes."""
        ops, values = list(self.body.ops), set(self.values)
        were = [(op, op.opcode, list(op.operands), op.attrs) for op in ops]

        def restore():
            self.body.ops, self.values = ops, values
            for op, opcode, operands, attrs in were:
                op.opcode, op.operands, op.attrs = opcode, operands, attrs

        return restore

    def insert(self, before: Op, added: list[Op]):
        """Put operations before one of the body."""
        place = self.body.ops.index(before)
        self.body.ops[place:place] = added

    def cycles(self, other: Mapping[Op, float]) -> int:
        """Cycles of the longest way from the carried values to the next ones, where operations in ``other`` take so
        many ns. What does not fit the rest of a cycle begins with the next one."""
        room = self.model.period_ns - self.model.overhead_ns + _EPSILON_NS
        times = dict.fromkeys(self.args, self.model.delay("select", 1))
        for op in self.ops:
            start, delay = (
                max(times[v] for v in op.operands if v in times),
                other[op] if op in other else self._delay(op),
            )
            start = math.ceil(start / room) * room if start % room + delay > room else start
            times.update(dict.fromkeys(op.results, start + delay))
        return max(1, *(math.ceil(times[self.following(arg)] / room) for arg in self.args))

    def _delay(self, op: Op) -> float:
        if is_wires(op) or op.opcode == "bitcast":
            return 0.0
        if op.opcode == "select" and op.result.type != BOOL:
            return self.model.delay("select", 1)
        if op.opcode in CONTROL and all(isinstance(v.type, IntType) for v in (*op.operands, *op.results)):
            return logic_delay(op, self.model)
        return self.takes(op) if self.takes is not None else self.model.period_ns


def recurrences_of(loop: Op, model: DelayModel, takes: Callable[[Op], float] | None = None) -> Iterator[Recurrence]:
    """The recurrences of a loop; left out are long bodies, recurrences with loops inside, rings, whose iterations wait
    for each other anyway, and what decides about the end of a loop that waits for that."""
    (body,) = loop.regions
    together: dict[int, set[Value]] = {}
    for value, number in (
        components(body).items() if not loop.attrs.get(Attr.RING) and len(body.ops) <= MOST_OPS else ()
    ):
        together.setdefault(number, set()).add(value)
    for values in together.values():
        one = Recurrence(body, values, model, takes)
        if all(op.results and not op.regions for op in one.ops) and not (
            _waits_for_its_end(loop) and one.decides_the_end()
        ):
            yield one


def _waits_for_its_end(loop: Op) -> bool:
    """Whether the source asks that no iteration is issued before it is known whether there is one. Then all that is
    computed for the answer counts, and not only what comes back."""
    return (
        bool(loop.attrs.get(Attr.DISABLE_LOOP_PIPELINING) or loop.attrs.get(Attr.MAX_CONCURRENCY))
        or loop.attrs.get(Attr.SPECULATED_ITERATIONS) == 0
    )

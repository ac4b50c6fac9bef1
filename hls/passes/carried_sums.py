"""Sums that a loop carries on, of which several parts depend on what it carries: what is there last is added last."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from ..analysis.recurrences import components
from ..analysis.wires import is_wires
from ..ir import Builder, Function, IntType, Op, Region, Value, has, loops_inside_out
from ..ir.clone import clone_function
from ..target.delay import OP_CLASSES, DelayModel

__all__ = ["Arrivals", "CarriedSums"]

#: what one sum has at most
_MOST_LEAVES = 12
#: names that a value has one after the other, as far as anybody looks
_MOST_COPIES = 16
_SAME = {"ne": "eq", "ule": "ult", "sle": "slt"}


@dataclass(frozen=True)
class CarriedSums:
    """Before: flat and narrow. After: a sum of integers on a recurrence that is there too late for a cycle of ``model`` (None: nothing is done)
    is put together in the order in which its parts are there, counted from the values that the loop carries, where that is sooner by half an
    addition at least. What does not depend on them is one part, there from the beginning; a value that was carried before, under another name, is there
    a cycle earlier: in ``c = b; b = a`` what ``c`` holds was known two iterations ago.

    A part that others look at, too, is a sum of its own for them: in rounds of digests, ``e = d + t; a = t + u`` with a long ``t``, the sum for
    ``e`` does not wait for ``t``.
    """

    model: DelayModel | None = None

    name = "carried-sums"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        if self.model is not None:
            for _, loop in loops_inside_out(result.body):
                _Loop(loop.regions[0], self.model).run()
        return result


class Arrivals:
    """When values on a recurrence of a loop are there, in ns behind the values that it carries."""

    def __init__(self, body: Region, model: DelayModel):
        self.body, self.model = body, model
        self.together = components(body)
        self.early = -_MOST_COPIES * model.period_ns  #: when all others are there
        pairs = [(arg, value) for arg, value in zip(body.args, body.terminator.operands[1:], strict=True) if arg in self.together]
        self.times = {arg: 0.0 for arg, _ in pairs}
        for _ in range(_MOST_COPIES):
            for op in body.ops:
                self.note(op)
            # what is carried on from one name to the next is there a cycle earlier for each
            copied = {arg: self.times[value] - model.period_ns for arg, value in pairs if self.times[value] <= 0.0}
            if all(self.times[arg] == time for arg, time in copied.items()):
                break
            self.times |= copied

    def note(self, op: Op):
        """Remember when the results are there."""
        if any(result in self.together for result in op.results):
            self.times.update(dict.fromkeys(op.results, self.now(op)))

    def now(self, op: Op) -> float:
        """When the results are there."""
        return max((self.times.get(v, self.early) for v in op.operands), default=self.early) + self.delay(op)

    def is_late(self, op: Op) -> bool:
        """Whether the results are there too late for a cycle."""
        return self.now(op) + self.model.overhead_ns > self.model.period_ns

    def delay(self, op: Op) -> float:
        """In ns. What is no logic takes longer than a cycle, so that nobody waits for what is beside it."""
        if op.opcode in ("const", "zext", "sext", "trunc", "bitcast") or has(op, "shift") and op.operands[1] not in self.together or is_wires(op):
            return 0.0
        name = _SAME.get(op.opcode, op.opcode)
        if name not in OP_CLASSES or not all(isinstance(v.type, IntType) for v in (*op.operands, *op.results)):
            return self.model.period_ns
        return self.model.delay(name, max(v.type.bits for v in op.operands))


class _Loop:
    def __init__(self, body: Region, model: DelayModel):
        self.body, self.model, self.arrivals = body, model, Arrivals(body, model)
        self.together, self.times = self.arrivals.together, self.arrivals.times

    def run(self):
        if not any(map(self._is_late, self.body.ops)):
            return
        before, self.body.ops = self.body.ops, []
        for op in before:
            if self._is_late(op):
                self._rebuild(op)
            self.body.ops.append(op)
            self.arrivals.note(op)

    def _is_sum(self, value: Value) -> bool:
        return (value in self.together and value.op is not None and value.op.opcode == "add"
                and isinstance(value.type, IntType) and not is_wires(value.op))

    def _is_late(self, op: Op) -> bool:
        return len(op.results) == 1 and self._is_sum(op.result) and self.arrivals.is_late(op)

    def _rebuild(self, op: Op):
        leaves = list(self._leaves(op, self.together[op.result]))
        late = [leaf for leaf in leaves if leaf in self.together]
        early = [leaf for leaf in leaves if leaf not in self.together]
        if len(late) < 2 or not 3 <= len(leaves) <= _MOST_LEAVES:
            return
        step = self.model.delay("add", op.result.type.bits)
        heap = [(self.times[leaf], k) for k, leaf in enumerate(late)] + ([(self.arrivals.early, len(late))] if early else [])
        heapq.heapify(heap)
        if _ready(list(heap), step) > self.arrivals.now(op) - step / 2:
            return
        b = Builder(self.body, op.span)
        parts = [*late, *([self._added(early, b)] if early else [])]
        while len(heap) > 2:
            (one, k), (other, m) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (max(one, other) + step, len(parts)))
            parts.append(b.value("add", parts[k], parts[m]))
            self.times[parts[-1]], self.together[parts[-1]] = max(one, other) + step, self.together[op.result]
        op.operands = [parts[k] for _, k in heap]

    def _leaves(self, op: Op, part: int) -> Iterator[Value]:
        for value in op.operands:
            if self._is_sum(value) and self.together[value] == part and value.owner is not self.body:
                yield from self._leaves(value.op, part)
            else:
                yield value

    def _added(self, values: list[Value], b: Builder) -> Value:
        total = values[0]
        for value in values[1:]:
            total = b.value("add", total, value)
        return total


def _ready(heap: list[tuple[float, int]], step: float) -> float:
    """When the sum of these is there at the soonest."""
    while len(heap) > 1:
        (one, k), (other, _) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (max(one, other) + step, k))
    return heap[0][0]

"""When the values of a recurrence are there within an iteration."""

from ...analysis.bits.wiring import is_wires
from ...analysis.loops.sccs import components
from ...ir import IntType, Op, Region, has
from ...target.delay import OP_CLASSES, DelayModel

__all__ = ["ArrivalTimes"]

#: names that a value has one after the other, as far as anybody looks
_MOST_COPIES = 16
_SAME = {"ne": "eq", "ule": "ult", "sle": "slt"}


class ArrivalTimes:
    """When values on a recurrence of a loop are there, in ns behind the values that it carries."""

    def __init__(self, body: Region, model: DelayModel):
        self.body, self.model = body, model
        self.together = components(body)
        self.early = -_MOST_COPIES * model.period_ns  #: when all others are there
        pairs = [
            (arg, value)
            for arg, value in zip(body.args, body.terminator.operands[1:], strict=True)
            if arg in self.together
        ]
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
        if (
            op.opcode in ("const", "zext", "sext", "trunc", "bitcast")
            or has(op, "shift")
            and op.operands[1] not in self.together
            or is_wires(op)
        ):
            return 0.0
        name = _SAME.get(op.opcode, op.opcode)
        if name not in OP_CLASSES or not all(isinstance(v.type, IntType) for v in (*op.operands, *op.results)):
            return self.model.period_ns
        return self.model.delay(name, max(v.type.bits for v in op.operands))

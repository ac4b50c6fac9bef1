"""What work-items of one group may do at the same time: which accesses no meeting separates."""

from ..ir import Function, Op, Region
from ..ir.rewrite import constant

__all__ = ["phases"]


def phases(function: Function) -> dict[Op, int]:
    """A number for each operation of a flat kernel whose work-items meet. Operations with different numbers never take place
    at once for one group: all its work-items have met in between."""
    found = _Phases()
    found.region(function.body, found.new())
    return {op: found.root(phase) for op, phase in found.of.items()}


class _Phases:
    def __init__(self):
        self.of: dict[Op, int] = {}
        self.parent: list[int] = []

    def new(self) -> int:
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def root(self, phase: int) -> int:
        while self.parent[phase] != phase:
            phase = self.parent[phase]
        return phase

    def join(self, one: int, other: int):
        self.parent[self.root(one)] = self.root(other)

    def region(self, region: Region, phase: int) -> int:
        """Number the region's operations, the first of which take place in ``phase``; returns the phase at its end."""
        for op in region.ops:
            self.of[op] = phase
            if op.opcode == "meet":
                behind = self.new()
                if constant(op.operands[0]) != 1:
                    self.join(phase, behind)
                phase = behind
            elif op.opcode == "loop" and op.attrs.get("ring"):
                phase = self._ring(op, phase)
            else:
                for inner in op.regions:
                    phase = self.region(inner, phase)
        return phase

    def _ring(self, loop: Op, phase: int) -> int:
        """An iteration begins in the phase in which the one before has ended."""
        begin = self.new()
        self.join(begin, phase)
        end = self.region(loop.regions[0], begin)
        self.join(begin, end)
        if constant(loop.operands[0]) != 1:
            self.join(phase, end)
        return end

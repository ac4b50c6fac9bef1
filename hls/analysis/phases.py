"""What work-items of one group may do at the same time: which operations no meeting separates."""

from ..ir import Function, Op, Region
from ..ir.rewrite import constant

__all__ = ["Phases"]


class Phases:
    """The phases of a flat kernel whose work-items meet: a meeting ends one and begins another.

    All work-items of a group take the same way through meetings and rings. So two operations take place at once in one group
    only if a way without a meeting leads from one to the other.
    """

    def __init__(self, function: Function):
        self.of: dict[Op, int] = {}  #: the phase of each operation
        self._next: list[set[int]] = []  # phases that follow without a meeting
        self._region(function.body, self._new())

    def together(self, one: Op, other: Op) -> bool:
        """Whether work-items of one group may be at both operations at the same time."""
        first, second = self.of[one], self.of[other]
        return second in self._reached(first) or first in self._reached(second)

    def _reached(self, phase: int) -> set[int]:
        found, work = {phase}, [phase]
        while work:
            new = self._next[work.pop()] - found
            found |= new
            work += new
        return found

    def _new(self, *before: int) -> int:
        self._next.append(set())
        for phase in before:
            self._next[phase].add(len(self._next) - 1)
        return len(self._next) - 1

    def _region(self, region: Region, phase: int) -> int:
        """Number the region's operations, the first of which take place in ``phase``; returns the phase at its end."""
        for op in region.ops:
            self.of[op] = phase
            if op.opcode == "meet":
                phase = self._new() if constant(op.operands[0]) == 1 else self._new(phase)
            elif op.opcode == "loop" and op.attrs.get("ring"):
                phase = self._ring(op, phase)
            else:
                for inner in op.regions:
                    phase = self._region(inner, phase)
        return phase

    def _ring(self, loop: Op, phase: int) -> int:
        """An iteration begins in what follows the one before without a meeting."""
        begin = self._new(phase)
        end = self._region(loop.regions[0], begin)
        self._next[end].add(begin)
        return self._new(end) if constant(loop.operands[0]) == 1 else self._new(end, phase)

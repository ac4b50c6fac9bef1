"""What work-items of one group may do at the same time: which operations no meeting separates."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...ir import Attr, Function, Op, Region, Value, reaches_memory, walk
from ...ir.accesses import predicate
from ...ir.rewrite import constant
from ..induction.trip_count import follows, implied

__all__ = ["BarrierPhases"]


@dataclass(frozen=True)
class _Way:
    """A way between two phases without a meeting. It is only taken while ``unless`` is false; where it leads into
    another iteration of a ring, nothing is known any more of the values that are made ``inside`` of that."""

    begin: int
    end: int
    unless: Value | None = None
    inside: frozenset[Value] = frozenset()


class BarrierPhases:
    """The phases of a flat kernel whose work-items meet: a meeting ends one and begins another.

    All work-items of a group take the same way through meetings and rings. So two operations take place at once in one
    group only if a way without a meeting leads from one to the other. What must be true for either to take place is
    true for both ends of the way: a meeting under the same condition is not left out.
    """

    def __init__(self, function: Function):
        self.of: dict[Op, int] = {}  #: the phase of each operation
        self._count = 0
        self._ways: list[_Way] = []
        self._true: dict[Op, dict[Value, bool]] = {}  # what is known wherever the operation is reached
        self._known: dict[tuple, bool] = {}
        self._region(function.body, self._new(), {})

    def together(self, one: Op, other: Op) -> bool:
        """Whether work-items of one group may be at both operations at the same time."""
        return self._leads(one, other) or self._leads(other, one)

    def _leads(self, one: Op, other: Op) -> bool:
        """Whether there is a way that fits what is true at its beginning, and one that fits what is true at its end."""
        if (one, other) not in self._known:
            first, second = self.of[one], self.of[other]
            ahead = [(way.begin, way.end, way) for way in self._ways]
            back = [(way.end, way.begin, way) for way in self._ways]
            self._known[one, other] = second in _reached(first, ahead, self._facts(one)) and first in _reached(
                second, back, self._facts(other)
            )
        return self._known[one, other]

    def _facts(self, op: Op) -> dict[Value, bool]:
        return self._true[op] | (implied(predicate(op)) if reaches_memory(op) else {})

    def _new(self, *ways: tuple[int, Value | None]) -> int:
        """A phase that follows on each of ``ways``: (the phase before, the condition under which there is a meeting
        instead)."""
        self._ways += [_Way(before, self._count, unless) for before, unless in ways]
        self._count += 1
        return self._count - 1

    def _region(self, region: Region, phase: int, true: dict[Value, bool]) -> int:
        """Number the region's operations, the first of which take place in ``phase``; returns the phase at its end."""
        for op in region.ops:
            self.of[op], self._true[op] = phase, true
            if op.opcode == "meet":
                phase = self._new() if constant(op.operands[0]) == 1 else self._new((phase, op.operands[0]))
            elif op.opcode == "loop" and op.attrs.get(Attr.RING):
                phase = self._ring(op, phase, true | implied(op.operands[0]))
            else:
                inside = true | implied(op.operands[0]) if op.opcode == "loop" else true
                for inner in op.regions:
                    phase = self._region(inner, phase, inside)
        return phase

    def _ring(self, loop: Op, phase: int, true: dict[Value, bool]) -> int:
        """An iteration begins in what follows the one before without a meeting."""
        (body,) = loop.regions
        begin = self._new((phase, None))
        end = self._region(body, begin, true)
        self._ways.append(_Way(end, begin, None, frozenset(_made(body))))
        enable = loop.operands[0]
        return self._new((end, None)) if constant(enable) == 1 else self._new((end, None), (phase, enable))


def _made(region: Region) -> Iterable[Value]:
    """The values of a region and of those inside it."""
    yield from region.args
    for op in walk(region):
        yield from op.results
        for inner in op.regions:
            yield from inner.args


def _reached(phase: int, ways: list[tuple[int, int, _Way]], facts: dict[Value, bool]) -> set[int]:
    """The phases to which ways lead on which nothing is left out that takes place by the facts."""
    begin = (phase, frozenset(facts.items()))
    found, work = {begin}, [begin]
    while work:
        here, known = work.pop()
        true = dict(known)
        for start, end, way in ways:
            if start != here or (way.unless is not None and follows(way.unless, true)):
                continue
            new = (end, frozenset((v, truth) for v, truth in known if v not in way.inside))
            if new not in found:
                found.add(new)
                work.append(new)
    return {here for here, _ in found}

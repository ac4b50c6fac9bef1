"""Barrier phases (may-happen-in-parallel): which operations of a work-group no barrier separates."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...ir import Attr, Function, Op, Region, Value, reaches_memory, walk
from ...ir.accesses import predicate
from ...ir.rewrite import constant
from ..predicates.implication import follows, implied

__all__ = ["BarrierPhases"]


@dataclass(frozen=True)
class _Way:
    """A path between two phases without a barrier. It is taken only if ``unless`` is false; if it leads to another
    iteration of a barrier loop, facts about the values defined ``inside`` that loop no longer hold."""

    begin: int
    end: int
    unless: Value | None = None
    inside: frozenset[Value] = frozenset()


class BarrierPhases:
    """The phases of a flat kernel with barriers: each barrier ends one and begins another.

    All work-items of a group take the same path through barriers and barrier loops. So two operations may execute at
    the same time in one group only if a path without a barrier leads from one to the other. Facts that hold at either
    operation hold at both ends of the path: a barrier under a condition that they imply cannot be bypassed.
    """

    def __init__(self, function: Function) -> None:
        self.of: dict[Op, int] = {}  #: the phase of each operation
        self._count = 0
        self._ways: list[_Way] = []
        self._true: dict[Op, dict[Value, bool]] = {}  # facts that hold where the operation executes
        self._known: dict[tuple[Any, ...], bool] = {}
        self._region(function.body, self._new(), {})

    def together(self, one: Op, other: Op) -> bool:
        """Whether work-items of one group may be at both operations at the same time."""
        return self._leads(one, other) or self._leads(other, one)

    def _leads(self, one: Op, other: Op) -> bool:
        """Whether there is a path consistent with the facts at its begin, and one consistent with those at its end."""
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
        """A phase that follows each of ``ways``: (previous phase, condition under which a barrier separates them)."""
        self._ways += [_Way(before, self._count, unless) for before, unless in ways]
        self._count += 1
        return self._count - 1

    def _region(self, region: Region, phase: int, true: dict[Value, bool]) -> int:
        """Number the region's operations, the first of which execute in ``phase``; returns the phase at its end."""
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
        """An iteration begins in a phase that follows the end of the previous one without a barrier."""
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
    """The phases reached by paths that bypass no barrier that the facts imply."""
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

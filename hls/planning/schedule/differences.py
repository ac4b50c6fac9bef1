"""Systems of difference constraints with loop-carried distances: ``start[dst] + distance * ii >= start[src] + cycles``.

For a given ii the least solution is a longest path. None exists exactly when the cycles of some closed chain of
constraints exceed ``ii`` times its distance. That chain is returned: it is both the proof and the explanation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy

from ...narrow import present

__all__ = ["NEVER", "Constraint", "Cycle", "DifferenceSystem"]

NEVER = -(1 << 40)  #: length of a path that does not exist; twice that still fits into 64 bits
MANY = 16  #: nodes from which paths are computed by numpy; for fewer, its calls take longer than the additions


@dataclass(frozen=True)
class Constraint:
    """One constraint between nodes; ``kind`` says where it comes from (see :mod:`hls.planning.schedule.explain`)."""

    src: int
    dst: int
    cycles: int
    distance: int = 0
    kind: str = "value"


@dataclass(frozen=True)
class Cycle:
    """A closed chain of constraints, each one's ``dst`` the next one's ``src``."""

    constraints: tuple[Constraint, ...]

    @property
    def cycles(self) -> int:
        """The sum of the minimum distances in cycles along the chain."""
        return sum(constraint.cycles for constraint in self.constraints)

    @property
    def distance(self) -> int:
        """The sum of the distances in iterations along the chain."""
        return sum(constraint.distance for constraint in self.constraints)

    @property
    def bound(self) -> int | None:
        """The least ii this cycle allows; None if it allows none."""
        if self.distance == 0:
            return None if self.cycles > 0 else 1
        return max(1, -(-self.cycles // self.distance))


class DifferenceSystem:
    """Constraints over nodes ``0 .. size - 1``.

    ``order`` ranks the nodes so that most constraints of distance 0 lead upwards: with it a longest path takes a few
    passes over the constraints (one more for every loop-carried one on it) instead of one for every node.
    """

    def __init__(self, size: int, constraints: Iterable[Constraint], order: Sequence[int]) -> None:
        self._rank = rank = [0] * size
        for position, node in enumerate(order):
            rank[node] = position
        self.size = size
        self.constraints = tuple(sorted(constraints, key=lambda c: rank[c.src]))
        self._weighed: tuple[int, list[_Weighed]] = (0, [])
        self._paths: dict[tuple[int, tuple[int, ...]], numpy.ndarray] = {}

    def with_more(self, more: Iterable[Constraint], ii: int) -> "DifferenceSystem":
        """The system with further constraints, to be asked at ``ii``: it is in the same order, and takes over what has
        been computed for that ii."""
        rank, more = self._rank, tuple(more)
        found = DifferenceSystem(self.size, (), ())
        found._rank = rank
        found.constraints = tuple(sorted((*self.constraints, *more), key=lambda c: rank[c.src]))
        found._weighed = ii, sorted((*self._weights(ii), *_weighed(more, ii)), key=lambda one: rank[one[0]])
        return found

    def least(self, ii: int) -> list[int] | Cycle:
        """The least non-negative solution, or a cycle that proves that none exists."""
        start = [0] * self.size
        reason: list[Constraint | None] = [None] * self.size
        weights = self._weights(ii)
        while True:
            changed = False
            for src, dst, weight, constraint in weights:
                ready = start[src] + weight
                if ready > start[dst]:
                    start[dst], reason[dst], changed = ready, constraint, True
            if not changed:
                return start
            if cycle := _cycle(reason):
                return cycle

    def from_node(self, node: int, ii: int) -> list[int | None]:
        """The longest distance of every node from ``node`` (None: not reachable). The system must be feasible at ii."""
        start: list[int | None] = [None] * self.size
        start[node] = 0
        weights, changed = self._weights(ii), True
        while changed:
            changed = False
            for src, dst, weight, _ in weights:
                before, now = start[src], start[dst]
                if before is not None and (now is None or before + weight > now):
                    start[dst], changed = before + weight, True
        return start

    @cached_property
    def minimum(self) -> tuple[int | None, Cycle | None]:
        """The least feasible ii (None if none is) and the cycle that forbids a smaller one (None if nothing does).

        Each infeasible ii yields a cycle whose own bound is the next ii tried, so few are tried, and the last is exact.
        """
        ii, proof = 1, None
        while isinstance(found := self.least(ii), Cycle):
            proof = found
            if proof.bound is None:
                return None, proof
            ii = proof.bound
        return ii, proof

    def paths(self, nodes: Sequence[int], ii: int) -> numpy.ndarray:
        """The longest distances among the nodes, row by row from each of them; NEVER where no path leads. The system
        must be feasible at ii. Those of the last nodes and ii are kept, as a search asks for them again and again."""
        key = ii, tuple(nodes)
        if key not in self._paths:
            paths = self._few_paths if len(nodes) < MANY else self._many_paths
            self._paths = {key: paths(nodes, ii)}
        return self._paths[key]

    def _few_paths(self, nodes: Sequence[int], ii: int) -> numpy.ndarray:
        rows = [self.from_node(node, ii) for node in nodes]
        return numpy.array([[NEVER if row[n] is None else row[n] for n in nodes] for row in rows], dtype=numpy.int64)

    def _many_paths(self, nodes: Sequence[int], ii: int) -> numpy.ndarray:
        """Bellman and Ford's algorithm from all nodes at once."""
        start = numpy.full((self.size, len(nodes)), NEVER, dtype=numpy.int64)
        start[nodes, range(len(nodes))] = 0
        weights, before = self._weights(ii), None
        while before is None or not numpy.array_equal(before, start):
            before = start.copy()
            for src, dst, weight, _ in weights:
                numpy.maximum(start[dst], start[src] + weight, out=start[dst])
        found = start[nodes].T
        return numpy.where(found <= NEVER // 2, NEVER, found)

    def _weights(self, ii: int) -> "list[_Weighed]":
        """Each constraint at that ii; those of the last ii are kept."""
        if self._weighed[0] != ii:
            self._weighed = ii, _weighed(self.constraints, ii)
        return self._weighed[1]


#: source, destination, least difference at one ii, and the constraint
_Weighed = tuple[int, int, int, Constraint]


def _weighed(constraints: Iterable[Constraint], ii: int) -> list[_Weighed]:
    return [(c.src, c.dst, c.cycles - c.distance * ii, c) for c in constraints]


def _cycle(reason: list[Constraint | None]) -> Cycle | None:
    """A cycle in the graph of each node's last raising constraint."""
    seen = [0] * len(reason)
    for first in range(len(reason)):
        node, stamp = first, first + 1
        while not seen[node] and reason[node] is not None:
            seen[node] = stamp
            node = present(reason[node]).src
        if seen[node] == stamp and reason[node] is not None:
            return _collect(reason, node)
        seen[node] = seen[node] or stamp
    return None


def _collect(reason: list[Constraint | None], node: int) -> Cycle:
    constraints = [present(reason[node])]
    while constraints[-1].src != node:
        constraints.append(present(reason[constraints[-1].src]))
    return Cycle(tuple(reversed(constraints)))

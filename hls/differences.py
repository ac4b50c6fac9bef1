"""Systems of difference constraints with loop-carried distances: ``start[dst] + distance * ii >= start[src] + cycles``.

For a given ii the least solution is a longest path. None exists exactly when the cycles of some closed chain of
constraints exceed ``ii`` times its distance. That chain is returned: it is both the proof and the explanation.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy

from .narrow import present

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
        self._weighed: tuple[int, list[list[_Weighed]]] = (0, [])
        self._solved: tuple[int, list[int]] | None = None  #: an ii, and lower bounds of the least solution at it
        self._new: tuple[Constraint, ...] = self.constraints  #: the constraints that these bounds may violate
        self._paths: dict[tuple[int, tuple[int, ...]], numpy.ndarray] = {}

    def with_more(self, more: Iterable[Constraint], ii: int) -> "DifferenceSystem":
        """The system with further constraints, to be asked at ``ii``: it is in the same order, and takes over what has
        been computed for that ii."""
        rank, more = self._rank, tuple(more)
        found = DifferenceSystem(self.size, (), ())
        found._rank = rank
        found.constraints = tuple(sorted((*self.constraints, *more), key=lambda c: rank[c.src]))
        found._weighed = ii, found._with_weights(list(map(list, self._weights(ii))), more, ii)
        found._solved = self._solved
        found._new = (*self._new, *more)
        return found

    def least(self, ii: int) -> list[int] | Cycle:
        """The least non-negative solution, or a cycle that proves that none exists."""
        start = [0] * self.size
        reason: list[Constraint | None] = [None] * self.size
        for raised in self._rounds(start, ii, range(self.size), reason):
            if _is_closed(reason, raised):
                return present(_cycle(reason))
        return start

    def solution(self, ii: int) -> list[int]:
        """The least non-negative solution. The system must be feasible at ii. That of the last ii is kept."""
        if self._solved is None or self._solved[0] != ii:
            self._solved, self._new = (ii, [0] * self.size), self.constraints
        start = self._solved[1]
        if self._new:
            start = start.copy()  # the system without the new constraints has its own
            for _ in self._rounds(start, ii, {constraint.src for constraint in self._new}):
                pass
            self._solved, self._new = (ii, start), ()
        return start.copy()

    def from_node(self, node: int, ii: int) -> list[int | None]:
        """The longest distance of every node from ``node`` (None: not reachable). The system must be feasible at ii."""
        start = [NEVER] * self.size
        start[node] = 0
        for _ in self._rounds(start, ii, [node]):
            pass
        return [None if distance <= NEVER // 2 else distance for distance in start]

    def _rounds(
        self, start: list[int], ii: int, sources: Iterable[int], reason: list[Constraint | None] | None = None
    ) -> Iterator[list[int]]:
        """Raise ``start`` until it satisfies every constraint at ``ii``, with one pass over the nodes for each step;
        yields the nodes that a pass raised. ``sources``: the nodes whose constraints may not be satisfied. ``reason``:
        becomes the constraint that raised each node last.

        Bellman and Ford's algorithm, in which a pass looks only at nodes raised since they were last looked at.
        """
        rank, weights = self._rank, self._weights(ii)
        waiting = bytearray(len(weights))
        for node in sources:
            waiting[rank[node]] = 1
        while (place := waiting.find(1)) >= 0:
            raised: list[int] = []
            while place >= 0:
                waiting[place] = 0
                for src, dst, weight, constraint in weights[place]:
                    ready = start[src] + weight
                    if ready > start[dst]:
                        start[dst] = ready
                        waiting[rank[dst]] = 1
                        raised.append(dst)
                        if reason is not None:
                            reason[dst] = constraint
                place = waiting.find(1, place + 1)
            yield raised

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
        """The same for all of the nodes at once."""
        start = numpy.full((self.size, len(nodes)), NEVER, dtype=numpy.int64)
        start[nodes, range(len(nodes))] = 0
        rank, weights = self._rank, self._weights(ii)
        waiting = bytearray(len(weights))
        for node in nodes:
            waiting[rank[node]] = 1
        while (place := waiting.find(1)) >= 0:
            while place >= 0:
                waiting[place] = 0
                for src, dst, weight, _ in weights[place]:
                    ready = start[src] + weight
                    if (ready > start[dst]).any():
                        numpy.maximum(start[dst], ready, out=start[dst])
                        waiting[rank[dst]] = 1
                place = waiting.find(1, place + 1)
        found = start[nodes].T
        return numpy.where(found <= NEVER // 2, NEVER, found)

    def _weights(self, ii: int) -> "list[list[_Weighed]]":
        """The constraints of each node at that ii, by its rank; those of the last ii are kept."""
        if self._weighed[0] != ii:
            self._weighed = ii, self._with_weights([[] for _ in range(self.size)], self.constraints, ii)
        return self._weighed[1]

    def _with_weights(
        self, found: "list[list[_Weighed]]", constraints: Iterable[Constraint], ii: int
    ) -> "list[list[_Weighed]]":
        """``found`` with further constraints."""
        for c in constraints:
            found[self._rank[c.src]].append((c.src, c.dst, c.cycles - c.distance * ii, c))
        return found


#: source, destination, least difference at one ii, and the constraint
_Weighed = tuple[int, int, int, Constraint]


def _is_closed(reason: list[Constraint | None], nodes: Iterable[int]) -> bool:
    """Whether the graph of each node's last raising constraint has a cycle that leads through, or to, these nodes."""
    seen: set[int] = set()
    for first in nodes:
        chain: set[int] = set()
        node = first
        while node not in seen and (cause := reason[node]) is not None:
            seen.add(node)
            chain.add(node)
            node = cause.src
        if node in chain:
            return True
    return False


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

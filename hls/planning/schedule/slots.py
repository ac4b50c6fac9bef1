"""Which cycle of the initiation interval (slot) each use of a limited resource gets.

Write ``start = slot + ii * k``. Once the slots are chosen, difference constraints on the ``k`` remain. So the search
runs over slots only, and all operations without a limited resource are first eliminated exactly: the longest path
between two uses stands for everything between them.

The search is exact, and takes exponential time. :func:`place_by_eviction` finds schedules of many uses that it does
not reach, but cannot tell that none exists.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy

from ...differences import NEVER, DifferenceSystem
from .problem import Problem

__all__ = ["SearchLimit", "find_starts", "place_by_eviction"]

PLACEMENTS = 16  #: placements for each use of a limited resource before placing by eviction is given up


class SearchLimit(Exception):
    """The search was given up undecided."""


def find_starts(
    problem: Problem, system: DifferenceSystem, ii: int, tries: int, shift: int = 0
) -> dict[Hashable, int] | None:
    """Starts of the operations with limited resources at a feasible ii, None if none exist.

    The slot of the most constrained operation is searched from ``shift`` cycles after its earliest start: other shifts
    lead to other solutions, but never change whether one exists. Raises :class:`SearchLimit` after ``tries`` tried
    slots.
    """
    uses = _Uses.of(problem, system, ii)
    search = _Search(
        paths=uses.paths,
        order=uses.order,
        resources=[uses.resources[i - 1] for i in uses.order],
        limits=problem.limits,
        ii=ii,
        tries=tries,
        shift=shift,
        movable=all(operation.latest is None for operation in problem.operations),
    )
    found = search.run([uses.asap[i - 1] for i in uses.order])
    if found is None:
        return None
    return {uses.keys[i - 1]: start for i, start in zip(uses.order, found, strict=True)}


def place_by_eviction(problem: Problem, system: DifferenceSystem, ii: int) -> dict[Hashable, int] | None:
    """Starts of the operations with limited resources at a feasible ii; None if ``PLACEMENTS`` for each did not
    suffice, which proves nothing.

    Iterative modulo scheduling (Rau 1994) on the longest paths between the uses: each use is placed at the first
    free slot between those placed before it; where there is none, those in its way are placed again later.
    """
    uses = _Uses.of(problem, system, ii)
    starts = _Evicting(uses, problem.limits, ii).run(PLACEMENTS * len(uses.keys))
    return None if starts is None else dict(zip(uses.keys, starts, strict=True))


@dataclass(frozen=True)
class _Uses:
    """The uses of limited resources: their keys, resources and earliest starts, and the longest ``paths`` between
    them, where row 0 is the start of the iteration and row i + 1 use i. ``order``: the rows, most constrained first."""

    keys: list[Hashable]
    resources: list[Hashable]
    asap: list[int]
    paths: numpy.ndarray
    order: list[int]

    @classmethod
    def of(cls, problem: Problem, system: DifferenceSystem, ii: int) -> "_Uses":
        """Those of a problem at an interval of ``ii`` cycles."""
        asap = system.solution(ii)
        nodes = [i for i, operation in enumerate(problem.operations) if operation.resource is not None]
        root = len(problem.operations)
        paths = system.paths([root, *nodes], ii).copy()
        paths[0, 1:] = numpy.maximum(paths[0, 1:], [asap[node] for node in nodes])
        slack = -(paths + paths.T + numpy.where(numpy.eye(len(paths), dtype=bool), 2 * NEVER, 0)).max(axis=1)
        return cls(
            keys=[problem.operations[node].key for node in nodes],
            resources=[problem.operations[node].resource for node in nodes],
            asap=[asap[node] for node in nodes],
            paths=paths,
            order=sorted(range(1, len(paths)), key=lambda i: (slack[i], asap[nodes[i - 1]])),
        )


class _Search:
    """Depth-first search. For the operations placed so far it holds the least ``k``: with a further operation these
    only grow, so only what grows is computed again."""

    def __init__(self, *, paths, order, resources, limits, ii, tries, shift, movable) -> None:
        self.paths, self.order, self.resources, self.limits = paths, order, resources, limits
        self.ii, self.tries, self.shift, self.movable = ii, tries, shift, movable
        self.placed = [0]  # rows of the matrix of longest paths; row 0 is the start of the iteration, in slot 0
        self.slots = [0]
        self.used: Counter[tuple[Hashable, int]] = Counter()

    def run(self, asap: list[int]) -> list[int] | None:
        """Starts in the given order. The stack is explicit, as there may be more operations than Python allows
        frames."""
        choices: list[Iterator[int]] = []
        least = [numpy.zeros(1, dtype=numpy.int64)]
        while len(choices) < len(self.order):
            depth = len(choices)
            choices.append(self._slots_to_try(asap[depth]))
            while (extended := self._advance(least[-1], choices)) is None:
                choices.pop()
                if not choices:
                    return None
                least.pop()
                self._remove()
            least.append(extended)
        k = least[-1]
        return [int(slot + self.ii * k[i + 1]) for i, slot in enumerate(self.slots[1:])]

    def _slots_to_try(self, earliest: int):
        if len(self.placed) > 1:
            return ((earliest + offset) % self.ii for offset in range(self.ii))
        # If nothing has a latest start, any schedule can be shifted as a whole: one slot for the first operation is
        # enough.
        count = 1 if self.movable else self.ii
        return ((earliest + self.shift + offset) % self.ii for offset in range(count))

    def _advance(self, least: numpy.ndarray, choices: list[Iterator[int]]) -> numpy.ndarray | None:
        """Put the next operation into the next slot that works; returns the least ``k`` with it, or None when none
        works."""
        depth = len(choices) - 1
        resource = self.resources[depth]
        for slot in choices[-1]:
            if self.used[resource, slot] >= self.limits[resource]:
                continue
            if self.tries == 0:
                raise SearchLimit
            self.tries -= 1
            extended = self._extend(least, self.order[depth], slot)
            if extended is not None:
                self.placed.append(self.order[depth])
                self.slots.append(slot)
                self.used[resource, slot] += 1
                return extended
        return None

    def _remove(self) -> None:
        self.placed.pop()
        slot = self.slots.pop()
        self.used[self.resources[len(self.placed) - 1], slot] -= 1

    def _extend(self, least: numpy.ndarray, row: int, slot: int) -> numpy.ndarray | None:
        """The least ``k`` of the placed operations and a further one; None if no ``k`` satisfy all constraints.

        Those of the placed ones satisfy all constraints between these. So a chain of constraints whose sum is above 0
        leads through the further operation, whose own ``k`` it raises; or through the start of the iteration, whose
        ``k`` is 0.
        """
        placed, slots = numpy.array([*self.placed, row]), numpy.array([*self.slots, slot])
        into = _ceil_div(self.paths[placed[:-1], row] + slots[:-1] - slot, self.ii)
        k = numpy.append(least, (least + into).max())
        new, work = len(least), deque([len(least)])
        while work:
            at = work.popleft()
            out = _ceil_div(self.paths[placed[at], placed] + slots[at] - slots, self.ii)
            raised = numpy.flatnonzero(k[at] + out > k)
            if raised.size and (raised[0] == 0 or raised[-1] == new):
                return None
            k[raised] = k[at] + out[raised]
            work.extend(one for one in raised.tolist() if one not in work)
        return k


class _Evicting:
    """Starts of uses that are placed one after the other, and again when they are in the way of another one."""

    def __init__(self, uses: _Uses, limits: Mapping[Hashable, int], ii: int) -> None:
        self.uses, self.limits, self.ii = uses, limits, ii
        rows = len(uses.paths)
        self.start = numpy.zeros(rows, dtype=numpy.int64)
        self.placed = numpy.zeros(rows, dtype=bool)
        self.placed[0] = True  # the start of the iteration, in cycle 0
        self.last = numpy.full(rows, -1, dtype=numpy.int64)  #: where a use was placed last
        self.users: dict[tuple[Hashable, int], list[int]] = defaultdict(list)

    def run(self, placements: int) -> list[int] | None:
        """Starts of all uses; None if that many placements do not suffice."""
        uses = self.uses
        waiting = [(uses.asap[row - 1], row) for row in range(1, len(uses.paths))]
        heapify(waiting)
        while waiting:
            if placements == 0:
                return None
            placements -= 1
            for other in self._place(heappop(waiting)[1]):
                heappush(waiting, (uses.asap[other - 1], other))
        return self.start[1:].tolist()

    def _place(self, row: int) -> list[int]:
        """Place a use; returns those that are in its way, which have no place any more."""
        paths, resource = self.uses.paths, self.uses.resources[row - 1]
        earliest = int((self.start + paths[:, row])[self.placed].max())
        latest = min(int((self.start - paths[row])[self.placed].min()), earliest + self.ii - 1)
        free = (at for at in range(earliest, latest + 1) if self._room(resource, at))
        at = next(free, None)
        if at is None:
            last = -int(paths[row, 0])  # that the start of the iteration allows
            at = max(earliest, int(self.last[row]) + 1)
            at = at if at <= last else min(earliest, last)
        self.start[row] = self.last[row] = at
        apart = (at + paths[row] > self.start) | (self.start + paths[:, row] > at)
        evicted = [other for other in numpy.flatnonzero(apart & self.placed).tolist() if other != row]
        users = self.users[resource, at % self.ii]
        beside = [other for other in users if other not in evicted]
        evicted += beside[: max(0, len(beside) - self.limits[resource] + 1)]
        for other in evicted:
            self.placed[other] = False
            self.users[self.uses.resources[other - 1], int(self.start[other]) % self.ii].remove(other)
        users.append(row)
        self.placed[row] = True
        return evicted

    def _room(self, resource: Hashable, at: int) -> bool:
        return len(self.users[resource, at % self.ii]) < self.limits[resource]


def _ceil_div(values: numpy.ndarray, divisor: int) -> numpy.ndarray:
    return numpy.where(values <= NEVER // 2, NEVER, -(-values // divisor))

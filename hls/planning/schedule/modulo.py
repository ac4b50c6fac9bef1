"""Modulo scheduling: the smallest initiation interval, and at that interval the fewest pipeline registers."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from ...differences import Constraint, DifferenceSystem
from ...narrow import present
from .chaining import chain_constraints
from .explain import Bottleneck, explain_cycle, explain_resource
from .lifetime import fewest_registers, length_of, register_bits
from .problem import Problem, topological
from .slots import SearchLimit, find_starts, place_by_eviction

__all__ = ["Infeasible", "Scheduler", "Solution", "constraint_system", "schedule"]

TRIES = 5_000  # slots tried for limited resources at one II before the next II is tried
SHIFTS = 16  # placements of limited resources among which the shortest schedule is taken


class Infeasible(ValueError):
    """No such schedule exists. ``bottleneck`` says why; its ``ii`` is the least possible one (None: none is)."""

    def __init__(self, message: str, bottleneck: Bottleneck) -> None:
        self.bottleneck = bottleneck
        super().__init__(f"{message}\n{bottleneck.describe()}")


@dataclass(frozen=True)
class Solution:
    """A verified schedule of ``problem``: the start (cycle) of every operation.

    ``recurrence_ii`` and ``resource_ii`` are the two lower bounds. ``bottleneck`` says what forbids a smaller II than
    the least possible one (None if that is 1). ``minimal`` is False when the II is larger than the least one because it
    was requested, or when the resource search gave up on a smaller II undecided.
    """

    problem: Problem
    ii: int
    start: Mapping[Hashable, int]
    recurrence_ii: int
    resource_ii: int
    bottleneck: Bottleneck | None
    minimal: bool

    @property
    def length(self) -> int:
        """Cycles from the start of an iteration to its last result."""
        return length_of(self.problem, self.start)

    @property
    def register_bits(self) -> float:
        """Bits of pipeline registers between operations."""
        return register_bits(self.problem, self.start)

    def verify(self) -> None:
        """Check the schedule against the problem's rules (InvalidSchedule)."""
        self.problem.verify(self.ii, self.start)


def schedule(
    problem: Problem,
    ii_request: int | None = None,
    max_ii: int | None = None,
    *,
    slack: int | None = 0,
    weights: Mapping[Hashable, float] | None = None,
) -> Solution:
    """Schedule ``problem`` at exactly ``ii_request``, or at the least II that works, up to ``max_ii``.

    Registers are minimized among schedules at most ``slack`` cycles longer than the shortest at that II (None: of any
    length), counting ``weights`` (default: widths) for each value and cycle. Where resources are limited, their slots
    are chosen first, as the best of a few placements; length and registers are the least for these slots.

    Raises ProblemError for a problem that contradicts itself, :class:`Infeasible` when there is no such schedule, and
    ValueError for an II below 1.
    """
    return Scheduler(problem).solve(ii_request, max_ii, slack=slack, weights=weights)


@dataclass(frozen=True)
class Scheduler:
    """A problem, and its bounds that hold before any schedule. Each bound is computed on first use.

    Raises ProblemError for a problem that contradicts itself.
    """

    problem: Problem

    def __post_init__(self) -> None:
        self.problem.check()

    @cached_property
    def least(self) -> int:
        """The least II that works, as far as the search for limited resources decides it. Raises :class:`Infeasible` if
        none does."""
        return self._found[0]

    @cached_property
    def recurrence_ii(self) -> int:
        """The least II that recurrences allow. Raises :class:`Infeasible` if they allow none."""
        least, proof = self._system.minimum
        if least is None:
            raise Infeasible("the loop cannot be scheduled", explain_cycle(self.problem, present(proof)))
        return least

    @cached_property
    def resource_ii(self) -> int:
        """The least II at which all uses of each limited resource fit."""
        return self._resource[0]

    @cached_property
    def bottleneck(self) -> Bottleneck | None:
        """What forbids an II below the least (None if that is 1)."""
        ii, fixed, _ = self._found
        return _crowded(self.problem, ii) if fixed and ii > self._bound else self._bounding

    @cached_property
    def _bounding(self) -> Bottleneck | None:
        """What forbids an II below both bounds (None if that is 1)."""
        if self.resource_ii > self.recurrence_ii:
            return self._resource[1]
        proof = self._system.minimum[1]
        return explain_cycle(self.problem, proof) if proof else None

    def solve(
        self,
        ii_request: int | None = None,
        max_ii: int | None = None,
        *,
        slack: int | None = 0,
        weights: Mapping[Hashable, float] | None = None,
    ) -> Solution:
        """Like :func:`schedule`."""
        if min(1 if ii_request is None else ii_request, 1 if max_ii is None else max_ii) < 1:
            raise ValueError(f"an II is at least 1: ii_request {ii_request}, max_ii {max_ii}")
        if ii_request is not None and ii_request < self._bound:
            raise Infeasible(f"II {ii_request} was asked for", present(self._bounding))
        free = ii_request is None and max_ii is None
        ii, fixed, proved = self._found if free else self._search(ii_request, max_ii)
        bottleneck = _crowded(self.problem, ii) if fixed and ii > self._bound and ii_request is None else self._bounding
        start = _minimize(self.problem, self._system, ii, fixed, slack, weights)
        minimal = proved and (ii_request is None or ii == self._bound)
        solution = Solution(
            problem=self.problem,
            ii=ii,
            start=MappingProxyType(start),
            recurrence_ii=self.recurrence_ii,
            resource_ii=self.resource_ii,
            bottleneck=bottleneck,
            minimal=minimal,
        )
        solution.verify()
        return solution

    @cached_property
    def _system(self) -> DifferenceSystem:
        return constraint_system(self.problem)

    @cached_property
    def _resource(self) -> tuple[int, Bottleneck | None]:
        return _resource_bound(self.problem)

    @property
    def _bound(self) -> int:
        return max(self.recurrence_ii, self.resource_ii)

    @cached_property
    def _found(self) -> tuple[int, dict, bool]:
        return self._search(None, None)

    def _search(self, ii_request: int | None, max_ii: int | None) -> tuple[int, dict, bool]:
        """The II, starts of operations with limited resources, and whether each smaller II is known to be
        impossible."""
        # One after the other, with an ii larger than the sum of all, no two uses collide: an upper limit where
        # resources alone matter.
        first = self._bound if ii_request is None else ii_request
        last = ii_request or max_ii or self._bound + sum(op.latency + 2 for op in self.problem.operations)
        proved = True
        for ii in range(first, last + 1):
            if all(op.resource is None for op in self.problem.operations):
                return ii, {}, proved
            try:
                fixed = find_starts(self.problem, self._system, ii, TRIES)
            except SearchLimit:
                fixed, proved = place_by_eviction(self.problem, self._system, ii), False
            if fixed is not None:
                return ii, fixed, proved
        bottleneck = self._bounding
        if bottleneck is None or self._bound <= last:
            bottleneck = _crowded(self.problem, last + 1)
        raise Infeasible(f"no schedule has an II of at most {last}", bottleneck)


def constraint_system(problem: Problem) -> DifferenceSystem:
    """Everything but limited resources, as difference constraints. Node i is operation i; the last node is cycle 0."""
    index = {operation.key: i for i, operation in enumerate(problem.operations)}
    root = len(index)
    constraints = [*_dependence_constraints(problem, index), *_bound_constraints(problem, index, root)]
    for first, last in chain_constraints(problem):
        cycles = problem.by_key[first].latency + 1
        constraints.append(Constraint(index[first], index[last], cycles, kind="chain"))
    inner = [(dep.src, dep.dst) for dep in problem.dependences if dep.distance == 0]
    order = dict.fromkeys([*topological(list(index), inner), *problem.chain_order])
    return DifferenceSystem(root + 1, constraints, [root, *(index[key] for key in order)])


def _dependence_constraints(problem, index):
    for dep in problem.dependences:
        passed = "forwarded" if dep.forwarded else "carried"
        kind = (passed if dep.distance else "value") if dep.data else "order"
        cycles = problem.by_key[dep.src].latency + dep.cycles
        yield Constraint(index[dep.src], index[dep.dst], cycles, dep.distance, kind)


def _bound_constraints(problem, index, root):
    bounded = any(op.latest is not None for op in problem.operations)
    for op in problem.operations:
        if op.earliest or bounded:  # with latest starts, even "not before 0" may be part of a contradiction
            yield Constraint(root, index[op.key], op.earliest, kind="earliest")
        if op.latest is not None:
            yield Constraint(index[op.key], root, -op.latest, kind="latest")
    for group in problem.groups:
        for first, second in pairwise(group):
            yield Constraint(index[first], index[second], 0, kind="group")
            yield Constraint(index[second], index[first], 0, kind="group")


def _resource_bound(problem) -> tuple[int, Bottleneck | None]:
    """The least II at which all uses of each resource fit, and the bottleneck of the resource that needs the
    largest."""
    uses = Counter(op.resource for op in problem.operations if op.resource is not None)
    bounds = {resource: -(-count // problem.limits[resource]) for resource, count in uses.items()}
    if not bounds:
        return 1, None
    worst = max(bounds, key=bounds.__getitem__)
    return bounds[worst], explain_resource(problem, worst, uses[worst], bounds[worst])


def _crowded(problem, ii) -> Bottleneck:
    """The bottleneck when both lower bounds allow a smaller II, but not together."""
    uses = Counter(op.resource for op in problem.operations if op.resource is not None)
    worst = max(uses, key=lambda resource: uses[resource] / problem.limits[resource])
    return explain_resource(problem, worst, uses[worst], ii)


def _minimize(problem, system, ii, fixed, slack, weights):
    shortest, fixed = min(
        ((_shortest(problem, system, ii, starts), starts) for starts in _alternatives(problem, system, ii, fixed)),
        key=lambda pair: pair[0],
    )
    length = None if slack is None else shortest + slack
    slots = {key: start % ii for key, start in fixed.items()}
    return fewest_registers(problem, system, ii, length, slots, weights)


def _alternatives(problem, system, ii, fixed):
    """Further placements of the limited resources: the search returns any, and some give shorter schedules than
    others."""
    yield fixed
    for shift in range(1, min(ii, SHIFTS) if fixed else 1):
        try:
            yield find_starts(problem, system, ii, TRIES, shift) or fixed
        except SearchLimit:
            return  # the others take as long


def _shortest(problem, system, ii, fixed) -> int:
    """The least length of a schedule in which the operations of ``fixed`` start as given."""
    root = len(problem.operations)
    pins = [
        pin
        for i, op in enumerate(problem.operations)
        if op.key in fixed
        for pin in (
            Constraint(root, i, fixed[op.key], kind="earliest"),
            Constraint(i, root, -fixed[op.key], kind="latest"),
        )
    ]
    pinned = system.with_more(pins, ii) if pins else system
    start = pinned.solution(ii)
    return length_of(problem, {op.key: start[i] for i, op in enumerate(problem.operations)})

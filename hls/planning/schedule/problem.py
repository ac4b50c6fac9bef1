"""The scheduling problem of one pipelined loop body, and what a correct schedule of it is.

Time is in cycles of the kernel clock from the start of an iteration; iteration ``i`` starts ``i * ii`` cycles after the
first. The rules, which :meth:`Problem.verify` checks one by one:

1. Every operation starts at an integer cycle within its ``earliest .. latest``; operations of a group start in the same
   cycle.
2. A result is available ``latency`` cycles after the start. An operation of latency 0 is combinational: it ends in the
   cycle in which it starts.
3. A dependence of distance 0 requires ``start[dst] >= start[src] + latency(src) + min_cycles`` (0 when not given).
4. A dependence of distance d >= 1 requires ``start[dst] + d * ii >= start[src] + latency(src) + min_cycles``. A value
   (not a mere order) passes through a state register, written at the end of the cycle in which the value is available:
   its ``min_cycles`` is 1 when not given, and may not be less. A ``forwarded`` one may be read in that cycle, past the
   register; the ``delay`` of dst includes the way there from the register inside src.
5. A value used in the cycle in which it becomes available continues a combinational chain; a value used later comes
   from a register. Chains start with 0 ns at a register, or with ``out_delay`` after an operation that has registers
   inside, and add the ``delay`` of every operation they enter. None may exceed ``period_ns - overhead_ns``.
6. An operation that by itself exceeds that (see :attr:`Problem.overlong`) stands alone: registers before and after.
7. In each of the ii cycles at most ``limits[r]`` operations that use resource r start.
"""

import math
from collections import Counter, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["Dependence", "InvalidSchedule", "Operation", "Problem", "ProblemError"]

EPSILON_NS = 1e-9  # sums of delays are compared with the period up to rounding


class ProblemError(ValueError):
    """The problem contradicts itself, whatever the schedule."""


class InvalidSchedule(ValueError):
    """A schedule that breaks the rules; ``violations`` lists where, one line each."""

    def __init__(self, violations: list[str]) -> None:
        self.violations = tuple(violations)
        super().__init__("\n".join(violations))


@dataclass(frozen=True)
class Operation:
    """One operation.

    ``delay`` is what a combinational operation adds to a chain, or the time up to the first register of an operation
    with latency; ``out_delay`` is the time from the last register to the output beyond that of a plain register (both
    in ns). ``width`` is the number of bits of the result. ``earliest`` == ``latest`` pins the operation to a cycle.
    """

    key: Hashable
    latency: int = 0
    delay: float = 0.0
    out_delay: float = 0.0
    width: int = 1
    resource: Hashable | None = None
    earliest: int = 0
    latest: int | None = None


@dataclass(frozen=True)
class Dependence:
    """``dst`` of iteration i + distance needs ``src`` of iteration i: its value, or (``data`` False) only the order."""

    src: Hashable
    dst: Hashable
    distance: int = 0
    min_cycles: int | None = None  #: from the end of src to the start of dst; negative only for an order
    data: bool = True
    forwarded: bool = False  #: to a later iteration, past the state register

    @property
    def cycles(self) -> int:
        """``min_cycles`` with its default."""
        if self.min_cycles is not None:
            return self.min_cycles
        return 1 if self.distance and self.data and not self.forwarded else 0

    @property
    def chains(self) -> bool:
        """Whether the value can be used in the cycle in which it becomes available."""
        return self.data and self.distance == 0 and self.cycles == 0


@dataclass(frozen=True)
class Problem:
    """Operations, dependences, the clock, the limit of each resource per cycle, and groups that start together."""

    operations: tuple[Operation, ...]
    dependences: tuple[Dependence, ...]
    period_ns: float
    overhead_ns: float = 0.0
    limits: Mapping[Hashable, int] = field(default_factory=dict)
    groups: tuple[tuple[Hashable, ...], ...] = ()

    @cached_property
    def by_key(self) -> dict[Hashable, Operation]:
        """The operations by their keys."""
        return {operation.key: operation for operation in self.operations}

    @property
    def budget_ns(self) -> float:
        """The longest chain that fits the clock, in ns."""
        return self.period_ns - self.overhead_ns

    def exceeds(self, ns: float) -> bool:
        """Whether a chain of ``ns`` does not fit the clock."""
        return ns > self.budget_ns + EPSILON_NS

    @cached_property
    def overlong(self) -> tuple[Operation, ...]:
        """Operations that miss the clock on their own, however they are scheduled: worth a warning."""
        return tuple(op for op in self.operations if self.exceeds(op.delay) or self.exceeds(op.out_delay))

    @cached_property
    def chain_order(self) -> tuple[Hashable, ...]:
        """All operations, sources of distance-0 values before their users. ProblemError if values form a cycle."""
        order = topological(
            [op.key for op in self.operations], [(d.src, d.dst) for d in self.dependences if d.distance == 0 and d.data]
        )
        if len(order) < len(self.operations):
            stuck = sorted(map(str, self.by_key.keys() - set(order)))
            raise ProblemError(f"values depend on themselves within one iteration, in or behind {', '.join(stuck[:8])}")
        return order

    @cached_property
    def chain_rank(self) -> dict[Hashable, int]:
        """The position of each operation in ``chain_order``."""
        return {key: rank for rank, key in enumerate(self.chain_order)}

    @cached_property
    def chain_users(self) -> dict[Hashable, list[Hashable]]:
        """For each operation, those that can use its result in the cycle in which it becomes available."""
        users: dict[Hashable, list[Hashable]] = {operation.key: [] for operation in self.operations}
        for dependence in self.dependences:
            if dependence.chains:
                users[dependence.src].append(dependence.dst)
        return users

    def check(self) -> None:
        """Raise :class:`ProblemError` at the first contradiction; a problem that passes may still be infeasible."""
        if len(self.by_key) < len(self.operations):
            double = [k for k, n in Counter(op.key for op in self.operations).items() if n > 1]
            raise ProblemError(f"operation {double[0]} is given twice")
        if not 0 <= self.overhead_ns < self.period_ns < math.inf:
            raise ProblemError(f"a period of {self.period_ns} ns leaves nothing beside {self.overhead_ns} ns overhead")
        for operation in self.operations:
            self._check_operation(operation)
        for dependence in self.dependences:
            self._check_dependence(dependence)
        for group in self._together():
            self._check_together(group)
        for name, limit in self.limits.items():
            if limit < 1:
                raise ProblemError(f"resource {name} has limit {limit}; at least 1 is needed")
        _ = self.chain_order  # raises on a cycle of values

    def _check_operation(self, op: Operation) -> None:
        numbers = (op.delay, op.out_delay)
        if op.latency < 0 or op.width < 0 or op.earliest < 0 or not all(0 <= x < math.inf for x in numbers):
            raise ProblemError(f"operation {op.key} has a negative or infinite latency, delay, width or earliest start")
        if op.latency == 0 and op.out_delay:
            raise ProblemError(f"operation {op.key} is combinational: it has a delay, but no out_delay")
        if op.latest is not None and op.latest < op.earliest:
            raise ProblemError(f"operation {op.key} is to start after {op.earliest} and before {op.latest}")
        if op.resource is not None and op.resource not in self.limits:
            raise ProblemError(f"operation {op.key} uses resource {op.resource}, which has no limit")

    def _check_dependence(self, dep: Dependence) -> None:
        for key in (dep.src, dep.dst):
            if key not in self.by_key:
                raise ProblemError(f"a dependence names {key}, which is no operation")
        if dep.distance < 0:
            raise ProblemError(f"the dependence of {dep.dst} on {dep.src} has a negative distance")
        if dep.data and dep.cycles < (1 if dep.distance and not dep.forwarded else 0):
            raise ProblemError(
                f"the value of {dep.src} cannot reach {dep.dst} in {dep.cycles} cycles: "
                + ("it passes through a register" if dep.distance else "it is not there before")
            )

    def _together(self) -> list[tuple]:
        """Operations that must start in the same cycle: the groups, and operations pinned to the same cycle."""
        pinned: dict[int, list] = {}
        for op in self.operations:
            if op.latest == op.earliest:
                pinned.setdefault(op.latest, []).append(op.key)
        return [*self.groups, *map(tuple, pinned.values())]

    def _check_together(self, group: tuple) -> None:
        if unknown := [key for key in group if key not in self.by_key]:
            raise ProblemError(f"a group names {unknown[0]}, which is no operation")
        uses = Counter(self.by_key[key].resource for key in group if self.by_key[key].resource is not None)
        for resource, count in uses.items():
            if count > self.limits[resource]:
                raise ProblemError(
                    f"{', '.join(map(str, group))} start together and use {resource} {count} times, "
                    f"{self.limits[resource]} is its limit"
                )

    def verify(self, ii: int, start: Mapping[Hashable, int]) -> None:
        """Check a schedule against every rule, independently of how it was found. Raises InvalidSchedule with all
        violations."""
        if ii < 1 or start.keys() != self.by_key.keys() or not all(isinstance(s, int) for s in start.values()):
            raise InvalidSchedule(["the schedule needs an II of at least 1 and an integer start of each operation"])
        faults = [
            *self._bound_faults(start),
            *self._dependence_faults(ii, start),
            *self._chain_faults(start),
            *self._resource_faults(ii, start),
        ]
        if faults:
            raise InvalidSchedule(faults)

    def _bound_faults(self, start):
        for op in self.operations:
            if start[op.key] < op.earliest or (op.latest is not None and start[op.key] > op.latest):
                yield f"{op.key} starts at {start[op.key]}, not within {op.earliest} .. {op.latest}"
        for group in self.groups:
            if len({start[key] for key in group}) > 1:
                yield f"group {group} does not start in one cycle"

    def _dependence_faults(self, ii, start):
        for dep in self.dependences:
            ready = start[dep.src] + self.by_key[dep.src].latency + dep.cycles
            if start[dep.dst] + dep.distance * ii < ready:
                yield (
                    f"{dep.dst} starts at {start[dep.dst]} (distance {dep.distance}) but {dep.src} lets it start "
                    f"at {ready}"
                )

    def _chain_faults(self, start):
        arrival = {op.key: 0.0 for op in self.operations}  # at the inputs
        users: dict[Hashable, list[Hashable]] = {op.key: [] for op in self.operations}
        for dep in self.dependences:
            if dep.chains:
                users[dep.src].append(dep.dst)
        for key in self.chain_order:
            op = self.by_key[key]
            # after a register, an overlong operation is no violation
            if self.exceeds(arrival[key] + op.delay) and arrival[key] > 0:
                yield f"the chain into {key} takes {arrival[key] + op.delay:.3f} of {self.budget_ns:.3f} ns"
            leaves = op.out_delay if op.latency else arrival[key] + op.delay
            for user in users[key]:
                if start[user] == start[key] + op.latency:
                    arrival[user] = max(arrival[user], leaves)

    def _resource_faults(self, ii, start):
        for resource, slot, count in self.crowded(ii, start):
            yield f"resource {resource} has {count} uses in cycle {slot} of {ii}, limit {self.limits[resource]}"

    def crowded(self, ii: int, start: Mapping[Hashable, int]) -> list[tuple[Hashable, int, int]]:
        """(resource, cycle, uses) where tokens that start a multiple of ``ii`` cycles apart use a resource more often
        than its limit."""
        uses = Counter((op.resource, start[op.key] % ii) for op in self.operations if op.resource is not None)
        return [(resource, cycle, count) for (resource, cycle), count in uses.items() if count > self.limits[resource]]


def topological(keys: list, edges: list[tuple]) -> tuple:
    """``keys`` with sources before destinations, otherwise in the given order; keys on cycles, or that depend on them,
    are absent."""
    users: dict[Hashable, list] = {key: [] for key in keys}
    missing = dict.fromkeys(keys, 0)
    for src, dst in edges:
        users[src].append(dst)
        missing[dst] += 1
    ready, order = deque(key for key in keys if not missing[key]), []
    while ready:
        key = ready.popleft()
        order.append(key)
        for user in users[key]:
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return tuple(order)

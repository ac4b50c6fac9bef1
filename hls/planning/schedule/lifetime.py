"""Finds, of all schedules with a given II, the one with the fewest pipeline register bits.

A value is live from the cycle in which it becomes available to the last one in which an operation of the same iteration
uses it, and takes a register of its width for every cycle in between. With a variable for each start and one for the
end of each lifetime, the sum is linear and every constraint is a difference of two variables. So the matrix is totally
unimodular and the vertices of the linear program are integral. Values carried to later iterations are held in state
registers, whose bits do not depend on the schedule.
"""

from collections.abc import Hashable, Mapping

import numpy

from ...differences import DifferenceSystem
from .linear import DifferenceProgram
from .problem import Problem

__all__ = ["fewest_registers", "length_of", "register_bits"]

INTEGRAL = 1e-6  # rounding tolerance: how far a vertex may be from integers


def register_bits(
    problem: Problem, start: Mapping[Hashable, int], weights: Mapping[Hashable, float] | None = None
) -> float:
    """Pipeline register bits of a schedule: for every value its width (or ``weights[key]``) for each cycle it waits."""
    last: dict[Hashable, int] = {}
    costs = _costs(problem, weights)
    for src, dst in _uses(problem):
        last[src] = max(last.get(src, 0), start[dst])
    return sum(costs[key] * (end - start[key] - problem.by_key[key].latency) for key, end in last.items())


def length_of(problem: Problem, start: Mapping[Hashable, int]) -> int:
    """Cycles from the start of an iteration to the last result."""
    return max((start[op.key] + op.latency for op in problem.operations), default=0)


def fewest_registers(
    problem: Problem,
    system: DifferenceSystem,
    ii: int,
    length: int | None = None,
    slots: Mapping[Hashable, int] | None = None,
    weights: Mapping[Hashable, float] | None = None,
) -> dict[Hashable, int]:
    """Starts that minimize :func:`register_bits` among schedules at a feasible ``ii``.

    ``length`` limits the schedule's length in cycles (None: only the registers count). ``slots`` fixes the start of
    each operation with a limited resource modulo ii; the program then has integer variables of its own. Among equal
    schedules, one that starts its operations early is taken. RuntimeError if the solver fails, which it does not for
    feasible input.
    """
    if not problem.operations:
        return {}
    program = _Program(problem, system, ii, length, slots or {}, _costs(problem, weights))
    solution = program.solve()
    rounded = numpy.rint(solution)
    if numpy.abs(solution - rounded).max(initial=0.0) > INTEGRAL:
        raise RuntimeError("the linear program of pipeline registers has no integral solution")
    return {op.key: int(value) for op, value in zip(problem.operations, rounded)}


def _costs(problem: Problem, weights: Mapping[Hashable, float] | None) -> dict[Hashable, float]:
    costs: dict[Hashable, float] = {op.key: op.width for op in problem.operations}
    return costs if weights is None else {key: weights.get(key, width) for key, width in costs.items()}


def _uses(problem: Problem):
    return [(dep.src, dep.dst) for dep in problem.dependences if dep.data and dep.distance == 0]


class _Program:
    """Variables: a start for every operation, an end for every value with uses, a multiple of ii for every slot."""

    def __init__(self, problem, system, ii, length, slots, costs) -> None:
        self.problem = problem
        index = {op.key: i for i, op in enumerate(problem.operations)}
        uses = [(src, dst) for src, dst in _uses(problem) if costs[src] > 0]
        ends = {src: len(index) + i for i, src in enumerate(dict.fromkeys(src for src, _ in uses))}
        size = len(index) + len(ends)
        multiples = range(size, size + len(slots))
        rows = [
            (c.src, c.dst, c.distance * ii - c.cycles) for c in system.constraints if max(c.src, c.dst) < len(index)
        ]
        rows += [(index[dst], ends[src], 0) for src, dst in uses]
        bounds = [self._range(op, length) for op in problem.operations] + [(0, numpy.inf)] * (len(ends) + len(slots))
        self.program = DifferenceProgram(
            self._objective(index, ends, costs, size + len(slots)),
            bounds,
            rows,
            equal=[(index[key], multiple, ii, slot) for (key, slot), multiple in zip(slots.items(), multiples)],
            integral=multiples,
        )

    def solve(self):
        return self.program.solve()[: len(self.problem.operations)]

    def _objective(self, index, ends, costs, size):
        # A start counts a little, for determinism: less than one bit if every operation waited as long as all take.
        little = 0.5 / (1 + len(index) * sum(op.latency + 1 for op in self.problem.operations))
        objective = numpy.zeros(size)
        objective[: len(index)] = max(little, 1e-6)
        for key, end in ends.items():
            objective[end] += costs[key]
            objective[index[key]] -= costs[key]
        return objective

    @staticmethod
    def _range(op, length):
        latest = numpy.inf if op.latest is None else op.latest
        return op.earliest, latest if length is None else min(latest, length - op.latency)

"""Random scheduling problems, and an exact solver for small ones that shares only the rules with the scheduler."""

import random

import numpy
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from hls.planning.schedule.problem import Dependence, Operation, Problem

BUDGET = 4.0


def make_problem(seed, size=7, limited=False, recurrences=2, tight=False):
    """A random loop body: a few latencies, delays of up to the budget, values, orders and recurrences."""
    rng = random.Random(seed)
    operations, dependences = [], []
    for key in range(size):
        latency = rng.choice([0, 0, 0, 1, 3])
        operations.append(
            Operation(
                key,
                latency,
                delay=rng.choice([0.0, 0.5, 1.5, 2.5]),
                out_delay=rng.choice([0.0, 1.0]) if latency else 0.0,
                width=rng.choice([1, 8, 32]),
                resource=rng.choice([None, "port", "port"]) if limited else None,
                earliest=rng.choice([0, 0, 2]) if tight else 0,
            )
        )
        for src in rng.sample(range(key), min(key, rng.choice([1, 1, 2]))):
            dependences.append(Dependence(src, key, data=rng.random() < 0.9, min_cycles=rng.choice([None, None, 1])))
    for _ in range(recurrences):
        dst, src = sorted(rng.sample(range(size), 2))
        data = rng.random() < 0.7
        dependences.append(Dependence(src, dst, rng.choice([1, 1, 2]), None if data else rng.choice([0, 1]), data))
    groups = (tuple(rng.sample(range(size), 2)),) if tight and rng.random() < 0.3 else ()
    return Problem(tuple(operations), tuple(dependences), BUDGET + 1.0, 1.0, {"port": rng.choice([1, 2])}, groups)


class Exact:
    """A mixed integer program at one II: integer starts, arrival times, and a binary for "used a cycle later"."""

    def __init__(self, problem, ii):
        self.problem, self.ii = problem, ii
        self.rows, self.low, self.high, self.integer, self.upper = [], [], [], [], []
        self.start = {op.key: self.variable(integer=True) for op in problem.operations}
        self.length = self.variable()
        for op in problem.operations:
            self.row({self.length: 1, self.start[op.key]: -1}, op.latency)
            self.row({self.start[op.key]: 1}, op.earliest, numpy.inf if op.latest is None else op.latest)
        for group in problem.groups:
            for other in group[1:]:
                self.row({self.start[group[0]]: 1, self.start[other]: -1}, 0, 0)
        self.chains()
        self.resources()
        self.ends = self.lives()

    def variable(self, integer=False, upper=200):
        self.integer.append(int(integer))
        self.upper.append(upper)
        return len(self.upper) - 1

    def row(self, terms, low, high=numpy.inf):
        self.rows.append(terms)
        self.low.append(low)
        self.high.append(high)

    def chains(self):
        problem, arrival = self.problem, {}
        for op in problem.operations:
            arrival[op.key] = self.variable(upper=problem.budget_ns - op.delay)
        for dep in problem.dependences:
            src = problem.by_key[dep.src]
            gap = {self.start[dep.dst]: 1, self.start[dep.src]: -1} if dep.src != dep.dst else {}
            self.row(gap, src.latency + dep.cycles - dep.distance * self.ii)
            if dep.chains:
                later, big = self.variable(integer=True, upper=1), 2 * problem.budget_ns
                self.row(gap | {later: -1}, src.latency)
                if src.latency:
                    self.row({arrival[dep.dst]: 1, later: big}, src.out_delay)
                else:
                    self.row({arrival[dep.dst]: 1, arrival[dep.src]: -1, later: big}, src.delay)

    def resources(self):
        used = {}
        for op in self.problem.operations:
            if op.resource is not None:
                turns = self.variable(integer=True)
                slots = [self.variable(integer=True, upper=1) for _ in range(self.ii)]
                self.row({slot: 1 for slot in slots}, 1, 1)
                self.row({self.start[op.key]: 1, turns: -self.ii} | {s: -t for t, s in enumerate(slots)}, 0, 0)
                used.setdefault(op.resource, []).append(slots)
        for resource, all_slots in used.items():
            for same in zip(*all_slots):
                self.row({slot: 1 for slot in same}, 0, self.problem.limits[resource])

    def lives(self):
        ends = {}
        for dep in self.problem.dependences:
            if dep.data and dep.distance == 0:
                end = ends.setdefault(dep.src, None) or self.variable()
                ends[dep.src] = end
                self.row({end: 1, self.start[dep.dst]: -1}, 0)
        return ends

    def minimize(self, terms):
        """The least value of the weighted variables, or None when there is no schedule."""
        matrix = numpy.zeros((len(self.rows), len(self.upper)))
        for i, row in enumerate(self.rows):
            for variable, factor in row.items():
                matrix[i, variable] += factor
        cost = numpy.zeros(len(self.upper))
        for variable, factor in terms.items():
            cost[variable] += factor
        result = milp(
            cost,
            integrality=self.integer,
            bounds=Bounds(0, self.upper),
            constraints=LinearConstraint(matrix, self.low, self.high),
        )
        assert result.status in (0, 2), result.message
        return None if result.x is None else result.fun

    def feasible(self):
        return self.minimize({}) is not None

    def least_length(self):
        return round(self.minimize({self.length: 1}))

    def least_bits(self, length=None):
        if length is not None:
            self.row({self.length: 1}, 0, length)
        terms, fixed = {}, 0
        for key, end in self.ends.items():
            op = self.problem.by_key[key]
            terms[end] = op.width
            terms[self.start[key]] = -op.width
            fixed += op.width * op.latency
        return round(self.minimize(terms) - fixed)


@pytest.fixture
def problem_of():
    return make_problem


@pytest.fixture
def exact():
    return Exact

"""Chaining constraints are equivalent to the rules about chains, without redundancy."""

import random

import pytest

from hls.planning.schedule.chaining import chain_constraints, longest_chain
from hls.planning.schedule.problem import Dependence, InvalidSchedule, Operation, Problem
from tests.repetitions import sampled


def random_start(problem, rng):
    """Starts that respect the dependences of distance 0 and nothing else."""
    start = {}
    for key in problem.chain_order:
        ready = [
            start[d.src] + problem.by_key[d.src].latency + d.cycles
            for d in problem.dependences
            if d.dst == key and d.distance == 0 and d.src in start
        ]
        start[key] = max(ready, default=0) + rng.choice([0, 0, 0, 0, 1])
    return start


def chains_hold(problem, start):
    try:
        problem.verify(10_000, start)
    except InvalidSchedule:
        return False
    return True


@pytest.mark.parametrize("seed", sampled(range(30)))
@pytest.mark.parametrize("budget", [1.0, 2.0, 4.0, 8.0])
def test_constraints_hold_exactly_when_chains_fit(problem_of, seed, budget):
    problem = problem_of(seed, size=12, recurrences=0)
    values = tuple(d for d in problem.dependences if d.data)
    problem = Problem(problem.operations, values, budget + 1.0, 1.0)
    pairs, rng, seen = chain_constraints(problem), random.Random(seed), set()
    for _ in range(60):
        start = random_start(problem, rng)
        apart = all(start[v] >= start[u] + problem.by_key[u].latency + 1 for u, v in pairs)
        assert apart == chains_hold(problem, start)
        seen.add(apart)
    if budget == 2.0 and pairs:
        assert False in seen, "the random starts never broke a chain: they tested nothing"


def all_long_pairs(problem):
    """Every pair joined by a chain that is too long, and which operations chains reach from which."""
    longest = {}
    for first in problem.chain_order:
        operation = problem.by_key[first]
        reached = {first: operation.out_delay if operation.latency else operation.delay}
        for dep in problem.dependences:  # these come with their sources in order
            if dep.src in reached and (dep.src == first or not problem.by_key[dep.src].latency):
                ns = reached[dep.src] + problem.by_key[dep.dst].delay
                reached[dep.dst] = max(reached.get(dep.dst, 0.0), ns)
        longest |= {(first, last): ns for last, ns in reached.items() if last != first}
    return {pair for pair, ns in longest.items() if problem.exceeds(ns)}, longest.keys()


@pytest.mark.parametrize("seed", range(10))
def test_few_constraints_imply_all(seed):
    """All that nothing implies are there, none is invented, and few are superfluous."""
    rng = random.Random(seed)
    operations = tuple(Operation(i, rng.choice([0] * 9 + [2]), delay=rng.choice([0.4, 0.8, 1.6])) for i in range(40))
    values = {(rng.randrange(max(0, i - 8), i), i) for i in range(1, 40) for _ in range(2)}
    problem = Problem(operations, tuple(Dependence(*value) for value in sorted(values)), 5.0)
    pairs, (long, reach) = set(chain_constraints(problem)), all_long_pairs(problem)
    needed = {
        (first, last)
        for first, last in long
        if not any(
            (first, middle) in reach
            and (
                (middle, last) in long
                or (first, middle) in long
                and (middle, last) in reach
                and not problem.by_key[middle].latency
            )
            for middle in range(first + 1, last)
        )
    }
    assert needed <= pairs <= long
    assert len(pairs) <= 1.2 * len(needed)


def test_a_long_row_needs_a_constraint_per_operation():
    size = 200
    operations = tuple(Operation(i, delay=1.0) for i in range(size))
    problem = Problem(operations, tuple(Dependence(i, i + 1) for i in range(size - 1)), 3.0)
    assert sorted(chain_constraints(problem)) == [(i, i + 3) for i in range(size - 3)]


@pytest.mark.parametrize("order", [("wire", "add"), ("add", "wire")])
def test_longest_chain_names_its_operations(order):
    delays = {"wire": 0.0, "add": 1.5}
    operations = (
        Operation("ram", 2, out_delay=0.7),
        *(Operation(key, delay=delays[key]) for key in order),
        Operation("mul", 3, delay=0.4),
    )
    dependences = tuple(d for key in order for d in (Dependence("ram", key), Dependence(key, "mul")))
    problem = Problem(operations, dependences, 2.0)
    assert longest_chain(problem, "ram", "mul") == (("ram", 0.7), ("add", 1.5), ("mul", 0.4))


@pytest.mark.parametrize("order", [("long", "short"), ("short", "long")])
def test_the_longer_of_two_ways_counts(order):
    delays = {"long": 1.0, "short": 0.5}
    operations = (
        Operation("in", delay=1.0),
        *(Operation(key, delay=delays[key]) for key in order),
        Operation("out", delay=1.5),
    )
    dependences = tuple(d for key in order for d in (Dependence("in", key), Dependence(key, "out")))
    assert chain_constraints(Problem(operations, dependences, 3.0)) == [("in", "out")]


def test_an_operation_with_registers_ends_a_chain_and_starts_another():
    operations = (Operation("a", delay=2.0), Operation("ram", 2, delay=1.5, out_delay=1.0), Operation("b", delay=1.5))
    problem = Problem(operations, (Dependence("a", "ram"), Dependence("ram", "b")), 3.0)
    assert chain_constraints(problem) == [("a", "ram")]
    slower_clock = Problem(operations, problem.dependences, 2.4)
    assert sorted(chain_constraints(slower_clock)) == [("a", "ram"), ("ram", "b")]

"""Chaining constraints say exactly what the rules say about chains, and nothing twice."""

import random

import pytest

from hls.schedule.chaining import chain_constraints, longest_chain
from hls.schedule.problem import Dependence, InvalidSchedule, Operation, Problem


def random_start(problem, rng):
    """Starts that respect the dependences of distance 0 and nothing else."""
    start = {}
    for key in problem.chain_order:
        ready = [start[d.src] + problem.by_key[d.src].latency + d.cycles for d in problem.dependences
                 if d.dst == key and d.distance == 0 and d.src in start]
        start[key] = max(ready, default=0) + rng.choice([0, 0, 0, 0, 1])
    return start


def chains_hold(problem, start):
    try:
        problem.verify(10_000, start)
    except InvalidSchedule:
        return False
    return True


@pytest.mark.parametrize("seed", range(30))
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


@pytest.mark.parametrize("seed", range(20))
def test_no_constraint_is_implied_by_the_others(problem_of, seed):
    problem = problem_of(seed, size=12, recurrences=0)
    pairs = set(chain_constraints(problem))
    users = {op.key: {d.dst for d in problem.dependences if d.src == op.key and d.chains} for op in problem.operations}

    def reach(first):
        """What can start in the cycle in which ``first`` ends, by dependences alone."""
        found, todo = set(), list(users[first])
        while todo:
            key = todo.pop()
            if key not in found:
                found.add(key)
                todo += users[key] if not problem.by_key[key].latency else []
        return found

    for first, last in pairs:
        others = {middle for middle in reach(first) if not problem.by_key[middle].latency and last in reach(middle)}
        assert not any((first, middle) in pairs or (middle, last) in pairs for middle in others)


def test_a_long_row_needs_a_constraint_per_operation():
    size = 200
    operations = tuple(Operation(i, delay=1.0) for i in range(size))
    problem = Problem(operations, tuple(Dependence(i, i + 1) for i in range(size - 1)), 3.0)
    assert sorted(chain_constraints(problem)) == [(i, i + 3) for i in range(size - 3)]


def test_longest_chain_names_its_operations():
    operations = (Operation("ram", 2, out_delay=0.7), Operation("wire"), Operation("add", delay=1.5),
                  Operation("mul", 3, delay=0.4))
    dependences = (Dependence("ram", "wire"), Dependence("ram", "add"), Dependence("wire", "mul"), Dependence("add", "mul"))
    problem = Problem(operations, dependences, 2.0)
    assert longest_chain(problem, "ram", "mul") == (("ram", 0.7), ("add", 1.5), ("mul", 0.4))


@pytest.mark.parametrize("order", [("long", "short"), ("short", "long")])
def test_the_longer_of_two_ways_counts(order):
    delays = {"long": 1.0, "short": 0.5}
    operations = (Operation("in", delay=1.0), *(Operation(key, delay=delays[key]) for key in order), Operation("out", delay=1.5))
    dependences = tuple(d for key in order for d in (Dependence("in", key), Dependence(key, "out")))
    assert chain_constraints(Problem(operations, dependences, 3.0)) == [("in", "out")]


def test_an_operation_with_registers_ends_a_chain_and_starts_another():
    operations = (Operation("a", delay=2.0), Operation("ram", 2, delay=1.5, out_delay=1.0), Operation("b", delay=1.5))
    problem = Problem(operations, (Dependence("a", "ram"), Dependence("ram", "b")), 3.0)
    assert chain_constraints(problem) == [("a", "ram")]
    slower_clock = Problem(operations, problem.dependences, 2.4)
    assert sorted(chain_constraints(slower_clock)) == [("a", "ram"), ("ram", "b")]

"""Least II of difference systems against the ratio of every simple cycle."""

import random

import networkx
import pytest

from hls.planning.schedule.differences import MANY, NEVER, Constraint, Cycle, DifferenceSystem
from tests.repetitions import half_long


def random_system(seed):
    rng = random.Random(seed)
    size = rng.randint(2, 7)
    constraints = []
    for _ in range(rng.randint(2, 14)):
        src, dst = rng.randrange(size), rng.randrange(size)
        distance = rng.choice([1, 1, 2, 3]) if src >= dst else rng.choice([0, 0, 0, 1])
        constraints.append(Constraint(src, dst, rng.randint(-2, 6), distance))
    return DifferenceSystem(size, constraints, range(size))


def greatest_ratio(system):
    """The largest of ceil(cycles / distance) over all simple cycles, by enumeration."""
    best = {}
    for c in system.constraints:
        best.setdefault((c.src, c.dst), []).append((c.cycles, c.distance))
    least = 1
    for nodes in networkx.simple_cycles(networkx.DiGraph(best.keys())):
        sums = {(0, 0)}
        for edge in zip(nodes, nodes[1:] + nodes[:1]):
            sums = {(a + c, b + d) for a, b in sums for c, d in best[edge]}
        least = max([least, *(-(-cycles // distance) for cycles, distance in sums)])
    return least


@pytest.mark.parametrize("seed", half_long(range(150)))
def test_minimum_is_the_greatest_cycle_ratio(seed):
    system = random_system(seed)
    least, proof = system.minimum
    assert least == greatest_ratio(system)
    if least == 1:
        assert proof is None
        return
    assert proof.bound == least
    closed = zip(proof.constraints, proof.constraints[1:] + proof.constraints[:1])
    assert all(a.dst == b.src for a, b in closed)


@pytest.mark.parametrize("seed", half_long(range(50)))
def test_least_solution(seed):
    system = random_system(seed)
    least, _ = system.minimum
    start = system.least(least)
    assert all(start[c.dst] + c.distance * least >= start[c.src] + c.cycles for c in system.constraints)
    raised = [node for node in range(system.size) if start[node]]
    for node in raised:  # each is held up by some constraint: no start can be earlier
        assert any(
            c.dst == node and start[c.src] + c.cycles - c.distance * least == start[node] for c in system.constraints
        )
    if least > 1:
        assert isinstance(system.least(least - 1), Cycle)


def test_infeasible_at_any_ii():
    system = DifferenceSystem(2, [Constraint(0, 1, 3), Constraint(1, 0, -2)], range(2))
    least, proof = system.minimum
    assert least is None
    assert (proof.cycles, proof.distance, proof.bound) == (1, 0, None)


def test_paths_from_a_node():
    system = DifferenceSystem(4, [Constraint(0, 1, 3), Constraint(1, 0, 2, 1), Constraint(1, 2, -1)], range(4))
    assert system.from_node(1, 5) == [-3, 0, -1, None]


def test_paths_among_many_nodes_are_those_from_each():
    rng = random.Random(1)
    size = 3 * MANY
    constraints = [
        Constraint(src, dst, rng.randint(-2, 6), 0 if src < dst else 4)
        for src, dst in (rng.sample(range(size // 2), 2) for _ in range(4 * size))
    ]
    system = DifferenceSystem(size, constraints, range(size))
    ii, _ = system.minimum
    nodes = rng.sample(range(size), 2 * MANY)
    rows = [system.from_node(node, ii) for node in nodes]
    found = system.paths(nodes, ii)
    assert found.tolist() == [[NEVER if row[n] is None else row[n] for n in nodes] for row in rows]
    assert (found == NEVER).any() and (found > 0).any()
    assert system.paths(nodes, ii) is found, "computed once"
    assert system.paths(nodes, ii + 1).tolist() != found.tolist()
    assert system.paths(nodes[:3], ii).tolist() == [row[:3] for row in found.tolist()[:3]], "few are those of many"

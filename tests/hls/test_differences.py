"""Least II of difference systems against the ratio of every simple cycle."""

import random

import networkx
import pytest

from hls.differences import MANY, NEVER, Constraint, Cycle, DifferenceSystem, _cycle
from tests.repetitions import sampled


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


@pytest.mark.parametrize("seed", sampled(range(150)))
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


@pytest.mark.parametrize("seed", sampled(range(50)))
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


@pytest.mark.parametrize("seed", sampled(range(60)))
def test_further_constraints_are_as_if_given_at_once(seed):
    rng, system = random.Random(seed), random_system(seed)
    ii = system.minimum[0] or 9
    more = [Constraint(rng.randrange(system.size), rng.randrange(system.size), rng.randint(-3, 4)) for _ in range(3)]
    more = [c for c in more if c.src != c.dst or c.cycles <= 0]
    at_once = DifferenceSystem(system.size, [*system.constraints, *more], range(system.size))
    system.least(ii)
    for asked in (ii, ii + 1):
        found, expected = system.with_more(more, ii).least(asked), at_once.least(asked)
        assert isinstance(found, Cycle) == isinstance(expected, Cycle)
        assert isinstance(found, Cycle) or found == expected
    assert system.with_more(more, ii).minimum[0] == at_once.minimum[0]


def test_pins_at_the_end_of_a_chain_take_no_pass_for_each_of_its_nodes():
    """A chain whose nodes are numbered from its end, in the order of the chain."""
    size = 200
    chain = [Constraint(node + 1, node, 1) for node in range(size - 1)]
    system = DifferenceSystem(size, chain, range(size - 1, -1, -1))
    pinned = system.with_more([Constraint(size - 1, 0, size + 5)], 1)
    assert pinned.solution(1) == [size + 5, *range(size - 2, -1, -1)]
    assert len(list(pinned._rounds([0] * size, 1, range(size)))) <= 3


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_solution_of_a_feasible_system(seed):
    """The one that a search for a cycle in each pass ends with, also where it is begun from that of fewer constraints
    or for another ii."""
    rng, system = random.Random(seed), random_system(seed)
    least = system.minimum[0]
    if least is None:
        return
    for ii in (least, least + 1, least):
        assert system.solution(ii) == system.least(ii)
        pins = [Constraint(0, node, rng.randint(0, 9)) for node in range(1, system.size)]
        pinned = system.with_more(pins, ii)
        found = pinned.least(ii)
        assert isinstance(found, Cycle) or pinned.solution(ii) == found
        assert system.solution(ii) == system.least(ii), "not changed by that of more constraints"


def test_the_proof_is_the_cycle_of_the_plain_algorithm():
    """Nodes that no pass raised are passed over, which changes neither the solution nor the cycle."""
    for seed in range(200):
        system = random_system(seed)
        for ii in range(1, system.minimum[0] or 6):
            assert system.least(ii) == plain_least(system, ii), (seed, ii)


def plain_least(system, ii):
    start, reason = [0] * system.size, [None] * system.size
    while True:
        changed = False
        for c in system.constraints:
            if start[c.src] + c.cycles - c.distance * ii > start[c.dst]:
                start[c.dst], reason[c.dst], changed = start[c.src] + c.cycles - c.distance * ii, c, True
        if not changed:
            return start
        if cycle := _cycle(reason):
            return cycle

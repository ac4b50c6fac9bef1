"""Components of graphs, and disjoint sets, beside those of networkx."""

import random

import networkx as nx
import pytest
from networkx.utils import UnionFind

from hls.analysis.components import DisjointSets, strongly_connected


def random_edges(rng: random.Random) -> list[tuple[int, int]]:
    nodes = rng.randint(1, 14)
    return [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randrange(3 * nodes))]


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed):
    """The same components in the same order: passes number values by it."""
    rng = random.Random(seed)
    for _ in range(50):
        edges = random_edges(rng)
        expected = nx.strongly_connected_components(nx.DiGraph(edges))
        assert [sorted(part) for part in strongly_connected(edges)] == [sorted(part) for part in expected], edges


def test_long_paths():
    """Neither recursion nor a search through all open nodes for each component."""
    length = 50_000
    chain = [(k, k + 1) for k in range(length)]
    assert len(strongly_connected(chain)) == length + 1
    assert [len(part) for part in strongly_connected([*chain, (length, 0)])] == [length + 1]
    pairs = [edge for k in range(length) for edge in ((k, k + 1), (k + length + 1, k), (k, k + length + 1))]
    assert {len(part) for part in strongly_connected(pairs)} == {1, 2}


@pytest.mark.parametrize("seed", range(5))
def test_random_partitions(seed):
    rng, sets, expected = random.Random(seed), DisjointSets[int](), UnionFind(range(30))
    for _ in range(25):
        one, other = rng.randrange(30), rng.randrange(30)
        sets.join(one, other)
        expected.union(one, other)
        assert all((sets.find(a) == sets.find(b)) == (expected[a] == expected[b]) for a in range(30) for b in range(a))

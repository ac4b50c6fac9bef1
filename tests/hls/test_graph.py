"""Connected parts of graphs, compared with another library's."""

import itertools

import networkx
from hypothesis import given
from hypothesis import strategies as st

from hls.graph import joined_sets, strong_components

NODES = st.integers(0, 12)
EDGES = st.lists(st.tuples(NODES, NODES), max_size=30)


@given(EDGES)
def test_strong_components(edges):
    found = strong_components(edges)
    expected = networkx.strongly_connected_components(networkx.DiGraph(edges))
    assert {frozenset(part) for part in found} == {frozenset(part) for part in expected}
    place = {node: k for k, part in enumerate(found) for node in part}
    assert len(place) == sum(map(len, found)), "each node is in one component"
    assert all(place[source] >= place[target] for source, target in edges), "behind those that it leads to"


def test_a_long_chain_and_a_long_cycle():
    chain = [(k, k + 1) for k in range(50_000)]
    assert len(strong_components(chain)) == 50_001
    assert [len(part) for part in strong_components([*chain, (50_000, 0)])] == [50_001]


@given(st.lists(NODES, unique=True), st.lists(st.lists(NODES, max_size=4), max_size=8))
def test_joined_sets(nodes, groups):
    found = joined_sets(nodes, groups)
    graph = networkx.Graph()
    graph.add_nodes_from(nodes)
    for group in groups:
        graph.add_nodes_from(group)
        graph.add_edges_from(itertools.pairwise(group))
    order = list(dict.fromkeys([*nodes, *(node for group in groups for node in group)]))
    expected = [sorted(part, key=order.index) for part in networkx.connected_components(graph)]
    assert found == sorted(expected, key=lambda part: order.index(part[0]))

"""Strongly connected components of a directed graph (Tarjan 1972), and disjoint sets (union-find, Galler and Fischer
1964).

Planning asks for those of the dependence graph of every loop, of many small graphs. networkx has them, too, but
building its graphs takes several times as long as the search, and importing it a tenth of the start of a command.
"""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

__all__ = ["DisjointSets", "strongly_connected"]

N = TypeVar("N", bound=Hashable)


def strongly_connected(edges: Iterable[tuple[N, N]]) -> list[list[N]]:
    """The strongly connected components of the graph of these edges, (source, target): each after all that its nodes
    lead to. Nodes are searched in the order in which edges name them first, and edges in their order."""
    numbers: dict[N, int] = {}
    nodes: list[N] = []
    targets: list[list[int]] = []
    for edge in edges:
        for node in edge:
            if node not in numbers:
                numbers[node] = len(nodes)
                nodes.append(node)
                targets.append([])
        targets[numbers[edge[0]]].append(numbers[edge[1]])
    return [[nodes[k] for k in part] for part in _components(targets)]


def _components(targets: list[list[int]]) -> list[list[int]]:
    """The components of the graph in which node k leads to ``targets[k]``."""
    found: list[list[int]] = []
    order = [0] * len(targets)  # of the first visit, from 1; 0 before it
    least = [0] * len(targets)  # the first visited node of its component that is known to be in reach
    in_component = [False] * len(targets)
    visits, opened = 0, list[int]()  # nodes whose component is not complete
    for root in range(len(targets)):
        if order[root]:
            continue
        visits += 1
        order[root] = least[root] = visits
        opened.append(root)
        path = [(root, iter(targets[root]))]  # a stack, as paths may be longer than Python's
        while path:
            node, rest = path[-1]
            for target in rest:
                if not order[target]:
                    visits += 1
                    order[target] = least[target] = visits
                    opened.append(target)
                    path.append((target, iter(targets[target])))
                    break
                if not in_component[target]:
                    least[node] = min(least[node], order[target])
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    least[before] = min(least[before], least[node])
                if least[node] == order[node]:
                    part = [opened.pop()]
                    while part[-1] != node:
                        part.append(opened.pop())
                    for one in part:
                        in_component[one] = True
                    found.append(part)
    return found


class DisjointSets(Generic[N]):
    """A partition of nodes, each of which is a set of its own until it is joined with another."""

    def __init__(self) -> None:
        self._parents: dict[N, N] = {}

    def find(self, node: N) -> N:
        """The node that stands for the set of ``node``."""
        parents = self._parents
        while (parent := parents.get(node, node)) != node:
            parents[node] = node = parents.get(parent, parent)  # paths are halved on the way (Tarjan, van Leeuwen 1984)
        return node

    def join(self, node: N, other: N) -> None:
        """Make the sets of two nodes one."""
        self._parents[self.find(other)] = self.find(node)

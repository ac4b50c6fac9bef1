"""Connected parts of graphs, which are given by their edges: nodes are any values with a hash."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

__all__ = ["joined_sets", "strong_components"]

Node = TypeVar("Node", bound=Hashable)


def strong_components(edges: Iterable[tuple[Node, Node]]) -> list[list[Node]]:
    """The strongly connected components of a directed graph: in one, each node is reached from each other. A node that
    is on no cycle is a component of its own. A component comes after those that its edges lead to."""
    leads: dict[Node, dict[Node, None]] = {}
    for source, target in edges:
        leads.setdefault(source, {})[target] = None
        leads.setdefault(target, {})
    return _components(leads)


def _components(leads: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """Tarjan's search with a stack of its own, as a body may be a chain of many thousand operations."""
    found: list[list[Node]] = []
    number: dict[Node, int] = {}  # in the order in which nodes are met
    lowest: dict[Node, int] = {}  # the least number that a node reaches within its component
    opened: dict[Node, None] = {}  # nodes without a component, in the order in which they were met
    for root in leads:
        if root in number:
            continue
        path: list[tuple[Node, Iterator[Node]]] = []
        _enter(root, leads, number, lowest, opened, path)
        while path:
            node, rest = path[-1]
            target = next((one for one in rest if one not in number or one in opened), None)
            if target is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    found.append(_closed(node, opened))
            elif target in number:
                lowest[node] = min(lowest[node], number[target])
            else:
                _enter(target, leads, number, lowest, opened, path)
    return found


def _enter(
    node: Node,
    leads: Mapping[Node, Iterable[Node]],
    number: dict[Node, int],
    lowest: dict[Node, int],
    opened: dict[Node, None],
    path: list[tuple[Node, Iterator[Node]]],
) -> None:
    number[node] = lowest[node] = len(number)
    opened[node] = None
    path.append((node, iter(leads[node])))


def _closed(root: Node, opened: dict[Node, None]) -> list[Node]:
    """The component of which ``root`` was met first: taken from the open nodes."""
    part: list[Node] = []
    while not part or part[-1] is not root:
        part.append(opened.popitem()[0])
    return part[::-1]


def joined_sets(nodes: Iterable[Node], groups: Iterable[Sequence[Node]]) -> list[list[Node]]:
    """Sets of nodes, where those of a group are in one set, and each node is in one: in the order of the first node of
    each, with the nodes in the order in which they were named."""
    sets = {node: [node] for node in nodes}
    for group in groups:
        for node in group:
            sets.setdefault(node, [node])
        for node in group[1:]:
            one, other = sets[group[0]], sets[node]
            if one is not other:
                larger, smaller = (one, other) if len(one) >= len(other) else (other, one)
                larger += smaller
                sets |= dict.fromkeys(smaller, larger)
    order = {node: k for k, node in enumerate(sets)}
    distinct = {id(one): one for one in sets.values()}
    return [sorted(one, key=order.__getitem__) for one in distinct.values()]

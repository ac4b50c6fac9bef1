"""Co-start groups: operations that start in one cycle. Optional groups are dropped if they would create a cycle."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

from networkx.utils import UnionFind

from .problem import Dependence, topological

__all__ = ["that_can_be"]

Group = tuple[Hashable, ...]
Key = TypeVar("Key", bound=Hashable)


def that_can_be(
    keys: Sequence[Hashable],
    dependences: Iterable[Dependence],
    needed: Sequence[tuple[Key, ...]],
    wanted: Sequence[tuple[Key, ...]],
) -> tuple[tuple[Key, ...], ...]:
    """The ``needed`` groups, and those of the ``wanted`` (optional) groups, tried one after the other, that do not
    force an operation to start after itself. That happens if an operation depends on a member of one group, a member of
    a second depends on it, and another member of the second precedes one of the first."""
    edges = [(dep.src, dep.dst) for dep in dependences if dep.distance == 0]
    if _in_order(keys, edges, [*needed, *wanted]):
        return (*needed, *wanted)
    found = list(needed)
    for group in wanted:
        if _in_order(keys, edges, [*found, group]):
            found.append(group)
    return tuple(found)


def _in_order(keys: Sequence[Hashable], edges: Sequence[tuple[Any, ...]], groups: Sequence[Group]) -> bool:
    """Whether the dependence graph with each group merged into one node has no cycle."""
    joined = UnionFind(keys)
    for group in groups:
        joined.union(*group)
    one = {key: joined[key] for key in keys}
    nodes = list(dict.fromkeys(one.values()))
    return len(topological(nodes, [(one[src], one[dst]) for src, dst in edges])) == len(nodes)

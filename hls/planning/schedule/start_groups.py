"""Groups of operations that start in one cycle: those that had better can be left out where others forbid it."""

from collections.abc import Hashable, Iterable, Sequence

from networkx.utils import UnionFind

from .problem import Dependence, topological

__all__ = ["that_can_be"]

Group = tuple[Hashable, ...]


def that_can_be(
    keys: Sequence[Hashable], dependences: Iterable[Dependence], needed: Sequence[Group], wanted: Sequence[Group]
) -> tuple[Group, ...]:
    """The ``needed`` groups, and of those that are only ``wanted`` one after the other each with which no operation
    would have to start after itself: one behind a member of a first group and before one of a second, of which another
    member is before one of the first."""
    edges = [(dep.src, dep.dst) for dep in dependences if dep.distance == 0]
    if _in_order(keys, edges, [*needed, *wanted]):
        return (*needed, *wanted)
    found = list(needed)
    for group in wanted:
        if _in_order(keys, edges, [*found, group]):
            found.append(group)
    return tuple(found)


def _in_order(keys: Sequence[Hashable], edges: Sequence[tuple], groups: Sequence[Group]) -> bool:
    """Whether each group as one operation leaves no cycle."""
    joined = UnionFind(keys)
    for group in groups:
        joined.union(*group)
    one = {key: joined[key] for key in keys}
    nodes = list(dict.fromkeys(one.values()))
    return len(topological(nodes, [(one[src], one[dst]) for src, dst in edges])) == len(nodes)

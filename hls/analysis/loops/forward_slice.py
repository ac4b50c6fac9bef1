"""What of a region is computed from values, or known only behind an access."""

from collections.abc import Mapping

from ...ir import Op, Region, Value, walk

__all__ = ["behind", "computed_from", "taken"]


def behind(region: Region, access: Op, followers: Mapping[Op, set[Op]]) -> set[Value]:
    """Values of the region that are known only behind the access: because they are computed from it, or read behind a
    store that must stay behind it or stores what is. ``followers`` are what comes after each access in one iteration,
    by order."""
    found, later = set(access.results), set()
    for op in region.ops:
        inner = [op, *(one for body in op.regions for one in walk(body))]
        if op is access or later.intersection(inner) or found.intersection(v for one in inner for v in one.operands):
            found.update(op.results)
            later.update(*(followers.get(one, ()) for one in inner))
    return found


def computed_from(region: Region, values: set[Value]) -> set[Value]:
    """The values, and all that the region computes from them in the same iteration."""
    found = set(values)
    for op in region.ops:
        if not found.isdisjoint(taken(op)):
            found.update(op.results)
    return found


def taken(op: Op) -> set[Value]:
    """What an operation, or anything inside it, takes."""
    return {*op.operands, *(value for region in op.regions for inner in walk(region) for value in inner.operands)}

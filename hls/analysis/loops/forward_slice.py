"""Forward slices inside a region: by data, and by memory order after an access."""

from collections.abc import Collection, Mapping, Sequence

from ...ir import Op, Region, TokenType, Value, walk

__all__ = ["behind", "computed_from", "taken"]


def behind(
    region: Region,
    accesses: Collection[Op],
    followers: Mapping[Op, set[Op]],
    waiting: Sequence[tuple[Collection[Value], Collection[Op]]] = (),
) -> set[Value]:
    """Values of the region that are available only after one of the accesses: computed from its result, or loaded after
    a store that must follow the access or stores such a value. ``followers`` are the operations that must follow each
    access in one iteration; operations that are ``waiting`` also need certain values."""
    inner = {op: [op, *(one for body in op.regions for one in walk(body))] for op in region.ops}
    found, later = {value for access in accesses for value in access.results}, set[Op](accesses)
    before = -1
    while before != len(found) + len(later):
        before = len(found) + len(later)
        for op in region.ops:
            if later.intersection(inner[op]) or found.intersection(v for one in inner[op] for v in one.operands):
                found.update(op.results)
                later.update(*(followers.get(one, ()) for one in inner[op]))
        later.update(*(ops for values, ops in waiting if not found.isdisjoint(values)))
    return found


def computed_from(region: Region, values: set[Value], always: bool = False) -> set[Value]:
    """The values, and everything that the region computes from them in the same iteration; ``always``: in every run,
    so not by an order that matters only where buffers overlap."""
    found = set(values)
    for op in region.ops:
        if not found.isdisjoint(taken(op) if op.regions else op.operands):
            found.update(v for v in op.results if not (always and isinstance(v.type, TokenType) and v.type.overlap))
    return found


def taken(op: Op) -> set[Value]:
    """The values that an operation, or anything inside it, uses."""
    return {*op.operands, *(value for region in op.regions for inner in walk(region) for value in inner.operands)}

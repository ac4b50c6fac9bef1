"""Whether two functions compute the same in the same way: what a pass asks that wants to know if another changed anything."""

from .nodes import Function, Op, Region, Value

__all__ = ["same_function"]


def same_function(a: Function, b: Function) -> bool:
    """Whether the operations, their order, operands, types and attributes are equal, and the memories that they use.

    Names of values and places in the source do not count, nor do the functions' own names and attributes.
    """
    if a is b:
        return True
    if a.memories != b.memories or [v.type for v in a.args] != [v.type for v in b.args]:
        return False
    return _same_region(a.body, b.body, dict(zip(a.args, b.args)))


def _same_region(a: Region, b: Region, values: dict[Value, Value]) -> bool:
    """``values`` maps those of the one function to those of the other."""
    if len(a.ops) != len(b.ops) or [v.type for v in a.args] != [v.type for v in b.args]:
        return False
    values.update(zip(a.args, b.args))
    return all(_same_op(x, y, values) for x, y in zip(a.ops, b.ops))


def _same_op(a: Op, b: Op, values: dict[Value, Value]) -> bool:
    if a.opcode != b.opcode or len(a.operands) != len(b.operands) or len(a.results) != len(b.results) or len(a.regions) != len(b.regions):
        return False
    if any(values.get(x) is not y for x, y in zip(a.operands, b.operands)) or not _same_attrs(a.attrs, b.attrs):
        return False
    if not all(_same_region(x, y, values) for x, y in zip(a.regions, b.regions)):
        return False
    for x, y in zip(a.results, b.results):
        if x.type != y.type:
            return False
        values[x] = y
    return True


def _same_attrs(a: dict, b: dict) -> bool:
    """Equal in type as well: 0.0, -0.0 and 0 are equal to Python, and NaN is not."""
    return a == b and repr(a) == repr(b) if a else not b

"""Equality of functions and values: whether two are computed in the same way."""

from collections.abc import Collection
from operator import eq, is_

from .accesses import memory_name, moved_type
from .attributes import Attr
from .build import walk
from .nodes import Function, Op, Region, Value
from .optable import has

__all__ = ["ValueNumbers", "exact_copy", "same_function", "same_operation", "same_place", "same_value"]

#: pairs of values to compare before two values count as different: addresses are short
MOST_COMPARED = 64


def same_value(one: Value, other: Value, also: Collection[str] = ()) -> bool:
    """Whether two values are computed in the same way from the same values, by pure operations and those in ``also``,
    which according to the caller have equal results here. Also False if the comparison would take too long."""
    work, seen = [(one, other)], set()
    while work:
        a, b = pair = work.pop()
        if a is b or pair in seen:
            continue
        seen.add(pair)
        x, y = a.op, b.op
        if len(seen) > MOST_COMPARED or x is None or y is None or a.index != b.index or a.type != b.type:
            return False
        if x.opcode != y.opcode or x.regions or not (has(x, "pure") or x.opcode in also):
            return False
        if len(x.operands) != len(y.operands) or not _same_attrs(*map(_of_value, (x.attrs, y.attrs))):
            return False
        work += zip(x.operands, y.operands, strict=True)
    return True


def same_operation(one: Op, other: Op) -> bool:
    """Whether two operations would compute the same from equal operands, regions apart: opcode, attributes, and the
    numbers of operands, results and regions."""
    return (
        one.opcode == other.opcode
        and len(one.operands) == len(other.operands)
        and len(one.regions) == len(other.regions)
        and [v.type for v in one.results] == [v.type for v in other.results]
        and _same_attrs(*map(_of_value, (one.attrs, other.attrs)))
    )


class ValueNumbers:
    """Numbers of values (value numbering, Cocke 1970): equal for two values that are computed in the same way from the
    same values by pure operations without regions. For many values, of which each would have to be compared with all
    others; operands must no longer change once a value that depends on them has its number."""

    def __init__(self) -> None:
        self._numbers: dict[Value, int] = {}
        self._keys: dict[tuple, int] = {}

    def of(self, value: Value) -> int:
        """The number of a value."""
        work = [value]  # a stack, as chains of operations may be longer than Python's
        while work:
            one = work[-1]
            if one in self._numbers:
                work.pop()
                continue
            op = one.op if one.op is not None and not one.op.regions and has(one.op, "pure") else None
            missing = [v for v in op.operands if v not in self._numbers] if op is not None else []
            work += missing
            if not missing:
                key = self._key(one, op) if op is not None else (one,)
                self._numbers[one] = self._keys.setdefault(key, len(self._keys))
                work.pop()
        return self._numbers[value]

    def _key(self, value: Value, op: Op) -> tuple:
        operands = tuple(self._numbers[v] for v in op.operands)
        # repr tells -0.0 from 0.0; the values themselves tell NaNs apart, as `same_value` does
        known = _of_value(op.attrs)
        attrs = (repr(known), *known.items()) if known else ()
        return op.opcode, value.index, value.type, operands, attrs


def same_place(one: Op, other: Op) -> bool:
    """Whether two accesses of a flat kernel move the same type from or to the same address of one memory."""
    return (
        memory_name(one) == memory_name(other)
        and moved_type(one) == moved_type(other)
        and same_value(one.operands[0], other.operands[0])
    )


def same_function(a: Function, b: Function) -> bool:
    """Whether the operations, their order, operands, types and attributes are equal, and the memories that they use.

    Names of values, source locations, and the functions' own names and attributes are ignored.
    """
    if a is b:
        return True
    if a.memories != b.memories or [v.type for v in a.args] != [v.type for v in b.args]:
        return False
    return _same_region(a.body, b.body, dict(zip(a.args, b.args)))


def exact_copy(function: Function, other: Function) -> bool:
    """Whether one of two functions that are the same (:func:`same_function`) is a copy of the other in all else, too,
    and they have no node in common."""
    if (function.name, function.kind, function.params) != (other.name, other.kind, other.params):
        return False
    if function.span is not other.span or not _same_attrs(function.attrs, other.attrs):
        return False
    if list(function.memories) != list(other.memories):
        return False
    if not all(map(is_, function.memories.values(), other.memories.values())):
        return False
    if function.body is other.body or not _same_names(function.args, other.args):
        return False
    for one, copy in zip(walk(function.body), walk(other.body)):
        if one is copy or one.span is not copy.span or one.attrs is copy.attrs:
            return False
        if not _same_names(one.results, copy.results):
            return False
        for region, its in zip(one.regions, copy.regions):
            if region is its or not _same_names(region.args, its.args):
                return False
    return True


def _same_names(values: list[Value], others: list[Value]) -> bool:
    """Whether values, of which none is shared, have equal names."""
    for value, other in zip(values, others):
        if value is other or value.name != other.name:
            return False
    return True


def _same_region(a: Region, b: Region, values: dict[Value, Value]) -> bool:
    """``values`` maps those of one function to those of the other."""
    if len(a.ops) != len(b.ops) or [v.type for v in a.args] != [v.type for v in b.args]:
        return False
    values.update(zip(a.args, b.args))
    for x, y in zip(a.ops, b.ops):  # loops, as generators are slower by half: this runs after every pass
        if not _same_op(x, y, values):
            return False
    return True


def _same_op(a: Op, b: Op, values: dict[Value, Value]) -> bool:
    if a.opcode != b.opcode or len(a.operands) != len(b.operands) or len(a.results) != len(b.results):
        return False
    for x, y in zip(a.operands, b.operands):
        if values.get(x) is not y:
            return False
    if (a.attrs or b.attrs) and not _same_attrs(a.attrs, b.attrs):
        return False
    if a.regions or b.regions:
        if len(a.regions) != len(b.regions):
            return False
        for one, other in zip(a.regions, b.regions):
            if not _same_region(one, other, values):
                return False
    for x, y in zip(a.results, b.results):
        if x.type is not y.type and x.type != y.type:
            return False
        values[x] = y
    return True


def _of_value(attrs: dict) -> dict:
    """The attributes that determine a value: whether a sum is known to wrap is none of them."""
    return {key: value for key, value in attrs.items() if key != Attr.WRAPS} if Attr.WRAPS in attrs else attrs


def _same_attrs(a: dict, b: dict) -> bool:
    """Equal including the type: Python considers 0.0, -0.0 and 0 equal, and NaN unequal to itself. And in the same
    order."""
    if not a or len(a) != len(b):
        return not (a or b)
    # copies of operations share the values of their attributes: most are one and the same
    if all(map(is_, a.values(), b.values())) and all(map(eq, a, b)):
        return True
    return a == b and repr(a) == repr(b)

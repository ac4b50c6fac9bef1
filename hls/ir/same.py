"""Equality of functions and values: whether two are computed in the same way."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from operator import eq, is_
from typing import Any

from .accesses import memory_name, moved_type
from .attributes import Attr
from .nodes import Function, Op, Region, Value
from .optable import has

__all__ = [
    "Likeness",
    "ValueNumbers",
    "exact_copy",
    "likeness",
    "same_function",
    "same_operation",
    "same_place",
    "same_value",
]

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
        self._keys: dict[tuple[Any, ...], int] = {}

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

    def _key(self, value: Value, op: Op) -> tuple[Any, ...]:
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


class Likeness(IntEnum):
    """How alike two functions are."""

    DIFFERENT = 0
    #: the operations, their order, operands, types and attributes are equal, and the memories that they use; names of
    #: values, source locations, and the functions' own names and attributes may differ
    SAME = 1
    #: one is a copy of the other in all else, too, and they have no node in common
    COPY = 2


def same_function(a: Function, b: Function) -> bool:
    """Whether two functions are the same but for names and source locations (:attr:`Likeness.SAME`)."""
    return likeness(a, b) is not Likeness.DIFFERENT


def exact_copy(function: Function, other: Function) -> bool:
    """Whether one of two functions is a copy of the other (:attr:`Likeness.COPY`)."""
    return likeness(function, other) is Likeness.COPY


def likeness(a: Function, b: Function) -> Likeness:
    """How alike two functions are, found in one walk: it runs after every pass."""
    if a is b:
        return Likeness.SAME
    if a.memories != b.memories or [v.type for v in a.args] != [v.type for v in b.args]:
        return Likeness.DIFFERENT
    found = _Comparison(dict(zip(a.args, b.args)), _copied_outside(a, b))
    if not found.regions(a.body, b.body):
        return Likeness.DIFFERENT
    return Likeness.COPY if found.copied else Likeness.SAME


def _copied_outside(function: Function, other: Function) -> bool:
    """Whether a function whose operations are the same may be a copy of the other, as far as it shows outside them."""
    if (function.name, function.kind, function.params) != (other.name, other.kind, other.params):
        return False
    if function.span is not other.span or not _same_attrs(function.attrs, other.attrs):
        return False
    if list(function.memories) != list(other.memories) or not _same_names(function.args, other.args):
        return False
    return all(map(is_, function.memories.values(), other.memories.values()))


@dataclass
class _Comparison:
    """A comparison of two functions: ``values`` maps those of one to those of the other, ``copied`` is whether all
    that was compared so far may be a copy."""

    values: dict[Value, Value]
    copied: bool

    def regions(self, a: Region, b: Region) -> bool:
        """Whether the operations of two regions, and of all inside, are the same."""
        if len(a.ops) != len(b.ops) or [v.type for v in a.args] != [v.type for v in b.args]:
            return False
        values, get = self.values, self.values.get
        values.update(zip(a.args, b.args))
        self.copied = self.copied and a is not b and _same_names(a.args, b.args)
        for x, y in zip(a.ops, b.ops):
            if x.opcode != y.opcode or list(map(get, x.operands)) != y.operands or len(x.results) != len(y.results):
                return False
            if (x.attrs or y.attrs) and not _same_attrs(x.attrs, y.attrs):
                return False
            if x.regions or y.regions:
                if len(x.regions) != len(y.regions):
                    return False
                for one, other in zip(x.regions, y.regions):
                    if not self.regions(one, other):
                        return False
            for v, w in zip(x.results, y.results):
                if v.type is not w.type and v.type != w.type:
                    return False
                values[v] = w
            if self.copied and (
                x is y or x.span is not y.span or x.attrs is y.attrs or not _same_names(x.results, y.results)
            ):
                self.copied = False
        return True


def _same_names(values: list[Value], others: list[Value]) -> bool:
    """Whether values, of which none is shared, have equal names."""
    for value, other in zip(values, others):
        if value is other or value.name != other.name:
            return False
    return True


def _of_value(attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes that determine a value: whether a sum is known to wrap is none of them."""
    return {key: value for key, value in attrs.items() if key != Attr.WRAPS} if Attr.WRAPS in attrs else attrs


def _same_attrs(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Equal including the type: Python considers 0.0, -0.0 and 0 equal, and NaN unequal to itself. And in the same
    order."""
    if not a or len(a) != len(b):
        return not (a or b)
    # copies of operations share the values of their attributes: most are one and the same
    if all(map(is_, a.values(), b.values())) and all(map(eq, a, b)):
        return True
    return a == b and repr(a) == repr(b)

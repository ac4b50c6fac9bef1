"""Equality of functions up to the channels that they call, and copies that call other channels.

The copies of an autorun kernel differ in their compute ids. Once these are folded, most copies are equal but for the
channels that they call: of which array, and at which constant index. What passes make of one copy is then what they
make of another one, with the channels renamed (equality modulo renaming, as alpha-equivalence is for variables): passes
distinguish channels and sort them, but do not compute with their numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .attributes import Attr
from .build import walk
from .clone import clone_function
from .nodes import Function, Op
from .optable import has
from .same import exact_copy
from .types import I64

__all__ = ["ChannelRenaming", "channel_renaming", "renamed", "shape"]


@dataclass(frozen=True)
class ChannelRenaming:
    """New names of channels, and new indices into arrays of them. Both keep the order, so that what is sorted by
    channel stays sorted."""

    names: Mapping[str, str]
    indices: Mapping[int, int]

    @property
    def changed_names(self) -> frozenset[str]:
        """The old and new names of the channels whose names differ."""
        return frozenset(name for pair in self.names.items() if len(set(pair)) > 1 for name in pair)

    @property
    def changed_indices(self) -> frozenset[int]:
        """The old and new indices, as far as they differ."""
        return frozenset(index for pair in self.indices.items() if len(set(pair)) > 1 for index in pair)


def shape(function: Function) -> int:
    """A hash that functions have in common if :func:`channel_renaming` finds one that makes them equal."""
    return hash(tuple((op.opcode, op.span, len(op.operands)) for op in walk(function.body)))


def channel_renaming(one: Function, other: Function) -> ChannelRenaming | None:
    """The renaming that makes ``one`` equal to ``other`` in all but the function's own name: operations, attributes,
    names of values and source locations. None if there is none."""
    if one.span is not other.span or len(one.body.ops) != len(other.body.ops):
        return None
    calls, others = list(_calls(one)), list(_calls(other))
    if len(calls) != len(others):
        return None
    names, indices = dict[str, str](), dict[int, int]()
    for a, b in zip(calls, others):
        if names.setdefault(a.attrs[Attr.CHANNEL], b.attrs[Attr.CHANNEL]) != b.attrs[Attr.CHANNEL]:
            return None
        x, y = _index(a), _index(b)
        if (x is None) != (y is None) or (x is not None and indices.setdefault(x, y or 0) != y):
            return None
    if not (_keeps_order(names) and _keeps_order(indices)):
        return None
    found = ChannelRenaming(names, indices)
    copy = renamed(one, found, other.name)
    return found if copy is not None and exact_copy(copy, other) else None


def renamed(function: Function, renaming: ChannelRenaming, name: str) -> Function | None:
    """A copy of the function under another ``name``, with the channels renamed. None where more than channels would
    have to change: a constant that is an index has other uses, or an equal one exists that is no index, which may be
    merged with it; or an attribute of something else names a channel."""
    moved, new = renaming.changed_indices, renaming.changed_names
    copy = clone_function(function)
    copy.name = name
    index_of = [op.operands[0].op for op in _calls(copy)]
    indices = {op for op in index_of if op is not None and op.opcode == "const"}
    for op in walk(copy.body):
        others = op.operands[1:] if has(op, "channel") else op.operands
        if moved and any(value.op in indices and value.op.attrs[Attr.VALUE] in moved for value in others):
            return None
        if op.opcode == "const" and op.result.type == I64 and op not in indices and op.attrs[Attr.VALUE] in moved:
            return None
        named = any(_mentions(value, new) for key, value in op.attrs.items() if key != Attr.CHANNEL)
        if named or (has(op, "channel") and op.attrs[Attr.CHANNEL] not in renaming.names):
            return None
        if has(op, "channel"):
            op.attrs[Attr.CHANNEL] = renaming.names[op.attrs[Attr.CHANNEL]]
    for op in indices:
        if op.result.type != I64 or op.attrs[Attr.VALUE] not in renaming.indices:
            return None
    for op in indices:
        op.attrs[Attr.VALUE] = renaming.indices[op.attrs[Attr.VALUE]]
    return None if any(_mentions(value, new) for value in copy.attrs.values()) or new & set(copy.memories) else copy


def _calls(function: Function) -> Iterator[Op]:
    return (op for op in walk(function.body) if has(op, "channel"))


def _index(call: Op) -> int | None:
    """The constant index of a channel call into its array; None for one that is no constant."""
    op = call.operands[0].op
    value = op.attrs[Attr.VALUE] if op is not None and op.opcode == "const" else None
    return value if isinstance(value, int) else None


def _keeps_order(pairs: Mapping[Any, Any]) -> bool:
    """Whether the new names are in the order of the old ones, and differ from each other."""
    new = [pairs[old] for old in sorted(pairs)]
    return all(a < b for a, b in pairwise(new))


def _mentions(value: object, names: frozenset[str]) -> bool:
    """Whether the value of an attribute contains one of the names."""
    if isinstance(value, str):
        return value in names
    return isinstance(value, tuple) and any(_mentions(one, names) for one in value)

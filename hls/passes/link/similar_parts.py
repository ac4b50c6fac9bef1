"""Copies of a kernel that differ in nothing but their number and the channels that they call.

Copies that share the iterations of a kernel execute the same operations: which iterations are its own a copy computes
from its number, an operation that no pass evaluates (``copy_number``). So one of them passes the stages and is planned,
and the others get copies of the result.
"""

from collections.abc import Collection, Mapping

from ...ir import Attr, Function, Op, walk
from ...ir.clone import clone_function
from ...ir.same import same_function

__all__ = ["alike", "numbers_of", "renumbered"]

#: attributes of a part that name other parts
_RELATED = (Attr.PARTS, Attr.PART_OF, Attr.LOADS_FOR)


def alike(one: Function, other: Function, between: Collection[str]) -> dict[str, str] | None:
    """The channels of ``other`` by those of ``one`` in their places, of the channels ``between`` parts, if the two are
    the same but for these and the number of the copy; else None."""
    if _unrelated(one) != _unrelated(other):
        return None
    (first, names), (second, others) = _anonymous(one, between), _anonymous(other, between)
    if len(names) != len(others) or not same_function(first, second):
        return None
    return dict(zip(names, others, strict=True))


def renumbered(done: Function, part: Function, channels: Mapping[str, str]) -> Function:
    """A copy of a function that some stages have changed, as they would change ``part``, which is :func:`alike` what
    it was before them, with these ``channels`` in the place of its own."""
    function = clone_function(done)
    function.name = part.name
    own = {key: value for key, value in part.attrs.items() if key in _RELATED or key in function.attrs}
    function.attrs = own | _unrelated(function)
    number = next((op.attrs[Attr.VALUE] for op in numbers_of(part)), None)
    for op in walk(function.body):
        if op.opcode == "copy_number":
            op.attrs[Attr.VALUE] = number
        elif op.attrs.get(Attr.CHANNEL) in channels:
            op.attrs[Attr.CHANNEL] = channels[op.attrs[Attr.CHANNEL]]
    return function


def numbers_of(function: Function) -> list[Op]:
    """The operations that are the number of the copy."""
    return [op for op in walk(function.body) if op.opcode == "copy_number"]


def _unrelated(function: Function) -> dict[str, object]:
    return {key: value for key, value in function.attrs.items() if key not in _RELATED}


def _anonymous(function: Function, between: Collection[str]) -> tuple[Function, list[str]]:
    """(a copy of the function with numbers for the names of the channels ``between`` parts, and no number of its own;
    these channels by their numbers)."""
    copy, names = clone_function(function), list[str]()
    for op in walk(copy.body):
        if op.opcode == "copy_number":
            op.attrs[Attr.VALUE] = 0
        elif op.attrs.get(Attr.CHANNEL) in between:
            name: str = op.attrs[Attr.CHANNEL]
            if name not in names:
                names.append(name)
            op.attrs[Attr.CHANNEL] = str(names.index(name))
    return copy, names

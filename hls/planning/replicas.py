"""Plans of copies of a kernel that differ in nothing but their number and the channels that they call.

Copies that share the iterations of a kernel execute the same operations: which iterations are its own a copy computes
from its number, an operation that no pass evaluates (``copy_number``). So one of them passes the stages and is planned,
and the others get copies of its plan.
"""

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import replace

from ..ir import Attr, Function, Op, walk
from ..ir.clone import clone_function
from ..ir.same import same_function
from ..recursion import deep_recursion
from .iterate import CompiledKernel

__all__ = ["alike", "replica", "with_numbers"]

#: attributes of a part that name other parts
_RELATED = (Attr.PARTS, Attr.PART_OF, Attr.LOADS_FOR)


def alike(one: Function, other: Function, between: Collection[str]) -> dict[str, str] | None:
    """The channels of ``other`` by those of ``one`` in their places, of the channels ``between`` parts, if the two are
    the same but for these and the number of the copy; else None. Both have not passed the stages behind the split."""
    if _unrelated(one) != _unrelated(other):
        return None
    (first, names), (second, others) = _anonymous(one, between), _anonymous(other, between)
    return dict(zip(names, others, strict=True)) if same_function(first, second) else None


def replica(planned: CompiledKernel, part: Function, channels: Mapping[str, str]) -> CompiledKernel:
    """The plan of ``part``, which is :func:`alike` the planned one, with these ``channels`` in the place of its own."""
    function = clone_function(planned.function)
    function.name = part.name
    related = {key: value for key, value in part.attrs.items() if key in _RELATED}
    function.attrs = {key: value for key, value in function.attrs.items() if key not in _RELATED} | related
    number = next((op.attrs[Attr.VALUE] for op in _numbers(part)), None)
    for op in walk(function.body):
        if op.opcode == "copy_number":
            op.attrs[Attr.VALUE] = number
        elif op.attrs.get(Attr.CHANNEL) in channels:
            op.attrs[Attr.CHANNEL] = channels[op.attrs[Attr.CHANNEL]]
    memo = _pairs(planned.function, function)
    with deep_recursion():
        memory, plan = deepcopy((planned.memory, planned.plan), memo)
    unrolled = tuple(replace(one, kernel=part.name) for one in planned.unrolled)
    merged = tuple(replace(one, kernel=part.name) for one in planned.merged)
    plan = replace(plan, name=part.name)
    return replace(planned, function=function, memory=memory, plan=plan, unrolled=unrolled, merged=merged)


def with_numbers(planned: CompiledKernel) -> CompiledKernel:
    """The plan, in whose function the number of the copy is a constant from now on."""
    for op in _numbers(planned.function):
        op.opcode = "const"
    return planned


def _numbers(function: Function) -> list[Op]:
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
        elif (name := op.attrs.get(Attr.CHANNEL)) in between:
            if name not in names:
                names.append(name)
            op.attrs[Attr.CHANNEL] = str(names.index(name))
    return copy, names


def _pairs(function: Function, copy: Function) -> dict[int, object]:
    """What stands for the nodes of a function in its copy, by their id(); memories, which never change, stand for
    themselves."""
    found: dict[int, object] = {id(function): copy, id(function.body): copy.body}
    found |= {id(one): one for one in function.memories.values()}
    found |= {id(a): b for a, b in zip(function.args, copy.args, strict=True)}
    for one, its in zip(walk(function.body), walk(copy.body), strict=True):
        found[id(one)] = its
        found |= {id(a): b for a, b in zip(one.results, its.results, strict=True)}
        for region, other in zip(one.regions, its.regions, strict=True):
            found[id(region)] = other
            found |= {id(a): b for a, b in zip(region.args, other.args, strict=True)}
    return found

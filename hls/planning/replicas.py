"""Plans of copies of a kernel that differ in their number and the channels that they call: one of them is planned."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace

from ..ir import Function, walk
from ..passes.link.similar_parts import numbers_of, renumbered
from ..recursion import deep_recursion
from .iterate import CompiledKernel

__all__ = ["replica", "with_numbers"]


def replica(planned: CompiledKernel, part: Function, channels: Mapping[str, str]) -> CompiledKernel:
    """The plan of ``part``, which is :func:`~hls.passes.link.similar_parts.alike` the planned one before the stages
    behind the split, with these ``channels`` in the place of its own."""
    function = renumbered(planned.function, part, channels)
    memo = _pairs(planned.function, function)
    with deep_recursion():
        memory, plan = deepcopy((planned.memory, planned.plan), memo)
    unrolled = tuple(replace(one, kernel=part.name) for one in planned.unrolled)
    merged = tuple(replace(one, kernel=part.name) for one in planned.merged)
    plan = replace(plan, name=part.name)
    return replace(planned, function=function, memory=memory, plan=plan, unrolled=unrolled, merged=merged)


def with_numbers(planned: CompiledKernel) -> CompiledKernel:
    """The plan, in whose function the number of the copy is a constant from now on."""
    for op in numbers_of(planned.function):
        op.opcode = "const"
    return planned


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

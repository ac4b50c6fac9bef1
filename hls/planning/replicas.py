"""Plans of copies of a kernel, of which one is planned.

Copies that share its iterations differ in their number and in the channels that they call; those of a replicated
autorun kernel in the channels alone, once their compute ids are folded.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace

from ..diag import Span
from ..ir import Function, walk
from ..ir.channel_renaming import channel_renaming, renamed, shape
from ..passes.link.similar_parts import numbers_of, renumbered
from ..recursion import deep_recursion
from .iterate import CompiledKernel

__all__ = ["PlannedCopies", "replica", "with_numbers"]


def replica(planned: CompiledKernel, part: Function, channels: Mapping[str, str]) -> CompiledKernel:
    """The plan of ``part``, which is :func:`~hls.passes.link.similar_parts.alike` the planned one before the stages
    behind the split, with these ``channels`` in the place of its own."""
    return _planned_as(planned, renumbered(planned.function, part, channels))


@dataclass
class PlannedCopies:
    """The plans of the copies of replicated autorun kernels, by their place in the source and their shape: each with
    the optimized kernel that was planned."""

    _planned: dict[tuple[Span | None, int], list[tuple[Function, CompiledKernel]]] = field(default_factory=dict)

    def add(self, function: Function, planned: CompiledKernel) -> None:
        """Remember the plan of an optimized kernel, of which nothing was reported."""
        self._planned.setdefault((function.span, shape(function)), []).append((function, planned))

    def like(self, function: Function) -> CompiledKernel | None:
        """The plan of an optimized kernel that differs from a planned one in the channels that it calls; None if there
        is no such plan."""
        for one, planned in self._planned.get((function.span, shape(function)), ()):
            found = channel_renaming(one, function)
            after = renamed(planned.function, found, function.name) if found is not None else None
            if after is not None:
                return _planned_as(planned, after)
        return None


def _planned_as(planned: CompiledKernel, function: Function) -> CompiledKernel:
    """The plan of ``function``, which has operations like those of the planned one in the same places."""
    memo = _pairs(planned.function, function)
    with deep_recursion():
        memory, plan = deepcopy((planned.memory, planned.plan), memo)
    unrolled = tuple(replace(one, kernel=function.name) for one in planned.unrolled)
    merged = tuple(replace(one, kernel=function.name) for one in planned.merged)
    plan = replace(plan, name=function.name)
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

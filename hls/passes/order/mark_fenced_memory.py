"""Memory fences as observed by other work-items, and by other kernels through a value on a channel."""

from dataclasses import dataclass, replace
from typing import Any

from ...analysis.channels.endpoints import is_call
from ...analysis.loops.loop_tree import LoopTree
from ...ir import Attr, Function, Op, Region, Value, memory_name, reaches_memory, walk
from ...ir.clone import clone_function
from ...ir.loops import CarriedValue
from ...narrow import present
from ..manager import Form, FunctionPass
from .lower_channel_fences import CHANNELS

__all__ = ["FenceOrder", "MarkFencedMemory", "is_memory_fence"]

_SHARED = ("global", "local")


def is_memory_fence(op: Op) -> bool:
    """Whether the operation is a fence that concerns memory."""
    return op.opcode == "mem_fence" and bool(op.attrs[Attr.FLAGS] & ~CHANNELS)


def _fenced(op: Op) -> bool:
    """Whether the operation is a memory fence, or a loop that contains one."""
    return is_memory_fence(op) or any(_fenced(inner) for region in op.regions for inner in region.ops)


@dataclass(frozen=True)
class MarkFencedMemory(FunctionPass):
    """Memory fence lowering, first part. Before: any kernel without calls. After: in a kernel with memory fences,
    global memory that it may share with others is volatile: no access is removed or merged with another across a fence.
    The second part is :class:`FenceOrder`."""

    name = "mark-fenced-memory"
    requires = frozenset({Form.INLINED})

    def run(self, function: Function) -> Function:
        """A copy in which global memory is volatile; the function itself if it has no memory fence."""
        if not any(is_memory_fence(op) for op in walk(function.body)):
            return function
        result = clone_function(function)
        for memory in result.memories.values():
            if memory.space == "global" and not memory.volatile:
                result.memories[memory.name] = replace(
                    memory, volatile=True, attrs=(*memory.attrs, (Attr.FENCED, True))
                )
        return result


class FenceOrder:
    """Memory fence lowering, second part: operations after a fence take tokens of those before it; fences are removed.

    Stores before the fence are in memory; loads and calls have returned. In a single work-item kernel only order
    between memory and channels can be observed, so accesses take tokens of calls and calls those of accesses; in an
    NDRange kernel, everything takes all tokens. A loop with a fence inside also counts as a fence, before and after it.
    A token is carried from one iteration of a loop to the next if a call, or access, after the last fence could be
    overtaken; but iterations of the work-item loop are different work-items and need no such order. ``orderer`` creates
    and attaches tokens.
    """

    def __init__(self, orderer: Any, function: Function, tree: LoopTree) -> None:
        self.orderer, self.function, self.tree = orderer, function, tree
        self.all = bool(function.attrs.get(Attr.NDRANGE))
        self.answers: dict[Op, Value] = {}

    def run(self) -> None:
        """Add tokens and remove all memory fences."""
        if _any_fence(self.function.body):
            self._region(self.function.body, None)
            self._renew()
            _drop(self.function.body)

    def _region(self, region: Region, loop: Op | None) -> None:
        for op in list(region.ops):
            if op.regions and _fenced(op):
                self._region(op.regions[0], op)
        groups = self._groups(region)
        behind = self._begin(region, loop, groups)
        known = {kind: token.arg for kind, token in behind.items()}
        for links, end in groups:
            for link in links:
                self._follow(region, link, known)
            if end:
                done = {
                    kind: self._done(region, [link for link in links if kind in self._kinds(link)], known.get(kind))
                    for kind in ("call", "access")
                }
                known = {kind: token for kind, token in done.items() if token is not None}
        for kind, token in behind.items():
            token.set_next(known[kind])

    def _groups(self, region: Region) -> list[tuple[list[Op], bool]]:
        """The operations to order, in groups between fences; with each, whether a fence ends it."""
        groups: list[tuple[list[Op], bool]] = [([], False)]
        for op in region.ops:
            if _fenced(op):
                groups[-1] = groups[-1][0], True
                groups.append(([], False))
            if self._kinds(op):
                groups[-1][0].append(op)
                if _fenced(op):
                    groups[-1] = groups[-1][0], True
                    groups.append(([], False))
        return groups

    def _kinds(self, op: Op) -> set[str]:
        """Whether an operation, or something inside it, is a call or an access to memory visible outside the
        work-item."""
        if op.regions:
            return {kind for region in op.regions for inner in region.ops for kind in self._kinds(inner)}
        if is_call(op):
            return {"call"}
        shared = reaches_memory(op) and self.function.memories[memory_name(op)].space in _SHARED
        return {"access"} if shared else set()

    def _begin(self, region: Region, loop: Op | None, groups) -> dict[str, CarriedValue]:
        """Tokens of the previous iteration, if an operation before its last fence precedes a different operation in
        front of the first one."""
        if loop is None or loop.attrs.get(Attr.FORM) == "ndrange" or loop.attrs.get(Attr.RING):
            return {}
        first = {kind for link in groups[0][0] for kind in self._kinds(link)}
        closed = {kind for links, end in groups if end for link in links for kind in self._kinds(link)}
        wanted = {kind for kind in closed if first - {kind} or self.all and first}
        around = self.tree.region_of(loop)
        return {kind: self.orderer.carry(around, loop) for kind in sorted(wanted)}

    # --- tokens ---

    def _follow(self, region: Region, link: Op, known: dict[str, Value]) -> None:
        kinds = self._kinds(link)
        for kind, token in known.items():
            if not self.all and kinds == {kind}:
                continue
            if link.regions:
                carried = self.orderer.carry(region, link)
                link.operands[1 + carried.arg.index] = token
                carried.set_next(carried.arg)
            else:
                self.orderer.take(link, token)

    def _done(self, region: Region, links: list[Op], earlier: Value | None) -> Value | None:
        """A token that is there when all of them are done as far as others can observe."""
        stores = [link for link in links if self.orderer.stores.get(link)]
        tokens = [self._answered(region, link) for link in links] + ([earlier] if earlier is not None else [])
        if not tokens:
            return None
        last = links[-1] if links else present(earlier).op
        if stores:
            return self.orderer.fence_behind(region, stores, last, tokens).result
        return self.orderer.token_behind(region, last, tokens).result if links else earlier

    def _answered(self, region: Region, link: Op) -> Value:
        """A token of an operation, or of the last iteration of a loop: results have returned, stores have been
        issued."""
        if link not in self.answers:
            self.answers[link] = (
                self._loop_answered(region, link) if link.regions else self.orderer.done_of(region, link)
            )
        return self.answers[link]

    def _loop_answered(self, region: Region, link: Op) -> Value:
        (body,) = link.regions
        done = self.orderer.carry(region, link)
        inside = [op for op in body.ops if self._kinds(op)]
        tokens = [self._answered(body, op) for op in inside]
        done.set_next(self.orderer.token_behind(body, inside[-1], tokens).result)
        return done.result

    # --- data held by load units ---

    def _renew(self) -> None:
        """Keep loads from returning data read before a fence. In one work-item only a call can announce newer data."""
        loads = [
            op
            for op in walk(self.function.body)
            if op.opcode == "load" and self.function.memories[memory_name(op)].space == "global"
        ]
        if self.all:
            for load in loads:
                load.attrs[Attr.FRESH] = True
            return
        names = tuple(dict.fromkeys(map(memory_name, loads)))
        for op in walk(self.function.body):
            if is_call(op):
                op.attrs[Attr.FLUSH] = names


def _any_fence(region: Region) -> bool:
    return any(_fenced(op) for op in region.ops)


def _drop(region: Region) -> None:
    region.ops = [op for op in region.ops if not is_memory_fence(op)]
    for op in region.ops:
        for inner in op.regions:
            _drop(inner)

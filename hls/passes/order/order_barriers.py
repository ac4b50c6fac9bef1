"""Barrier ordering: everything before a barrier has completed, nothing after it has begun."""

from bisect import bisect_right
from typing import Any

from ...analysis.channels.endpoints import is_call
from ...analysis.dependence.dependence import Dependence
from ...analysis.loops.loop_tree import LoopTree
from ...ir import TOKEN, Attr, Function, Op, Region, Value, may_share, memory_name, reaches_memory, walk
from ...ir.rewrite import constant

__all__ = ["Meetings", "OrderBarriers"]


class Meetings:
    """Which accesses a barrier separates."""

    def __init__(self, tree: LoopTree) -> None:
        self.tree = tree
        self._of: dict[Region, tuple[dict[Op, int], list[int]]] = {}

    def keep_order(self, fact: Dependence) -> bool:
        """Whether a barrier between the two accesses orders them anyway: it waits for all accesses before it."""
        around = [a for a, b in zip(self.tree.around(fact.src), self.tree.around(fact.dst)) if a is b]
        if fact.loop is not None and not fact.loop.attrs.get(Attr.RING):
            return False
        region = fact.loop.regions[0] if fact.loop is not None else around[-1].body if around else None
        if region is None:
            return False
        places, meets = self._places(region)
        if not meets:
            return False
        first, second = (places[self.tree.ancestor(access, region)] for access in (fact.src, fact.dst))
        if fact.loop is not None:
            return meets[-1] > first or meets[0] < second
        behind = bisect_right(meets, first)
        return behind < len(meets) and meets[behind] < second

    def _places(self, region: Region) -> tuple[dict[Op, int], list[int]]:
        """The positions of the region's operations, and those of its unconditional barriers."""
        if region not in self._of:
            places = {op: k for k, op in enumerate(region.ops)}
            meets = [k for op, k in places.items() if op.opcode == "meet" and constant(op.operands[0]) == 1]
            self._of[region] = places, meets
        return self._of[region]


class OrderBarriers:
    """Gives every barrier (``meet``) and every barrier loop the tokens of the operations before it in its region, and
    its own token to those after it.

    This includes all operations of variable latency, even if their order does not matter: while a group gathers at a
    barrier, no operation that completes one work-item after the other may be in the same boundary, with room for less
    than a whole group. ``orderer`` creates and attaches tokens.
    """

    def __init__(self, orderer: Any, function: Function, tree: LoopTree) -> None:
        self.orderer, self.function, self.tree = orderer, function, tree
        self.meets = [op for op in walk(function.body) if op.opcode == "meet"]
        self._position: dict[Op, int] = {}  #: in program order

    def run(self) -> None:
        """Add tokens, and to each barrier the stores of its group that must be in memory."""
        for region in dict.fromkeys(self.tree.region_of(op) for op in self._outermost()):
            self._region(region)
        self._position = {op: k for k, op in enumerate(walk(self.function.body))}
        for meet in self.meets:
            self._settle(meet)

    def _outermost(self) -> list[Op]:
        """Barriers, or the outermost barrier loops around them, in the work-items' own region."""
        found = []
        for meet in self.meets:
            rings = [loop.op for loop in self.tree.around(meet) if loop.op.attrs.get(Attr.RING)]
            found.append(rings[0] if rings else meet)
        return found

    # --- tokens ---

    def _region(self, region: Region) -> None:
        before: list[Op] = []
        met: Value | None = None
        for op in list(region.ops):
            if op.opcode == "meet":
                op.operands += self._tokens(region, before, op)
                op.results = [Value(TOKEN, "", op, 0)]
                before, met = [op], op.result
            elif op.opcode == "loop" and op.attrs.get(Attr.RING):
                self._region(op.regions[0])
                met = self.orderer.through(region, op, self._tokens(region, before, op))
                before = [op]
            elif self._may_wait(op):
                if met is not None:
                    self._wait(region, op, met)
                    self.orderer.places.follow(region, met.op, op)
                before.append(op)

    def _tokens(self, region: Region, before: list[Op], op: Op) -> list[Value]:
        before = [*before, *(fence for one in before for fence in self.orderer.fences_behind(one))]
        for one in before:
            self.orderer.places.follow(region, one, op)
        return [one.result if one.opcode == "fence" else self.orderer.done_of(region, one) for one in before]

    def _may_wait(self, op: Op) -> bool:
        if reaches_memory(op):
            return self.function.memories[memory_name(op)].space in ("global", "local")
        return op.opcode in ("loop", "rtl_wait") or is_call(op)

    def _wait(self, region: Region, op: Op, met: Value) -> None:
        if op.opcode == "loop":
            self.orderer.through(region, op, [met])
        else:
            self.orderer.take(op, met)

    # --- stores to global memory ---

    def _settle(self, meet: Op) -> None:
        """Name the memories with stores before the barrier that other work-items read or write after it."""
        accesses = [op for op in walk(self.function.body) if reaches_memory(op) and self._space(op) == "global"]
        earlier = {op for op in accesses if op.opcode != "load" and self._may_come_before(op, meet)}
        later = [op for op in accesses if self._may_come_before(meet, op)]
        waited, flushed = set(), set()
        for store in earlier:
            for other in later:
                if other is not store and self._may_share(store, other):
                    waited.add(memory_name(store))
                    flushed |= {memory_name(other)} if other.opcode != "store" else set()
        meet.attrs |= {Attr.MEMS: tuple(sorted(waited)), Attr.FLUSH: tuple(sorted(flushed))}

    def _space(self, access: Op) -> str:
        return self.function.memories[memory_name(access)].space

    def _may_come_before(self, first: Op, second: Op) -> bool:
        """Whether ``first`` may execute before ``second`` in one work-item."""
        rings = [
            a for a, b in zip(self.tree.around(first), self.tree.around(second)) if a is b and a.op.attrs.get(Attr.RING)
        ]
        return bool(rings) or self._position[first] < self._position[second]

    def _may_share(self, one: Op, other: Op) -> bool:
        first, second = (self.function.memories[memory_name(op)] for op in (one, other))
        return may_share(first, second)

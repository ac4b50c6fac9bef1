"""Write-port constraints: order among stores that share the single write port of an on-chip memory."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ...analysis.dependence.dependence import Dependence, Kind
from ...analysis.loops.loop_tree import LoopTree
from ...analysis.workgroup.phases import BarrierPhases
from ...diag import Code, CompileError, Diagnostic
from ...ir import Attr, Function, MemoryObject, Op, Region, Value, memory_name, regions, walk
from ...ir.reorder import Reordering
from ..memory.multi_buffer_private import copies_of_loop, writers_apart

__all__ = ["PortGroups", "keep_apart", "may_write_twice"]

#: operations with a response in a later level
_LATE = frozenset({"load", "atomic", "loop"})


def keep_apart(function: Function, tree: LoopTree, known: Iterable[Dependence]) -> list[Dependence]:
    """The dependences to add to ``known`` so that no two stores of different levels or loops use a port in one cycle.

    Numbers the stores of each region: see ``Attr.PORT_GROUP``. Work-items of different groups write different copies of
    local memory, and those of one group never write in two phases at once; stores of one phase that might conflict get
    ``Attr.BOOKED`` (a port reservation). So do stores in different loops inside a common loop whose data needs no
    order. Raises CompileError for stores and atomic operations that would conflict within one level.
    """
    facts = {(fact.src, fact.dst, fact.loop) for fact in known if fact.distance <= 1}
    faults: list[Diagnostic] = []
    found, phases = [], BarrierPhases(function)
    by_memory = _stores(function)
    copied = {
        name
        for name, stores in by_memory.items()
        if Attr.COPIES in dict(function.memories[name].attrs) and writers_apart(tree, stores)
    }
    booking = {
        name: set() if _by_phases(function, name) or name in copied else _free(stores, tree, facts)
        for name, stores in by_memory.items()
    }
    taking_turns = [(stores, booking[name]) for name, stores in by_memory.items() if not _by_phases(function, name)]
    for name, stores in by_memory.items():
        for region in dict.fromkeys(tree.region_of(op) for op in stores):
            here, first = [op for op in stores if tree.region_of(op) is region], 0
            before = _orders_inside(region, known, taking_turns)
            for phase in dict.fromkeys(phases.of[op] for op in here):
                first = _number(region, [op for op in here if phases.of[op] == phase], before, first)
        if _by_phases(function, name):
            faults += _book(name, stores, tree, phases)
            continue
        for op in booking[name]:
            op.attrs[Attr.BOOKED] = name
        for one, other in itertools.combinations(stores, 2):
            if not _one_level(tree, one, other) and not booking[name].issuperset((one, other)):
                apart = function if name in copied else None
                found += [
                    fact for fact in _orders(tree, one, other, apart) if (fact.src, fact.dst, fact.loop) not in facts
                ]
    if faults:
        raise CompileError(*faults)
    return found


@dataclass(frozen=True, eq=False)
class PortGroups:
    """The stores of a function that must be in one level, by region; to be made after :func:`keep_apart`."""

    function: Function
    places: Reordering

    def parted(self, region: Region, src: Op, dst: Op) -> bool:
        """Whether ``dst`` after ``src``, operations of the region, would put stores of one group into different levels:
        one comes before ``src``, another one behind ``dst``, and an operation of variable latency in between."""
        precedes, between = partial(self.places.leads, region), self._late[region]
        for stores in self._groups.get(region, ()) if between else ():
            early = [op for op in stores if precedes(op, src)]
            late = [op for op in stores if precedes(dst, op)] if early else []
            if late and any(
                precedes(op, src)
                and any(precedes(one, op) for one in early)
                or precedes(dst, op)
                and any(precedes(op, one) for one in late)
                for op in between
            ):
                return True
        return False

    @cached_property
    def _groups(self) -> dict[Region, list[list[Op]]]:
        """Those of several stores."""
        found: dict[Region, list[list[Op]]] = {}
        for region in regions(self.function.body):
            groups: dict[tuple[str, int], list[Op]] = {}
            for op in region.ops:
                if Attr.PORT_GROUP in op.attrs:
                    groups.setdefault((memory_name(op), op.attrs[Attr.PORT_GROUP]), []).append(op)
            found[region] = [stores for stores in groups.values() if len(stores) > 1]
        return found

    @cached_property
    def _late(self) -> dict[Region, list[Op]]:
        """Operations of variable latency, as they are asked for with each dependence."""
        return {region: [op for op in region.ops if self._is_late(op)] for region in regions(self.function.body)}

    def _is_late(self, op: Op) -> bool:
        return op.opcode in _LATE and not (op.opcode == "load" and self.function.memories[memory_name(op)].onchip)


def may_write_twice(memory: MemoryObject) -> bool:
    """Whether planning may give the memory's banks two write ports, one of which writes before the other in a cycle."""
    attrs = dict(memory.attrs)
    return Attr.DOUBLEPUMP in attrs and attrs.get(Attr.NUMWRITEPORTS, 2) > 1


def _by_phases(function: Function, name: str) -> bool:
    """Whether barriers separate the stores to the memory, so that they need no order."""
    return bool(function.attrs.get(Attr.NDRANGE)) and function.memories[name].space == "local"


def _free(stores: list[Op], tree: LoopTree, facts: set[Any]) -> set[Op]:
    """Stores that only the port would order against stores of another loop, across iterations of a loop around both."""
    if any(op.opcode == "atomic" for op in stores):
        return set()
    return {
        op
        for first in stores
        for second in stores
        for op in (first, second)
        if tree.region_of(first) is not tree.region_of(second)
        and any(
            (fact.src, fact.dst, fact.loop) not in facts
            for fact in _orders(tree, first, second)
            if fact.loop is not None
        )
    }


def _book(name: str, stores: list[Op], tree: LoopTree, phases: BarrierPhases) -> Iterator[Diagnostic]:
    """Name the port of stores to local memory that different work-items of a group may execute in one cycle, in
    different levels; yields errors."""
    for number, shared in enumerate(_connected(stores, phases)):
        if len({(tree.region_of(op), op.attrs[Attr.PORT_GROUP]) for op in shared}) > 1:
            for op in shared:
                op.attrs[Attr.BOOKED] = f"{name} {number}"
        for k, first in enumerate(shared):
            for second in shared[k + 1 :]:
                # an atomic operation writes some cycles after its start, which the schedule's reservation of the port
                # does not cover
                if _one_level(tree, first, second) and first.opcode != second.opcode:
                    note = Diagnostic("the other one", first.span, severity="note")
                    yield Diagnostic(
                        f"a store to {name} and an atomic operation on it may execute in the same cycle here, and they "
                        "share one write port",
                        second.span,
                        "put a barrier between the two, or make both atomic",
                        notes=(note,),
                        code=Code.STORE_BESIDE_ATOMIC,
                    )


def _connected(stores: list[Op], phases: BarrierPhases) -> list[list[Op]]:
    """The stores in sets such that those that may execute at the same time are in one set."""
    sets: list[list[Op]] = []
    for op in stores:
        near = [one for one in sets if any(phases.together(op, other) for other in one)]
        sets = [one for one in sets if one not in near] + [[*(other for one in near for other in one), op]]
    return sets


def _stores(function: Function) -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {}
    for op in walk(function.body):
        if op.opcode in ("store", "atomic") and function.memories[op.operands[0].defining_op.attrs[Attr.MEM]].onchip:
            found.setdefault(op.operands[0].defining_op.attrs[Attr.MEM], []).append(op)
    return {name: ops for name, ops in found.items() if len(ops) > 1}


def _one_level(tree: LoopTree, first: Op, second: Op) -> bool:
    return (
        tree.region_of(first) is tree.region_of(second)
        and first.attrs[Attr.PORT_GROUP] == second.attrs[Attr.PORT_GROUP]
    )


def _orders(tree: LoopTree, first: Op, second: Op, apart: Function | None = None) -> Iterator[Dependence]:
    """Order within an iteration of the loops around both, and from each iteration to the next one; with ``apart``, a
    function whose copies for iterations are separate memories, to the next iteration that uses the same copy."""
    yield Dependence(first, second, Kind.WAW)
    for a, b in zip(tree.around(first), tree.around(second)):
        if a is not b:
            break
        distance = copies_of_loop(apart, a.op, memory_name(first)) if apart is not None else 1
        yield Dependence(second, first, Kind.WAW, a.op, distance)
        yield Dependence(first, second, Kind.WAW, a.op, distance)


def _orders_inside(
    region: Region, known: Iterable[Dependence], taking_turns: Iterable[tuple[list[Op], set[Op]]]
) -> dict[Op, set[Op]]:
    """For operations of the region those that precede them within one iteration: by memory order, or because a loop
    stores to the same memory and occupies its port meanwhile. Of ``taking_turns``, the stores of each memory and those
    that reserve its port, only two that both reserve it need no order."""
    holders = {inner: op for op in region.ops for part in op.regions for inner in walk(part)}
    holders |= {op: op for op in region.ops}
    before: dict[Op, set[Op]] = {}
    for fact in known:
        if fact.loop is None and fact.src in holders and fact.dst in holders:
            before.setdefault(holders[fact.dst], set()).add(holders[fact.src])
    for stores, booked in taking_turns:
        inside = list(dict.fromkeys(holders[op] for op in stores if op in holders))
        waiting = {holders[op] for op in stores if op in holders and op not in booked}
        for k, one in enumerate(inside):
            for other in inside[k + 1 :]:
                if (one.regions or other.regions) and not waiting.isdisjoint((one, other)):
                    before.setdefault(other, set()).add(one)
    return before


def _number(region: Region, stores: list[Op], before: dict[Op, set[Op]], number: int) -> int:
    """Number the port groups of stores: a store that depends on another one of its group through a result of variable
    latency is in a later level, and begins a new group.

    The groups are numbered from ``number``; returns the number after the last one.
    """
    makers = {value: op for op in region.ops for value in op.results}
    mine, last = set(stores), stores[-1]
    late: dict[Op, bool] = {}  #: ops of the group, or depending on it: whether through such a result
    for op in region.ops:
        needed = {makers[v] for v in _inputs(op) if v in makers} | before.get(op, set())
        ways = [late[p] or p.opcode in _LATE for p in needed if p in late]
        if ways:
            late[op] = any(ways)
        if op in mine:
            if late.get(op):
                number, late = number + 1, {}
            op.attrs[Attr.PORT_GROUP], late[op] = number, False
        if op is last:
            break
    return number + 1


def _inputs(op: Op) -> set[Value]:
    found = set(op.operands)
    for region in op.regions:
        for inner in walk(region):
            found.update(inner.operands)
    return found

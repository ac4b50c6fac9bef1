"""Store sinking and conditional dead store elimination, for stores of one iteration whose addresses are known at run
time only."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from ...analysis.dependence.dependence import Dependence, DependenceTester, promised, unused_number
from ...analysis.loops.forward_slice import behind
from ...analysis.loops.loop_tree import Loop
from ...analysis.memory.must_alias import MustAlias
from ...analysis.predicates.implication import Exclusions
from ...ir import Attr, Builder, Function, IntType, Op, Region, Value, may_share, memory_name, regions, walk
from ...ir.accesses import predicate, reaches_memory
from ...ir.clone import clone_function
from ...ir.launch import lanes_of
from ..manager import Form, FunctionPass
from .serialize_stores import is_used_beside
from .store_order import StoreOrder

__all__ = ["SinkStores", "resized"]

#: most stores of one region to one memory whose addresses are compared pairwise
MOST_COMPARED = 4
#: the same for stores of work-items at invariant distances: each work-item writes neighbours of its own location, and
#: serialized stores would interleave these
MOST_STEADY = 16


@dataclass(frozen=True)
class SinkStores(FunctionPass):
    """Store sinking (LLVM: MergedLoadStoreMotion) and dead store elimination by run-time comparison. Before: a flat
    kernel without tokens. After: two stores of one region of which at most one executes, and whose addresses are or may
    be equal, are one store. With ``compare``, of two that may both execute the first executes only if the addresses
    differ, so that they need no order within their iteration (attributes ``writer`` and ``apart``).

    An operation between two stores that must see the first one in memory prevents both.
    """

    address_bits: int = 64
    compare: bool = False
    name = "sink-stores"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which exclusive stores are one; the function itself if no two stores may be."""
        exclusions = Exclusions()
        names = {
            memory_name(stores[0]) for stores in _together(function) if self._may_treat(function, stores, exclusions)
        }
        if not names:
            return function
        result = clone_function(function)
        order = _order(function, result, names, self.address_bits)
        pairs = _Pairs(MustAlias(result, self.address_bits), order, self.address_bits)
        while pairs.treat(self.compare):
            pass
        return result

    def _may_treat(self, function: Function, stores: list[Op], exclusions: Exclusions) -> bool:
        """Whether anything might change: a cheap test before the dependence analysis."""
        if (
            self.compare
            and len(stores) <= MOST_STEADY * lanes_of(function)
            and function.memories[memory_name(stores[0])].space == "global"
        ):
            return True
        conditions = list(dict.fromkeys(map(predicate, stores)))  # most stores share a few
        return any(exclusions.never_both(one, other) for one, other in combinations(conditions, 2))


def _order(function: Function, copy: Function, names: Collection[str], address_bits: int) -> StoreOrder:
    """The dependences among the accesses of a copy to these memories, as they are in the function, which stays as it
    is."""
    originals = dict(zip(walk(copy.body), walk(function.body), strict=True))
    copies = {original: op for op, original in originals.items()}
    tester = DependenceTester(function, address_bits)

    def asked(first: Op, second: Op, carried: bool) -> Iterator[Dependence]:
        if memory_name(first) != memory_name(second):
            return
        for fact in tester.pair(originals[first], originals[second], carried):
            if (kept := promised(fact)) is not None:
                yield replace(kept, src=copies[kept.src], dst=copies[kept.dst])

    return StoreOrder((op for op in originals if reaches_memory(op) and memory_name(op) in names), asked)


def _together(function: Function) -> list[list[Op]]:
    """The stores of one region to one memory, if there are several."""
    found: dict[tuple[Region, str], list[Op]] = {}
    for region in regions(function.body):
        for op in region.ops:
            if op.opcode == "store":
                found.setdefault((region, memory_name(op)), []).append(op)
    return [stores for stores in found.values() if len(stores) > 1]


class _Pairs:
    """The pairs of stores of a function that need an order; ``order``, their dependences, is updated as stores
    change."""

    def __init__(self, places: MustAlias, order: StoreOrder, address_bits: int) -> None:
        self.places, self.order, self.address_bits = places, order, address_bits
        self.exclusions = Exclusions()  #: merging and comparing make new conditions, and change none

    def treat(self, compare: bool) -> bool:
        """Transform one pair; False if none is left."""
        for stores in _together(self.places.function):
            for first, second in combinations(stores, 2):
                exclusive = _exclusive(first, second, self.exclusions)
                if not (exclusive or compare and self.order.within(first, second)):
                    continue  # most pairs: the tests below take longer
                pair = _Pair(self.places, self.order, first, second, self.address_bits)
                if not self._may_meet(pair, stores) or not pair.movable():
                    continue
                if exclusive:
                    pair.merge()
                    self.order.merge(first, second)
                    return True
                if self._is_worth(stores) and pair.comparable():
                    pair.compare()
                    self.order.release(first, second)
                    return True
        return False

    def _is_worth(self, stores: list[Op]) -> bool:
        """Whether comparing is better than serializing at one unit, which is smaller."""
        return len(stores) <= MOST_COMPARED and self._read(stores) or self._steady(stores)

    def _steady(self, stores: list[Op]) -> bool:
        """Whether the stores are those of work-items, which need no order among each other, to rows of one buffer: at
        distances that are invariant but unknown (at known ones, adjacent stores are coalesced)."""
        loop = next(iter(self.places.tree.around(stores[0])[::-1]), None)
        if loop is None or not loop.op.attrs.get(Attr.PARALLEL):
            return False
        lanes: dict[int | None, list[Op]] = {}
        for op in stores:
            lanes.setdefault(op.attrs.get(Attr.LANE), []).append(op)
        return all(len(mine) <= MOST_STEADY and self._steadily_apart(mine, loop) for mine in lanes.values())

    def _steadily_apart(self, stores: list[Op], loop: Loop) -> bool:
        return all(
            self.places.steadily_apart(one, other, loop) for k, one in enumerate(stores) for other in stores[k + 1 :]
        )

    def _read(self, stores: list[Op]) -> bool:
        """Whether the loop accesses their memory in any other way."""
        memories, region = self.places.function.memories, self.places.tree.region_of(stores[0])
        return is_used_beside(memories, memories[memory_name(stores[0])], region, set(stores))

    def _may_meet(self, pair: "_Pair", stores: list[Op]) -> bool:
        """Whether the addresses of a pair among these stores are equal, or may be and only a run can tell."""
        first, second = pair.first, pair.second
        order = self.order.between(first, second)
        if any(not fact.known for fact in order) or (order and self._steady(stores)):
            return True
        return self.places.distance(first, second, None) == 0


def _exclusive(first: Op, second: Op, exclusions: Exclusions) -> bool:
    """Whether at most one of the stores executes, so that one store can do for both."""
    alike = first.operands[1].type == second.operands[1].type
    return alike and exclusions.never_both(predicate(first), predicate(second))


class _Pair:
    """Two stores to one memory, the first one before the second in program order."""

    def __init__(self, places: MustAlias, order: StoreOrder, first: Op, second: Op, address_bits: int) -> None:
        self.places, self.first, self.second, self.address_bits = places, first, second, address_bits
        self.order = order
        self.region: Region = places.tree.region_of(second)

    def movable(self) -> bool:
        """Whether the first store may move down to just before the second one."""
        places, ops = self.places, self.region.ops
        if not places.undisturbed(self.region):
            return False
        if not (places.plain(self.first) and places.plain(self.second) and places.same_size(self.first, self.second)):
            return False
        passed = ops[ops.index(self.first) + 1 : ops.index(self.second)]
        between = {inner for op in passed for inner in (op, *(one for body in op.regions for one in walk(body)))}
        if any(self._may_overlap(op) for op in between if reaches_memory(op)):
            return False
        return not self.order.followers(self.first, between)

    def _may_overlap(self, access: Op) -> bool:
        """Whether the access is to another buffer that may alias this one."""
        memories = self.places.function.memories
        mine, other = memories[memory_name(self.first)], memories[memory_name(access)]
        return mine is not other and may_share(mine, other)

    def comparable(self) -> bool:
        """Whether the second store's address and predicate are known without waiting for the first store."""
        followers = self.order.all_followers()
        followers[self.first] = followers.get(self.first, set()) - {self.second}
        pointer, _, condition = self.second.operands
        memory = self.places.function.memories[memory_name(self.first)]
        return memory.space == "global" and not {pointer, condition} & behind(self.region, (self.first,), followers)

    def merge(self) -> None:
        """Replace both by one store at the position of the second."""
        if self.first.attrs.get(Attr.LANE) != self.second.attrs.get(Attr.LANE):
            self.second.attrs.pop(Attr.LANE, None)
        b = Builder(Region(), self.second.span)
        (pointer, value, condition), (other_pointer, other, other_condition) = self.first.operands, self.second.operands
        if pointer is not other_pointer:
            one, two = (resized(p.defining_op.operands[0], self._offset_type(), b) for p in (pointer, other_pointer))
            other_pointer = b.addr(memory_name(self.first), b.value("select", condition, one, two))
        if value is not other:
            other = b.value("select", condition, value, other)
        self.second.operands[:] = [other_pointer, other, b.value("or", condition, other_condition)]
        self.region.ops.remove(self.first)
        self._insert(b.region.ops)

    def compare(self) -> None:
        """Move the first store just before the second, and disable it if the second overwrites it."""
        b = Builder(Region(), self.first.span)
        one, two = (
            resized(op.operands[0].defining_op.operands[0], self._offset_type(), b) for op in (self.first, self.second)
        )
        overwritten = b.value("and", predicate(self.second), b.value("eq", one, two))
        self.first.operands[2] = b.value("and", predicate(self.first), b.value("xor", overwritten, b.true()))
        numbers = self.first.attrs.setdefault(Attr.WRITER, (unused_number(self.places.function),))
        self.second.attrs[Attr.APART] = (*self.second.attrs.get(Attr.APART, ()), *numbers)
        self.region.ops.remove(self.first)
        self._insert([*b.region.ops, self.first])

    def _insert(self, ops: list[Op]) -> None:
        at = self.region.ops.index(self.second)
        self.region.ops[at:at] = ops

    def _offset_type(self) -> IntType:
        offsets = (op.operands[0].defining_op.operands[0] for op in (self.first, self.second))
        return IntType(min(self.address_bits, max(v.type.bits for v in offsets)))


def resized(offset: Value, type: IntType, b: Builder) -> Value:
    """An unsigned byte offset into a memory, resized to the type's bits."""
    if offset.type == type:
        return offset
    return b.value("zext" if offset.type.bits < type.bits else "trunc", offset, result=type)

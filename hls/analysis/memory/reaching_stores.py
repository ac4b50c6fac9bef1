"""Reaching stores (last-writer analysis): the accesses that a load's value comes from, if known at compile time."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...ir import Op, memory_name, moved_type, walk
from ...ir.accesses import predicate
from ...ir.phi_translation import translated
from ...ir.same import ValueNumbers
from ...narrow import present
from ..dependence.dependence import Kind
from ..loops.loop_tree import Loop
from ..predicates.implication import follows, implied
from .must_alias import MustAlias

__all__ = ["ReachingStore", "ReachingStores"]

#: register bits for the values of one store in earlier iterations; with more, memory is read instead
MOST_BITS = 2048


@dataclass(frozen=True)
class ReachingStore:
    """An access that wrote, or read, what a load reads, ``distance`` iterations earlier. ``certain``: it executed then,
    given that the load executes. With ``compare`` only if both addresses are equal; if not, the accesses are
    independent. ``place``: for a larger store, the offset in bytes of the loaded part."""

    access: Op
    distance: int
    certain: bool
    compare: bool = False
    place: int = 0


class ReachingStores:
    """The last stores before the loads of one region, the body of ``loop`` (None: the kernel's). With ``compare``,
    addresses in global memory that may be equal within one iteration may be compared at run time."""

    def __init__(self, places: MustAlias, loop: Loop | None, compare: bool = False) -> None:
        self.places, self.loop, self.compare = places, loop, compare
        body = loop.body if loop is not None else places.function.body
        self.holder = {inner: op for op in body.ops for part in op.regions for inner in walk(part)} | {
            op: op for op in body.ops
        }
        self.order = {op: k for k, op in enumerate(body.ops)}
        self.stores = [op for op in self.holder if op.opcode == "store"]
        self.loads = [op for op in body.ops if op.opcode == "load" and places.plain(op)]
        self.carries = loop is not None and not loop.parallel
        self.continuing = implied(loop.again) if loop is not None else {}
        self._numbers = ValueNumbers()

    @cached_property
    def _plain_stores(self) -> list[Op]:
        """The stores of the region itself that may write exactly what a load reads."""
        return [store for store in self.stores if self.holder[store] is store and self.places.plain(store)]

    @cached_property
    def _stores_by_row(self) -> dict[tuple[Any, ...], list[Op]]:
        """The stores by row: only stores of its row can write exactly what a load reads."""
        return self._by_row(self._plain_stores)

    @cached_property
    def _largest(self) -> dict[str, int]:
        """Bytes of the largest store to each memory that may write exactly what a load reads."""
        found: dict[str, int] = {}
        for store in (store for row in self._stores_by_row.values() for store in row):
            name = memory_name(store)
            found[name] = max(found.get(name, 0), moved_type(store).bytes)
        return found

    @cached_property
    def _loads_by_row(self) -> dict[tuple[Any, ...], list[Op]]:
        return self._by_row(self.loads)

    def _by_row(self, accesses: list[Op]) -> dict[tuple[Any, ...], list[Op]]:
        found: dict[tuple[Any, ...], list[Op]] = {}
        for access in accesses:
            found.setdefault(self.places.row(access, self.loop), []).append(access)
        return found

    def of(self, load: Op) -> list[ReachingStore]:
        """The accesses whose values the load may read, the latest first; all but the last one may not have executed.
        Empty if there are none, or if another store may intervene."""
        exact = self._exact(load)
        known = {writer.access for writer in exact}
        others = [store for store in self.stores if store not in known]
        found: list[ReachingStore] = []
        for writer in sorted([*exact, *self._comparable(load, others)], key=self._age):
            if not self._short(writer, load) or self._comes_between(others, load, writer, found):
                break
            found.append(writer)
            if writer.certain:
                break
        return self._ended(load, found, exact, others)

    def _ended(
        self, load: Op, stores: list[ReachingStore], exact: list[ReachingStore], others: list[Op]
    ) -> list[ReachingStore]:
        """The stores, followed by an earlier load of the same address if that avoids a memory access. Stores that do
        not help are dropped: a store of an earlier iteration that may not have executed needs a certain access after it
        in the list."""
        sure = bool(stores) and stores[-1].certain
        for read in sorted(self._read_before(load), key=self._age):
            newer = [writer for writer in stores if self._age(writer) < self._age(read)]
            missing = any(self._age(writer) < self._age(read) and writer not in newer for writer in exact)
            if (
                missing
                or any(writer.certain for writer in newer)
                or not self._short(read, load)
                or self._comes_between(others, load, read, newer)
            ):
                break
            if read.distance == 0 or not sure and any(writer.distance for writer in newer):
                return [*newer, read]
        return stores if sure else [writer for writer in stores if not writer.distance]

    def _comes_between(self, others: list[Op], load: Op, writer: ReachingStore, found: list[ReachingStore]) -> bool:
        """Whether one of the other stores may write the address after the writer, unless its address is compared."""
        compared = {one.access for one in found} | {writer.access}
        return any(self._comes_later(store, load, writer, store in compared) for store in others)

    def _short(self, writer: ReachingStore, load: Op) -> bool:
        return writer.distance * moved_type(load).bits <= MOST_BITS

    def _exact(self, load: Op) -> list[ReachingStore]:
        """The stores of exactly what the load reads, and those of which it reads a part."""
        size = moved_type(load).bytes
        parts = range(0, self._largest.get(memory_name(load), 0), size)
        found = []
        for part in parts:
            for store in self._stores_by_row.get(self.places.row(load, self.loop, part), ()):
                distance = (
                    self.places.distance(store, load, self.loop, part)
                    if part + size <= moved_type(store).bytes
                    else None
                )
                if distance == 0 and self.order[store] > self.order[load]:
                    distance = 1 if self.carries and self.places.fixed(store, present(self.loop)) else None
                if distance is not None and (distance == 0 or distance > 0 and self.carries):
                    found.append(ReachingStore(store, distance, self._certain(store, load, distance), place=part))
        return found + self._at_next_address(load, {writer.access for writer in found})

    def _at_next_address(self, load: Op, found: set[Op]) -> list[ReachingStore]:
        """The other stores at the address that the load has in the next iteration, by phi translation: an index that
        the loop carries may be anything, as in ``a[next] = a[i]; i = next;``."""
        loop = self.loop
        if loop is None or not self.carries or self.places.steady(self.places.form(load), loop):
            return []
        stores = [
            store
            for store in self._plain_stores
            if store not in found and self.places.same_size(store, load) and follows(predicate(store), self.continuing)
        ]
        nexts = dict(zip(loop.body.args, map(loop.following, loop.body.args), strict=True))
        address = translated(load.operands[0], nexts, self.order) if stores else None
        if address is None:
            return []
        number = self._numbers.of(address)
        return [ReachingStore(store, 1, True) for store in stores if self._numbers.of(store.operands[0]) == number]

    def _read_before(self, load: Op) -> list[ReachingStore]:
        """Loads of the same address that certainly executed: their value is current unless a store came between."""
        found = []
        for other in self._loads_by_row[self.places.row(load, self.loop)]:
            distance = self.places.distance(other, load, self.loop) if other is not load else None
            if distance is None or distance < 0 or distance and not self.carries:
                continue
            if (distance or self.order[other] < self.order[load]) and self._certain(other, load, distance):
                found.append(ReachingStore(other, distance, True))
        return found

    def _comparable(self, load: Op, others: list[Op]) -> list[ReachingStore]:
        """Stores of the same iteration that may have written everything that the load reads, or nothing of it."""
        if not self.compare or self.places.function.memories[memory_name(load)].space != "global":
            return []
        return [
            ReachingStore(store, 0, False, True)
            for store in others
            if self.holder[store] is store
            and self.order[store] < self.order[load]
            and self.places.plain(store)
            and self.places.same_size(store, load)
            and any(fact.loop is None and not fact.overlap for fact in self.places.between(store, load))
        ]

    def _certain(self, access: Op, load: Op, distance: int) -> bool:
        facts = self.continuing if distance else implied(predicate(load))
        return follows(predicate(access), facts)

    def _age(self, writer: ReachingStore) -> tuple[int, int]:
        return writer.distance, -self.order[writer.access]

    def _comes_later(self, store: Op, load: Op, writer: ReachingStore, compared: bool) -> bool:
        """Whether the store may write the address between the writer and the load, not counting the load's own
        iteration if ``compared``."""
        at, since = self.order[self.holder[store]], self.order[writer.access]
        for fact in self.places.between(store, load):
            if fact.kind is not Kind.RAW or fact.dst is not load:
                continue
            if fact.loop is None and not compared and (writer.distance or at > since):
                return True
            here = self.loop is not None and fact.loop is self.loop.op
            if here and (fact.distance < writer.distance or fact.distance == writer.distance and at > since):
                return True
        return False

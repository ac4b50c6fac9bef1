"""Store-to-load forwarding from stores in flight: a load takes the stored value where it would wait for memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice

from ...ir import (
    BOOL,
    TOKEN,
    Attr,
    Builder,
    Function,
    IntType,
    MemoryObject,
    Op,
    Region,
    TokenType,
    Value,
    fixed_operands,
    is_early,
    memory_name,
    moved_type,
    regions,
    walk,
)
from ...ir.accesses import predicate
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ...narrow import instance
from ..manager import Form, FunctionPass

__all__ = ["ForwardInFlightStores"]


@dataclass(frozen=True)
class ForwardInFlightStores(FunctionPass):
    """Store-to-load forwarding as in the store queue of a processor (Sethumadhavan and others 2003). Before: accesses
    are ordered by tokens, and a ``hazard`` lets a load wait until earlier stores to its address are in memory. After:
    where all accesses have one type, the hazard ``finds`` the newest such store instead. The stores of an iteration
    also write their values to an array of the kernel, at the slots that the hazard gives them; a load that finds a
    store reads its slot and not memory. A second hazard, behind the loads, lets it wait until that slot is written,
    which takes as long as the program's own computation from load to store.

    A store whose condition is known only later writes its slot in any case: the value that is at its address otherwise,
    which a load of the same iteration must have. ``slots``: places for stores in flight (0: the pass does nothing).
    """

    slots: int = 0
    name = "forward-in-flight-stores"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loads take the value of stores in flight from ``slots`` slots; an equal copy for 0 slots."""
        result = clone_function(function)
        numbers = count(1 + max((op.attrs[Attr.NUMBER] for _, op in _hazards(result)), default=0))
        for region, hazard in list(_hazards(result)) if self.slots else ():
            found = _Compared.of(result, region, hazard)
            if found is not None:
                _Forwarding(result, found, self.slots, next(numbers)).build()
        return result


def _hazards(function: Function) -> Iterator[tuple[Region, Op]]:
    for region in regions(function.body):
        for op in region.ops:
            if op.opcode == "hazard":
                yield region, op


@dataclass(frozen=True)
class _Compared:
    """The loads that wait for a hazard, in the order of its operands, and the stores that it compares them with, in
    program order. ``asks`` lists for each load the numbers of its stores, ``known`` says whether its predicate is an
    operand. ``base`` is for each store a load of its address that is always made; None if the store's predicate is
    known with its address."""

    region: Region
    hazard: Op
    loads: tuple[Op, ...]
    known: tuple[bool, ...]
    stores: tuple[Op, ...]
    asks: tuple[tuple[int, ...], ...]
    base: tuple[Op | None, ...]

    @staticmethod
    def of(function: Function, region: Region, hazard: Op) -> "_Compared | None":
        """The accesses of a hazard if all stores can be forwarded; else None."""
        number, asks, certain = (hazard.attrs[key] for key in (Attr.NUMBER, Attr.ASKS, Attr.CERTAIN))
        takers = [op for op in region.ops if hazard.result in op.operands]
        asked = list(zip(hazard.operands[::2], hazard.operands[1::2], strict=True))[: len(asks)]
        loads = [next((op for op in takers if _is_asked(op, *pair)), None) for pair in asked]
        places = {at: op for op in region.ops for n, at in op.attrs.get(Attr.HAZARDS, ()) if n == number}
        stores = [places[k] for k in range(len(certain))]
        memory = function.memories[memory_name(stores[0])]
        plain = [op for op in loads if op is not None and op.opcode == "load" and not is_early(op)]
        types = {moved_type(op) for op in (*plain, *stores)}
        waits = any(not _finds_newest(function, region, op, hazard) for op in plain)
        in_order = [op for op in region.ops if op in places.values()] == stores
        if set(plain) != set(takers) or len(plain) < len(asks) or memory.volatile or waits or not in_order:
            return None
        if not _behind(region, stores).isdisjoint((hazard, *plain)):  # a slot would be needed before it is known
            return None
        if len(types) > 1 or any(t.bits != 8 * t.bytes for t in types) or memory.space != "global":
            return None
        base = [None if sure else _base(store, plain) for store, sure in zip(stores, certain, strict=True)]
        if any(load is None and not sure for load, sure in zip(base, certain, strict=True)):
            return None
        known = (predicate(op) is given for op, (_, given) in zip(plain, asked, strict=True))
        return _Compared(region, hazard, tuple(plain), tuple(known), tuple(stores), asks, tuple(base))


def _is_asked(op: Op, pointer: Value, given: Value) -> bool:
    return op.opcode == "load" and op.operands[0] is pointer and (given is predicate(op) or constant(given) == 1)


def _finds_newest(function: Function, region: Region, load: Op, hazard: Op) -> bool:
    """Whether no store that the load waits for otherwise may be newer than what the hazard finds.

    After a wait inside the region there may be: the hazard may have answered before it. After a wait of the whole loop
    there is none. The loop begins when those stores are in memory, and each of them was issued when older stores to its
    address were in memory. So these have left the table, unless it keeps words and a younger store has joined theirs:
    one of an iteration in between, if a fence waits for iterations before the last one only.
    """
    tokens = [token for token in load.operands[fixed_operands(load) :] if token is not hazard.result]
    inside = {*region.args, *(value for op in region.ops for value in op.results)}
    if any(token in inside or instance(token.type, TokenType).overlap for token in tokens):
        return False
    return not tokens or not any(_lets_iterations_by(op, memory_name(load)) for op in walk(function.body))


def _behind(region: Region, stores: list[Op]) -> set[Op]:
    """The operations of an iteration that need what one of the stores gives, as loads that wait for it do, and what
    these are needed for."""
    found: set[Op] = set()
    values: set[Value] = set()
    for op in region.ops:
        used = (*op.operands, *(value for part in op.regions for inner in walk(part) for value in inner.operands))
        if not values.isdisjoint(used):
            found.add(op)
        if op in found or op in stores:
            values.update(op.results)
    return found


def _lets_iterations_by(op: Op, memory: str) -> bool:
    """Whether the operation is a fence on stores to the memory that lets the next iteration go on without them."""
    return op.opcode == "fence" and memory in op.attrs[Attr.MEMS] and instance(op.result.type, TokenType).distance > 1


def _base(store: Op, loads: list[Op]) -> Op | None:
    """A load that always reads the store's address in its iteration."""
    return next((op for op in loads if op.operands[0] is store.operands[0] and constant(predicate(op)) == 1), None)


@dataclass
class _Forwarding:
    """Rewrites the accesses of one hazard; the other one is ``number``."""

    function: Function
    at: _Compared
    slots: int
    number: int
    new: list[Op] = field(default_factory=list)

    def build(self) -> None:
        at = self.at
        hits, slots = self._answers()
        self.type = moved_type(at.stores[0])
        self.names = [self._array(store) for store in at.stores]
        for load, found in zip(at.loads, hits, strict=True):
            self._make_missing(load, [hit for hit, _ in found])
        written = self._until_pushed(hits, slots)
        reads, values = [list[Value]() for _ in at.stores], dict[Value, Value]()
        for load, known, asks, found in zip(at.loads, at.known, at.asks, hits, strict=True):
            b, value = self._builder(load), load.result
            for k, (hit, slot) in zip(asks, found, strict=True):
                on = hit if known else b.value("and", hit, predicate(load))
                pointer = self._element(b, k, slot)
                stored = b.op("load", pointer, on, written, result=self.type).result
                reads[k].append(stored)
                value = b.value("select", on, stored, value, name=load.result.name)
            values[load.result] = value
        kept = set(self.new)
        for op in walk(at.region):
            if op.opcode != "token" and op not in kept:
                op.operands = [values.get(v, v) for v in op.operands]
        for k, store in enumerate(at.stores):
            self._keep_value(k, store, slots[k], reads[k], values)
        _settle(at.region, self.new)

    def _answers(self) -> tuple[list[list[tuple[Value, Value]]], list[Value]]:
        """Give the hazard its results: for each load (hit, slot) for each store that it asks for; slots of stores."""
        hazard, slot = self.at.hazard, IntType((self.slots - 1).bit_length())
        hazard.attrs[Attr.FINDS] = True
        types = [t for asks in self.at.asks for _ in asks for t in (BOOL, slot)] + [slot] * len(self.at.stores)
        hazard.results += [Value(t, "", hazard, 1 + k) for k, t in enumerate(types)]
        answers = iter(hazard.results[1:])
        return [[(next(answers), next(answers)) for _ in asks] for asks in self.at.asks], list(answers)

    def _array(self, store: Op) -> str:
        memory = memory_name(store)
        names = (f"{memory}_in_flight{k or ''}" for k in count())
        name = next(each for each in names if each not in self.function.memories)
        self.function.memories[name] = MemoryObject(name, "private", self.type, self.slots, span=store.span)
        return name

    def _builder(self, like: Op) -> Builder:
        b = Builder(Region(), like.span)
        b.region.ops = self.new
        return b

    def _make_missing(self, load: Op, hits: list[Value]) -> None:
        """Let the load read memory only if it found no store."""
        b, on = self._builder(load), predicate(load)
        for hit in hits:
            missing = b.value("xor", hit, b.true())
            on = missing if constant(on) == 1 else b.value("and", on, missing)
        load.operands[1] = on

    def _until_pushed(self, hits: list[list[tuple[Value, Value]]], slots: list[Value]) -> Value:
        """A token that is there, after all loads have returned, once the slots that they found are written."""
        at = self.at
        b = self._builder(at.loads[-1])
        returned = b.op("token", *(load.result for load in at.loads), result=TOKEN).result
        pairs = [pair for found in hits for pair in found]
        operands = [v for hit, slot in pairs for v in (slot, hit)] + [v for slot in slots for v in (slot, b.true())]
        attrs = {
            Attr.NUMBER: self.number,
            Attr.MEM: memory_name(at.stores[0]),
            Attr.ASKS: tuple((k,) for asks in at.asks for k in asks),
            Attr.CERTAIN: (0,) * len(slots),
            Attr.UNTIL_PUSHED: True,
        }
        for k, store in enumerate(at.stores):
            store.attrs[Attr.HAZARDS] = (*store.attrs[Attr.HAZARDS], (self.number, k))
        return b.op("hazard", *operands, returned, result=TOKEN, attrs=attrs).result

    def _element(self, b: Builder, k: int, slot: Value) -> Value:
        """The address of a slot of a store's array."""
        shift = (self.type.bytes - 1).bit_length()
        wide = IntType(slot.type.bits + shift)
        offset = b.value("shl", b.value("zext", slot, result=wide), b.const(shift, wide)) if shift else slot
        return b.value("addr", offset, attrs={Attr.MEM: self.names[k]})

    def _keep_value(self, k: int, store: Op, slot: Value, reads: list[Value], values: dict[Value, Value]) -> None:
        """Write to the slot what is at the store's address after it: behind the reads, before the store is issued."""
        b, base, (_, value, on) = self._builder(store), self.at.base[k], store.operands[:3]
        if base is not None:
            before = values[base.result]
            for earlier in islice(self.at.stores, k):
                same = b.value("eq", *(op.operands[0].defining_op.operands[0] for op in (earlier, store)))
                made = b.value("and", predicate(earlier), same)
                before = b.value("select", made, earlier.operands[1], before)
            value, on = b.value("select", on, value, before), b.true()
        read = b.op("token", *reads, result=TOKEN).result
        kept = b.op("store", self._element(b, k, slot), value, on, read, results=[TOKEN])
        store.operands.append(kept.results[0])


def _settle(region: Region, new: list[Op]) -> None:
    """Put the new operations, and those that use them, behind what they need."""
    *ops, end = region.ops
    homes = {v: op for op in (*ops, *new) for v in op.results}
    placed: dict[Op, None] = {}
    for first in (*ops, *new):
        work = [first]
        while work:
            last = work[-1]
            values = (*last.operands, *(v for part in last.regions for op in walk(part) for v in op.operands))
            homes_of = (homes[v] for v in values if v in homes)
            needed = [each for each in homes_of if each is not last and each not in placed]
            if needed:
                work += needed
            else:
                placed[work.pop()] = None
    region.ops = [*placed, end]

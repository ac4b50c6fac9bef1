"""Store-to-load and load-to-load forwarding, within an iteration and across iterations."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from ...analysis.dependence.dependence import unused_number
from ...analysis.loops.loop_tree import Loop
from ...analysis.memory.entry_values import entry_value
from ...analysis.memory.must_alias import MustAlias
from ...analysis.memory.reaching_stores import ReachingStore, ReachingStores
from ...ir import ArrayType, Attr, Builder, Function, IntType, Op, Region, Type, Value, memory_name
from ...ir.accesses import moved_value, predicate
from ...ir.clone import clone_function
from ...ir.loops import CarriedValue, add_carried
from ...ir.rewrite import constant
from ...ir.storage import zero
from ...narrow import present
from ..manager import Form, FunctionPass
from .first_loads import first_load_waits
from .masked_values import MaskedValues
from .sink_stores import resized

__all__ = ["ForwardStores"]


@dataclass(frozen=True)
class ForwardStores(FunctionPass):
    """Store-to-load forwarding (scalar replacement, Callahan, Carr and Kennedy 1990). Before: a flat kernel without
    tokens. After: a load takes the value of the store that wrote its address, if that store is known: in the same
    iteration, or a fixed number of iterations earlier, over which the loop carries the value. If the store may not have
    executed, an earlier load of the address supplies the value; where both were in one earlier iteration, that one
    selects, and the loop carries what is in the element, unless the load of the first iteration has to wait for loops
    around (then a recurrence is shorter that selects late). Memory is then accessed only in the first iterations, and
    where the value is not known otherwise: what the program stored or loaded just before the loop is not read again in
    the first iteration. Stores remain.

    With ``compare`` a load of global memory after a store of the same iteration that may have its address compares the
    two addresses: it takes the stored value, or reads memory without waiting for that store (they have the attributes
    ``writer`` and ``apart``).
    """

    address_bits: int = 64
    compare: bool = False
    name = "forward-stores"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loads of stored addresses take the stored value, from the same iteration or a fixed number
        before."""
        result = clone_function(function)
        places = MustAlias(result, self.address_bits)
        found = [
            (region, loop, writers, _entries(places, loop, writers))
            for region, loop in _regions(result, places)
            if (writers := _writers(places, region, loop, self.compare))
        ]
        elements = [
            _of_elements(result, loop, writers, entries, self.address_bits) for _, loop, writers, entries in found
        ]
        values: dict[Value, Value] = {}
        masked = MaskedValues()
        numbers = count(unused_number(result))
        for (region, loop, writers, entries), selected in zip(found, elements, strict=True):
            _Forwarding(
                places,
                region,
                loop,
                writers,
                values,
                self.address_bits,
                entries=entries,
                selected=selected,
                numbers=numbers,
                masked=masked,
            ).build()
        masked.resolve(result.body, values)
        return result


def _regions(function: Function, places: MustAlias) -> Iterable[tuple[Region, Loop | None]]:
    if places.undisturbed(function.body):
        yield function.body, None
    for loop in places.tree.loops.values():
        if places.undisturbed(loop.body):
            yield loop.body, loop


def _writers(places: MustAlias, region: Region, loop: Loop | None, compare: bool) -> dict[Op, list[ReachingStore]]:
    writers = ReachingStores(places, loop, compare)
    return {load: found for load in writers.loads if (found := writers.of(load))}


def _entries(places: MustAlias, loop: Loop | None, writers: dict[Op, list[ReachingStore]]) -> dict[Op, Value]:
    """By load that takes the value of the iteration before: what it reads in the first one, where that is known."""
    found = {}
    for load, (*_, last) in writers.items():
        if loop is not None and last.certain and last.distance == 1 and places.same_size(last.access, load):
            value = entry_value(places, loop, load)
            if value is not None and value.type == load.result.type == moved_value(last.access).type:
                found[load] = value
    return found


def _of_elements(
    function: Function,
    loop: Loop | None,
    writers: dict[Op, list[ReachingStore]],
    entries: Mapping[Op, Value],
    address_bits: int,
) -> frozenset[Op]:
    """Loads for which an earlier iteration may select what is in their element: what they read in the first one is
    known, or can be loaded before the loop."""
    if loop is None:
        return frozenset()
    return frozenset(
        load
        for load, found in writers.items()
        if load in entries or _of_one_iteration(found) and not first_load_waits(function, load, address_bits)
    )


class _Forwarding:
    """Rebuilds one region; ``values`` maps each loaded value to its replacement, ``entries`` some loads to what they
    read in the first iteration. For the loads in ``selected`` an earlier iteration selects."""

    def __init__(
        self,
        places: MustAlias,
        region: Region,
        loop: Loop | None,
        writers: dict[Op, list[ReachingStore]],
        values: dict[Value, Value],
        address_bits: int,
        *,
        entries: dict[Op, Value],
        selected: frozenset[Op],
        numbers: Iterator[int],
        masked: MaskedValues,
    ) -> None:
        self.address_bits, self.masked = address_bits, masked
        self.entries, self.selected = entries, selected
        self.numbers = numbers  #: for stores whose addresses are compared
        self.region, self.loop, self.writers, self.values = region, loop, writers, values
        self.outside = places.tree.region_of(loop.op) if loop is not None else None
        #: by (value, initial value): the value in earlier iterations, the latest first
        self.chains: dict[tuple[Value, Value | None], list[Value]] = {}
        self.elements: dict[tuple[Type | tuple[Op, int], ...], Value] = {}  #: what an iteration left at an address
        self.carried: list[tuple[CarriedValue, Value]] = []  #: new carried values, each with its next value

    def build(self) -> None:
        ops, self.region.ops = self.region.ops, []
        end = ops.pop()
        self.last = last = Builder(Region(), end.span)
        self.always = last.true()
        for op in ops:
            if op in self.writers:
                self.values[op.result] = self._load(op, self.writers[op], Builder(self.region, op.span))
            else:
                self.region.ops.append(op)
        if self.chains:
            self.region.ops += last.region.ops
        self.region.ops.append(end)
        for carried, following in self.carried:
            carried.set_next(following)

    def _load(self, load: Op, writers: list[ReachingStore], b: Builder) -> Value:
        on = predicate(load)
        type = load.result.type
        together = _of_one_iteration(writers) if load in self.selected else []
        writers = writers[: len(writers) - len(together)]
        sources = [(self._happened(writer, load, b), self._value(writer, type, b)) for writer in writers]
        if together:
            writers = [*writers, together[-1]]
            sources.append((self._happened(together[-1], load, b), self._element(together, load)))
        if sources[-1][0] is None:
            _, value = sources.pop()
        else:
            missing = on
            last = writers[-1]
            for writer, (happened, _) in zip(writers, sources, strict=True):
                if last.certain and writer is not last and writer.distance == last.distance:
                    continue  # irrelevant: the last store certainly executed in the same iteration
                absent = b.value("xor", present(happened), b.true())
                missing = absent if constant(missing) == 1 else b.value("and", missing, absent)
            attrs = {
                **load.attrs,
                Attr.ALONE: True,
                Attr.APART: tuple(n for w in writers if w.compare for n in w.access.attrs[Attr.WRITER]),
            }
            value = b.value("load", load.operands[0], missing, result=type, attrs=attrs, name=load.result.name)
        for happened, written in reversed(sources):
            value = b.value("select", present(happened), written, value)
        return self.masked.under(on, value, b)

    def _happened(self, writer: ReachingStore, load: Op, b: Builder) -> Value | None:
        """Whether the store executed, given that the load does; None if it certainly did."""
        if writer.compare:
            if Attr.WRITER not in writer.access.attrs:
                writer.access.attrs[Attr.WRITER] = (next(self.numbers),)
            return b.value("and", predicate(writer.access), self._equal(writer.access, load, b))
        if load in self.entries and writer is self.writers[load][-1]:
            return None
        if writer.distance:
            return self._earlier(self.always if writer.certain else predicate(writer.access), writer.distance, "after")
        return None if writer.certain else predicate(writer.access)

    def _equal(self, one: Op, other: Op, b: Builder) -> Value:
        """Whether two addresses in one memory are equal."""
        offsets = [access.operands[0].defining_op.operands[0] for access in (one, other)]
        type = IntType(min(self.address_bits, max(v.type.bits for v in offsets)))
        return b.value("eq", *(resized(v, type, b) for v in offsets))

    def _element(self, writers: list[ReachingStore], load: Op) -> Value:
        """What the writers, all of one earlier iteration and the last one certain, left at the address of the load.
        That iteration selects, so that one value is carried, and no conditions with it."""
        key = load.result.type, *((writer.access, writer.place) for writer in writers)
        if key not in self.elements:
            *others, last = [(w, self._written(w, load.result.type, self.last)) for w in writers]
            value = last[1]
            for writer, written in reversed(others):
                value = self.last.value("select", predicate(writer.access), written, value, name=load.result.name)
            self.elements[key] = value
        element = self.elements[key]
        return self._earlier(element, writers[-1].distance, element.name or memory_name(load), self.entries.get(load))

    def _written(self, writer: ReachingStore, type: Type, b: Builder) -> Value:
        """What the writer moved to the place of the load, in the iteration of the writer."""
        value = moved_value(writer.access)
        if value.type.bytes > type.bytes:
            value = _part(value, writer.place, type, b)
        return value if value.type == type else b.value("bitcast", value, result=type)

    def _value(self, writer: ReachingStore, type: Type, b: Builder) -> Value:
        value = moved_value(writer.access)
        if value.type.bytes > type.bytes:
            value = _part(value, writer.place, type, self.last if writer.distance else b)
        if writer.distance:
            value = self._earlier(value, writer.distance, value.name or memory_name(writer.access))
        return value if value.type == type else b.value("bitcast", value, result=type)

    def _earlier(self, value: Value, distance: int, name: str, start: Value | None = None) -> Value:
        """The value ``distance`` iterations earlier; ``start``, or 0, in the first ones. Values that begin differently
        are carried apart: one value may be in several elements, which were not equal before the loop."""
        chain = self.chains.setdefault((value, start), [])
        while len(chain) < distance:
            chain.append(self._carry(chain[-1] if chain else value, name, start))
        return chain[distance - 1]

    def _carry(self, value: Value, name: str, start: Value | None) -> Value:
        """The value in the previous iteration; ``start``, or 0, in the first one."""
        op = present(self.loop).op
        if start is None:
            start = Builder(Region(), op.span).const(zero(value.type), value.type)
            at = present(self.outside).ops.index(op)
            present(self.outside).ops.insert(at, start.defining_op)
        carried = add_carried(op, start, name, result=Value(value.type, name))
        self.carried.append((carried, value))
        return carried.arg


def _of_one_iteration(writers: list[ReachingStore]) -> list[ReachingStore]:
    """The last of the writers, if it is certain and of an earlier iteration, with all others of that iteration."""
    last = writers[-1]
    if not last.certain or not last.distance:
        return []
    return [writer for writer in writers if writer.distance == last.distance]


def _part(value: Value, place: int, type: Type, b: Builder) -> Value:
    """The bytes of a value that a load of the type reads at ``place``, a multiple of the type's size."""
    if not (isinstance(value.type, ArrayType) and value.type.element.bytes == type.bytes):
        value = b.value("bitcast", value, result=ArrayType(IntType(8 * type.bytes), value.type.bytes // type.bytes))
    return b.value("extract", value, b.const(place // type.bytes, IntType(64)))

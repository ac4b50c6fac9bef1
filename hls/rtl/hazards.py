"""Hazards of a kernel: which store units each watches, and which units it lets go on."""

from amaranth import *
from amaranth.utils import exact_log2

from rtl_lib.lsu.hazard import HazardUnit
from rtl_lib.lsu.store import MOST_COUNTED

from ..ir import Attr, Op, walk

__all__ = ["HazardAccess", "build_hazards", "hazards_of"]


class HazardAccess:
    """A hazard operation as a variable-latency unit: a request brings addresses, a response says that none is on its
    way."""

    def __init__(self, context, op: Op):
        self.op, number = op, op.attrs[Attr.NUMBER]
        units = context.servers.units.values()
        self.stores = _watched(units, number)
        self.loads = [u for u in units if u.access.direction == "load" and op.result in u.op.operands]
        widest = max(u.access.bytes for u in (*self.stores, *self.loads))
        self.inside = exact_log2(widest)  # address bits within the largest access
        certain = tuple(bool(one) for one in op.attrs[Attr.CERTAIN])
        per_word = tuple(
            places_of_a_word(u.access, widest) if sure else 0 for u, sure in zip(self.stores, certain, strict=True)
        )
        entries = tuple(
            words_for(context.memory_latency, many) if many else entries_for(context.memory_latency)
            for many in per_word
        )
        self.unit = HazardUnit(context.address_bits - self.inside, entries, op.attrs[Attr.ASKS], certain, per_word)
        self.fates = {u.op: getattr(self.unit, f"fate{k}") for k, u in enumerate(self.stores) if not certain[k]}

    def request(self):
        def fields(payload):
            accesses = [*payload.asking, *payload.stores]
            for access, pointer, predicate in zip(accesses, self.op.operands[::2], self.op.operands[1::2], strict=True):
                yield Cat(Signal(self.inside), access.place), pointer
                yield access.valid, predicate

        return self.unit.i, fields

    def response(self):
        return self.unit.o, lambda payload: []


def _watched(units, number: int) -> list:
    """The store units of a hazard, in the order of its operands, which need not be that of the program."""
    places = {at: unit for unit in units for hazard, at in unit.op.attrs.get(Attr.HAZARDS, ()) if hazard == number}
    return [places[k] for k in range(len(places))]


#: stores to a word from which on their places are kept by words
_MANY = 2
#: words of a burst at most
_BURST = 16


def places_of_a_word(access, widest: int) -> int:
    """Places in a word where a store's table keeps them by words: it comes to most of them one after the other; 0 where
    it does not."""
    return access.word_bytes // widest if access.to_a_word >= _MANY and access.word_bytes // widest >= _MANY else 0


def words_for(latency: int, places: int) -> int:
    """Words for all stores between the comparison and memory at one a cycle: a burst that is gathered, one that is
    sent, and those on their way."""
    stores = 2 * min(MOST_COUNTED, _BURST * places) + latency * 5 // 4
    return 1 << (-(-stores // places) - 1).bit_length()


def entries_for(latency: int) -> int:
    """Places for all stores between the comparison and memory: about a load and a store on their way each cycle."""
    return 1 << (latency * 5 // 4 - 1).bit_length()


def hazards_of(context) -> dict[Op, HazardAccess]:
    """The hazards of a kernel whose store and load units are known."""
    return {op: HazardAccess(context, op) for op in walk(context.function.body) if op.opcode == "hazard"}


def build_hazards(context):
    """Connect the hazards with store units, once all queues are there; loads forget what they hold as stores come into
    memory."""
    m, hurried = context.m, {}
    for op, hazard in context.servers.hazards.items():
        m.submodules[f"{context.names.op(op)}_unit"] = hazard.unit
        for k, store in enumerate(hazard.stores):
            m.d.comb += getattr(hazard.unit, f"retired{k}").eq(store.unit.retired)
            hurried.setdefault(store, []).append(hazard.unit.waits)
        for load in hazard.loads:
            renewed = Cat(store.unit.retired.any() for store in hazard.stores).any()
            context.servers.flushes[load.op] = context.servers.flushes.get(load.op, 0) | renewed
    for store, waits in hurried.items():
        m.d.comb += store.unit.hurry.eq(Cat(waits).any())

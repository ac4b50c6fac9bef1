"""Sizes of hazard units, which compare accesses with earlier stores in flight, and of fences."""

from collections.abc import Mapping
from dataclasses import dataclass

from rtl_lib.lsu.store import MOST_COUNTED

from ...ir import Attr, Function, Op, walk
from .lsu import Access

__all__ = ["HazardPlan", "entries_for", "fences_under_way", "plan_hazards", "slots_for", "words_for"]

#: with at least so many stores to a memory word, their addresses are kept by words
_MANY = 2
#: most words of a burst
_BURST = 16
#: entries for stores that never wait: tokens between the comparison and the store, over two additions of floats; a
#: longer path costs time only
INSIDE = 32
#: iterations between the comparison of slots and the store: those that fit the longest chains of float operations
_SECTION = 64


@dataclass(frozen=True)
class HazardPlan:
    """Plan of a hazard unit: the ``stores`` that it watches, in the order of its operands, and the ``loads`` that wait
    for it.

    ``inside`` counts the address bits within the largest of these accesses; slots, which the unit gives or compares,
    have ``slot_bits``. For each store, ``certain`` says whether
    its predicate is known in time, ``per_word`` how many addresses of a word the table keeps together (0: it keeps
    addresses one by one), and ``entries`` how many words, or addresses, the table holds.
    """

    stores: tuple[Op, ...]
    loads: tuple[Op, ...]
    inside: int
    certain: tuple[bool, ...]
    per_word: tuple[int, ...]
    entries: tuple[int, ...]
    slot_bits: int = 0


def plan_hazards(function: Function, accesses: Mapping[Op, Access], latency: int) -> dict[Op, HazardPlan]:
    """The hazard units of a kernel whose memory has a typical ``latency`` in cycles."""
    return {op: _plan(op, list(accesses.values()), latency) for op in walk(function.body) if op.opcode == "hazard"}


def _plan(hazard: Op, accesses: list[Access], latency: int) -> HazardPlan:
    stores = _watched(accesses, hazard.attrs[Attr.NUMBER])
    if hazard.attrs.get(Attr.UNTIL_PUSHED):
        many, bits = len(stores), hazard.operands[0].type.bits
        ops = tuple(one.op for one in stores)
        return HazardPlan(
            stores=ops,
            loads=(),
            inside=0,
            certain=(False,) * many,
            per_word=(0,) * many,
            entries=(_SECTION,) * many,
            slot_bits=bits,
        )
    loads = [one for one in accesses if one.direction == "load" and hazard.results[0] in one.op.operands]
    widest = max(one.bytes for one in (*stores, *loads))
    certain = tuple(bool(one) for one in hazard.attrs[Attr.CERTAIN])
    per_word = tuple(_places_of_a_word(one, widest) if sure else 0 for one, sure in zip(stores, certain, strict=True))
    return HazardPlan(
        stores=tuple(one.op for one in stores),
        loads=tuple(one.op for one in loads),
        inside=(widest - 1).bit_length(),
        certain=certain,
        per_word=per_word,
        entries=tuple(
            words_for(latency, many) if many else entries_for(latency) if one.latency is None else INSIDE
            for one, many in zip(stores, per_word, strict=True)
        ),
        slot_bits=max((v.type.bits for v in hazard.results[1:]), default=0),
    )


def _watched(accesses: list[Access], number: int) -> list[Access]:
    """The stores of a hazard, in the order of its operands, which need not be program order."""
    places = {at: one for one in accesses for hazard, at in one.op.attrs.get(Attr.HAZARDS, ()) if hazard == number}
    return [places[k] for k in range(len(places))]


def _places_of_a_word(access: Access, widest: int) -> int:
    """Accesses per word if a store's table is to keep words: the store writes most addresses of a word one after the
    other. Otherwise 0."""
    if access.latency is not None:  # it leaves alone, not with the burst of its word
        return 0
    return access.word_bytes // widest if access.to_a_word >= _MANY and access.word_bytes // widest >= _MANY else 0


def words_for(latency: int, places: int) -> int:
    """Words for all stores between the comparison and memory at one per cycle: a burst that is gathered, one that is
    being sent, and those in flight."""
    stores = 2 * min(MOST_COUNTED, _BURST * places) + latency * 5 // 4
    return 1 << (-(-stores // places) - 1).bit_length()


def entries_for(latency: int) -> int:
    """Addresses for all stores between the comparison and memory: about one load and one store in flight each cycle."""
    return 1 << (latency * 5 // 4 - 1).bit_length()


def slots_for(latency: int) -> int:
    """Slots of a store operation in flight that any table has enough of; a power of two."""
    words = [(1 << k, words_for(latency, 1 << k)) for k in range(1, 7)]
    return max(entries_for(latency), *(places * count for places, count in words))


def fences_under_way(latency: int) -> int:
    """Fences that wait for their stores at once."""
    return latency // 2

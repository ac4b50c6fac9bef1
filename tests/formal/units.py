"""Benches of units that combine accesses into bursts: no access of a program is lost, duplicated or reordered."""

from itertools import pairwise

from amaranth import *
from amaranth.utils import exact_log2

from rtl_lib.event_counters import EventCounters
from rtl_lib.lsu.barrier_loop_guard import PlaceGuard
from rtl_lib.lsu.burst import BurstBuilder
from rtl_lib.lsu.cached_load import CachedLoadUnit
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.next_word_load import NextWordLoadUnit
from rtl_lib.lsu.shared_cache import SharedCache
from rtl_lib.lsu.stepping_load import SteppingLoadUnit
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.wide_load import WideLoadUnit
from rtl_lib.lsu.wide_store import WideStoreUnit
from rtl_lib.lsu.write_acknowledge import Settlement
from rtl_lib.state import SlotRegister
from tests.formal.bench import Bench, Follow
from tests.formal.memory import bank_of_reads, bank_of_writes
from tests.formal.streams import inner

__all__ = [
    "burst_builder",
    "cached_load_unit",
    "event_counters",
    "load_unit",
    "load_unit_ahead",
    "place_guard",
    "settlement",
    "shared_cache",
    "slot_register",
    "stepping_load_unit",
    "store_unit",
    "store_unit_of_words",
    "wide_load_unit",
    "wide_store_unit",
]

#: of the memory: bits of an address; bytes of a word, of a border; words of a burst
ADDR_BITS, WORD, ALIGN, BURST = 4, 2, 4, 2
MEMORY = {"word_bytes": WORD, "addr_bits": ADDR_BITS, "max_burst": BURST, "burst_align": ALIGN}


def event_counters():
    """EventCounters: the total of any counter, whenever it is shown, is what a plain counter has."""
    bench, bits = Bench(), 4
    part = bench.part("counters", EventCounters(3, bits))
    slot, events, clear = bench.constant(2, "slot"), bench.free(3, "events"), bench.free(1, "clear")
    ages = [Signal(bits, name=f"count{age}") for age in range(EventCounters.LATENCY + 1)]
    bench.m.d.comb += [part.slot.eq(slot), part.events.eq(events), part.clear.eq(clear)]
    bench.m.d.sync += [
        ages[0].eq(Mux(clear, 0, ages[0] + events.bit_select(slot, 1))),
        *(older.eq(younger) for younger, older in pairwise(ages)),
    ]
    bench.assume(slot < 3, "the counter is there")
    bench.check(~part.here | (part.total == ages[-1]), "a total is the number of events")
    bench.soon(~part.here, part.round, "each total is shown in every round")
    bench.reach(part.here & (part.total == 7), "a residue has wrapped")
    return bench


def slot_register(slots, transparent):
    """SlotRegister: the value of a slot is the one written last, in this cycle as well if it is transparent."""
    bench, bits = Bench(), 2
    part = bench.part("register", SlotRegister(unsigned(bits), slots, transparent=transparent))
    slot, target = bench.constant(range(slots), "slot"), bench.free(range(slots), "target")
    kept, known, writes = Signal(bits), Signal(), bench.free(1, "writes")
    bench.m.d.comb += [
        part.write.valid.eq(writes),
        part.write.slot.eq(target),
        part.write.value.eq(bench.free(bits, "value")),
        part.read.slot.eq(slot),
    ]
    written = writes & (target == slot)
    with bench.m.If(written):
        bench.m.d.sync += [kept.eq(part.write.value), known.eq(1)]
    bench.assume((slot < slots) & (target < slots), "the slots are there")
    at_once = written if transparent else C(0)
    seen = Mux(at_once, part.write.value, kept)
    bench.check(~(known | at_once) | (part.read.value == seen), "a read sees the last write")
    bench.reach(known & written & (part.write.value != kept), "a slot is written again")
    return bench


def burst_builder():
    """BurstBuilder: words are followed into the burst that carries them."""
    bench = Bench()
    part = bench.part("builder", BurstBuilder(word_bytes=1, addr_bits=3, max_burst=2, burst_align=4))
    (following,) = inner(part, "following")
    bench.m.d.comb += [part.close.eq(bench.free(1, "close")), part.urgent.eq(bench.free(1, "urgent"))]
    bench.m.d.comb += part.rest.eq(bench.free(1, "rest") & ~part.i.valid)
    enters, sent, words = bench.drive(part.i, "i"), bench.take(part.o, "o", stable=False), part.o.payload
    begun = Signal(3)  # the first word of the burst that began last
    with bench.m.If(part.begins):
        bench.m.d.sync += begun.eq(part.i.payload)
    first = Mux(part.begins & ~part.open, part.i.payload, begun)
    follow = Follow(bench, "word", enters, part.i.payload, Mux(sent, words, 0), 2, through=True)
    end = (first + follow.ahead)[:3]
    bench.check(~follow.out | (end == follow.value), "the followed word has its place in the burst")
    within = (words <= 2) & (first[:2] + words <= 4)
    bench.check(~part.o.valid | ((words != 0) & within), "bursts keep their bounds")
    bench.check(part.open == (follow.inside != 0), "a burst is open while words wait")
    bench.check(~part.begins | enters, "a burst begins with a word")
    bench.check(~(part.begins & part.open) | sent, "the one before is sent then")
    whole = (words == follow.inside) & (following == (begun + words)[: len(following)])
    bench.check(~part.open | whole, "an open burst has the words that wait")
    bench.check(~part.open | (part.last == (begun + words - 1)[:3]), "the last one of them is known")
    bench.check(~part.open | within, "an open burst keeps its bounds")
    bench.check(
        ~(part.open & follow.under_way & (follow.ahead < follow.inside)) | (end == follow.value),
        "the followed word waits in its place",
    )
    bench.check(
        ~(part.open & (part.close | part.rest) & part.o.ready) | sent, "what is open is sent when no more words come"
    )
    return bench


def settlement():
    """Settlement: bursts leave when acknowledged, fences when all before them have left."""
    bench = Bench()
    part = bench.part("settlement", Settlement(2, stores_bits=2))
    m, entry, owed = bench.m, part.i.payload, Signal(4)  # owed: bursts not yet acknowledged
    enters, answered = bench.drive(part.i, "i"), bench.take(part.answer, "answer")
    m.d.comb += part.ack.eq(bench.free(1, "ack"))
    m.d.sync += owed.eq(owed + (enters & ~entry.fence) - part.ack)
    bench.assume(~part.ack | (owed != 0), "only what was sent is acknowledged")
    bench.assume(~part.i.valid | entry.fence | (entry.stores != 0), "a burst has stores")
    left = answered + (part.retired != 0)
    follow = Follow(bench, "entry", enters, entry.as_value(), left, 2)
    fence, stores = follow.value[0], follow.value[1:]
    bench.check(left <= 1, "one leaves at a time")
    bench.check(~follow.out | (answered == fence), "fences are answered, bursts retire")
    bench.check(~(follow.out & ~fence) | (part.retired == stores), "a burst retires its stores")
    bench.check(part.empty == (follow.inside == 0), "it is empty when nothing waits")
    waits = Signal(range(4))  # bursts in front of the followed entry that are not acknowledged
    with m.If(~follow.under_way):
        m.d.sync += waits.eq(owed + (enters & ~entry.fence) - part.ack)
    with m.Elif(part.ack & (waits != 0)):
        m.d.sync += waits.eq(waits - 1)
    bench.check(~follow.out | (waits == 0), "nothing leaves before it, and all before it, is acknowledged")
    return bench


def _memory_that_changes(bench, part, flush=None):
    """Memory behind a load unit, whose ``flush`` is free unless it is given: a byte holds its address, and one bit that
    changes once at any time; a word is refused.

    Returns whether an access taken in this cycle must see the change, and the word that is refused.
    """
    m, changed, flushed = bench.m, Signal(), Signal()
    refused = bench.constant(ADDR_BITS - 1, "refused")
    if flush is None:
        flush = bench.free(1, "flush")
        m.d.comb += part.flush.eq(flush)
    m.d.sync += [changed.eq(changed | bench.free(1, "changes")), flushed.eq(flushed | (changed & flush))]
    bank_of_reads(
        bench,
        "memory",
        part.mem,
        WORD,
        error_at=lambda addr: addr[1:] == refused,
        word_at=lambda addr: Cat(*(Cat((addr + k)[:ADDR_BITS], changed, C(0, 3)) for k in range(WORD))),
    )
    return flushed | (changed & flush), refused


def _loads(part, inside, access_bytes=1):
    bench, low = Bench(), exact_log2(access_bytes)
    bench.part("unit", part)
    new, refused = _memory_that_changes(bench, part)
    enters, leaves = bench.drive(part.i, "i"), bench.take(part.o, "o")
    follow = Follow(bench, "access", enters, Cat(part.i.payload, new), leaves, inside)
    addr, new = Cat(C(0, low), follow.value[low:ADDR_BITS]), follow.value[ADDR_BITS]
    bench.check(~follow.out | (part.o.payload[:ADDR_BITS] == addr), "each access is answered with its byte")
    bench.check(~(follow.out & new) | part.o.payload[ADDR_BITS], "what a flush forgets is read again")
    bench.check(~follow.out | (part.error == (addr[1:] == refused)), "an error goes to the accesses of its word")
    bench.reach(follow.out & new, "an access after a flush is answered")
    bench.reach(follow.out & part.error, "an access is refused")
    return bench


def place_guard():
    """PlaceGuard: any deep access is followed, and the words placed meanwhile are counted."""
    bench, margin, most = Bench(), 2, 4
    m, part = bench.m, bench.part("guard", PlaceGuard(depth=most, margin=margin))
    before, recent, since = inner(part, "before", "recent", "since")
    hit, answered = bench.free(1, "hit"), bench.free(1, "answered")
    m.d.comb += [
        part.deep.eq(bench.free(1, "deep")),
        part.placed.eq(bench.free(1, "placed")),
        part.answered.eq(answered),
    ]
    enters, placed = hit | part.deep | part.placed, Signal(range(margin + 2))
    bench.assume((hit + part.deep + part.placed) <= 1, "an access has one kind")
    bench.assume(~part.placed | ~part.hold, "nothing is placed that is held")
    follow = Follow(bench, "access", enters, part.deep, answered, most)
    m.d.comb += part.level.eq(follow.inside)
    bench.assume(~enters | (follow.inside != most), "there is room for what enters")
    bench.assume(~answered | (follow.inside != 0), "what is answered is under way")
    m.d.sync += placed.eq(Mux(follow.under_way, placed + part.placed, 0))
    waits = follow.under_way & follow.value
    bench.check(~waits | (placed <= margin), "a deep one sees no more placed than it can stand")
    bench.check(~part.hold | (follow.inside != 0), "nothing is held while nothing is under way")
    bench.check(~waits | (follow.ahead < before) | (follow.ahead < recent), "a deep one is counted")
    bench.check(
        (before <= follow.inside) & (recent <= follow.inside) & (since <= margin // 2), "the counts keep their bounds"
    )
    bench.check((recent == 0) | (before <= recent), "those of the stretch before are in front")
    own = waits & (follow.ahead >= before)
    bench.check(~own | (placed <= since), "what is placed while it waits is counted in its stretch")
    bench.check(~waits | (placed <= margin // 2 + since), "what is placed while it waits is counted in two stretches")
    bench.reach(waits & part.hold, "something is held for a deep one")
    return bench


def load_unit():
    """LoadUnit over a memory that changes once."""
    return _loads(LoadUnit(access_bytes=1, depth=4, pending=2, patience=1, **MEMORY), 6)


def load_unit_of_own_words():
    """LoadUnit in which each access fetches its word, over a memory that changes once."""
    return _loads(LoadUnit(access_bytes=WORD, depth=4, pending=2, patience=1, own_words=True, **MEMORY), 6, WORD)


def next_word_load_unit():
    """NextWordLoadUnit over a memory that changes once."""
    return _loads(NextWordLoadUnit(access_bytes=1, depth=4, pending=3, patience=1, **MEMORY | {"burst_align": 8}), 6)


def load_unit_ahead():
    """LoadUnit that reads ahead, over a memory that changes once. A run goes on to its last word; what a flush forgets
    within it may be read in it yet."""
    bench, part = (
        Bench(),
        LoadUnit(
            access_bytes=1,
            depth=4,
            pending=4,
            patience=1,
            reads_ahead=True,
            **MEMORY | {"max_burst": 4, "burst_align": 8},
        ),
    )
    m, access = bench.m, part.i.payload
    bench.part("unit", part)
    new, refused = _memory_that_changes(bench, part)
    enters, leaves = bench.drive(part.i, "i"), bench.take(part.o, "o")
    word, last, before, end, goes_on, began_new = (
        access.addr[1:],
        access.last[1:],
        *(Signal(ADDR_BITS - 1) for _ in range(2)),
        Signal(),
        Signal(),
    )
    bench.assume(~part.i.valid | (last >= word), "a run goes up")
    bench.assume(
        ~part.i.valid | ~goes_on | ((last == end) & ((word == before) | (word == before + 1))),
        "a run comes to all of its words",
    )
    seen = Mux(goes_on, began_new, new)
    with m.If(enters):
        m.d.sync += [before.eq(word), end.eq(last), goes_on.eq(word != last), began_new.eq(seen)]
    follow = Follow(bench, "access", enters, Cat(access.addr, seen), leaves, 8)
    addr, seen = follow.value[:ADDR_BITS], follow.value[ADDR_BITS]
    bench.check(~follow.out | (part.o.payload[:ADDR_BITS] == addr), "each access is answered with its byte")
    bench.check(~(follow.out & seen) | part.o.payload[ADDR_BITS], "what a flush forgets before a run is read again")
    bench.check(~follow.out | (part.error == (addr[1:] == refused)), "an error goes to the accesses of its word")
    bench.reach(
        follow.out & follow.value[0] & (follow.value[1:ADDR_BITS] == 3), "a word in the middle of a block is answered"
    )
    bench.reach(follow.out & seen, "an access after a flush is answered")
    return bench


def cached_load_unit(registered=False):
    """CachedLoadUnit over a memory that changes once."""
    geometry = MEMORY | {"depth": 2, "pending": 2, "words": 4, "patience": 1}
    return _loads(CachedLoadUnit(access_bytes=1, registered=registered, **geometry), 9 if registered else 8)


def shared_cache():
    """SharedCache of two loads, over a memory that changes once; either of them flushes for both."""
    bench = Bench()
    geometry = MEMORY | {"words": 16, "pending": 8, "depth": 2, "patience": 1}
    part = bench.part("cache", SharedCache(loads=2, access_bytes=1, **geometry))
    m, flush, fetched = bench.m, bench.free(2, "flush"), [Signal(name=f"fetched_{k}") for k in range(2)]
    m.d.comb += Cat(port.flush for port in part.loads).eq(flush)
    new, refused = _memory_that_changes(bench, part, flush.any())
    for k, port in enumerate(part.loads):
        m.d.sync += fetched[k].eq(fetched[k] | port.fetched)
        m.d.comb += port.response.ready.eq(1)
        enters, answer = bench.drive(port.request, f"load {k}"), port.response.payload
        asked = Cat(port.request.payload, new)
        follow = Follow(bench, f"access of load {k}", enters, asked, port.response.valid, 8)
        addr, seen = follow.value[:ADDR_BITS], follow.value[ADDR_BITS]
        bench.check(~follow.out | (answer.data[:ADDR_BITS] == addr), f"each access of load {k} has its byte")
        bench.check(~(follow.out & seen) | answer.data[ADDR_BITS], f"load {k}: what a flush forgets is read again")
        error = addr[1:] == refused
        bench.check(~follow.out | (answer.error == error), f"load {k}: an error goes to the accesses of its word")
        bench.reach(follow.out & seen, f"an access of load {k} after a flush is answered")
        other = follow.out & ~fetched[k] & ~port.fetched
        bench.reach(other, f"load {k} is answered from a word that was fetched for the other one")
    return bench


def stepping_load_unit():
    """SteppingLoadUnit in a pipeline that moves at any time, over a memory that changes once."""
    bench = Bench()
    part = bench.part("unit", SteppingLoadUnit(access_bytes=1, ahead=2, **MEMORY))
    m, steps = bench.m, SteppingLoadUnit.timing.latency
    new, refused = _memory_that_changes(bench, part)
    given, address = bench.free(1, "given"), bench.free(ADDR_BITS, "address")
    m.d.comb += [
        part.go.eq(part.ready & bench.free(1, "goes")),
        part.i.valid.eq(given & part.go),
        part.i.addr.eq(address),
    ]
    inside = [part.i.valid, *(Signal(name=f"inside_{k}") for k in range(steps))]  # by steps since the address
    with m.If(part.go):
        m.d.sync += [after.eq(before) for before, after in pairwise(inside)]
    leaves = inside[-1] & part.go
    follow = Follow(bench, "access", part.i.valid, Cat(address, new), leaves, steps)
    addr, new = follow.value[:ADDR_BITS], follow.value[ADDR_BITS]
    bench.check(~follow.out | (part.data[:ADDR_BITS] == addr), "each access is answered with its byte")
    bench.check(~(follow.out & new) | part.data[ADDR_BITS], "what a flush forgets is read again")
    bench.check(~follow.out | (part.error == (addr[1:] == refused)), "an error goes to the accesses of its word")
    stood, before, was = Signal(), Signal.like(part.data), Signal()
    m.d.sync += [stood.eq(inside[-1] & ~part.go), before.eq(part.data), was.eq(part.error)]
    bench.check(~stood | ((part.data == before) & (part.error == was)), "what is not taken stands")
    bench.check(part.ready | inside[2], "nothing is waited for but the word of an access")
    bench.reach(follow.out & new, "an access after a flush is answered")
    bench.reach(follow.out & part.error, "an access is refused")
    return bench


def wide_load_unit():
    """WideLoadUnit: two lanes anywhere, each wanted or not."""
    bench = Bench()
    part = bench.part(
        "unit", WideLoadUnit(lanes=2, lane_bytes=1, masked=True, depth=2, pending=2, patience=1, **MEMORY)
    )
    new, _ = _memory_that_changes(bench, part)
    enters, leaves = bench.drive(part.i, "i"), bench.take(part.o, "o")
    follow = Follow(bench, "access", enters, Cat(part.i.payload.as_value(), new), leaves, 8)
    addr, mask, new = follow.value[:ADDR_BITS], follow.value[ADDR_BITS : ADDR_BITS + 2], follow.value[-1]
    for k in range(2):
        lane = part.o.payload.word_select(k, 8)
        bench.check(~(follow.out & mask[k]) | (lane[:ADDR_BITS] == (addr + k)[:ADDR_BITS]), f"lane {k} has its byte")
        bench.check(~(follow.out & mask[k] & new) | lane[ADDR_BITS], f"what a flush forgets is read again for lane {k}")
        bench.check(~(follow.out & ~mask[k]) | (lane == 0), f"lane {k} is 0 where it is not wanted")
        bench.reach(follow.out & mask[k] & new, f"lane {k} is answered after a flush")
    return bench


def _stores(part, written):
    """Claims of a store unit, over a memory of which one byte, any, is looked at.

    ``written`` takes the store on offer and the address of that byte, and gives whether it writes it, and what.
    """
    bench = Bench()
    bench.part("unit", part)
    m, fence = bench.m, part.fence
    byte = bench.constant(ADDR_BITS, "byte")
    taken = bench.drive(part.i, "i")
    m.d.comb += part.over.eq(bench.free(1, "over"))
    hits, value = written(part.i.payload, byte)
    here, word, takes, acknowledged = bank_of_writes(bench, "memory", part.mem, WORD)
    # the last value stored there; what memory has
    stored, ever, memory, lands = Signal(8), Signal(), Signal(8), Signal()
    m.d.comb += lands.eq(takes & (here[1:] == byte[1:]) & word.strobe.bit_select(byte[0], 1))
    with m.If(taken & hits):
        m.d.sync += [stored.eq(value), ever.eq(1)]
    with m.If(lands):
        m.d.sync += memory.eq(word.data.word_select(byte[0], 8))
    bench.check(~lands | ever, "nothing is written that was not stored")
    bench.check(~part.idle | (memory == stored), "when it is idle memory has what was stored last")
    bench.reach(part.idle & ever & (stored != 0), "it becomes idle after a store")
    _acknowledged_in_time(bench, part, acknowledged)

    asked, answered = bench.drive(fence.request, "fence"), bench.take(fence.response, "answer")
    follow = Follow(bench, "fence", asked, stored, answered, 4)
    later = Signal()  # a store there after the followed fence
    m.d.sync += later.eq(follow.under_way & (later | (taken & hits)))
    bench.check(
        ~follow.out | later | (memory == follow.value), "when a fence is answered memory has what was stored before it"
    )
    return bench


def _acknowledged_in_time(bench, part, acknowledged):
    """The unit is not idle while memory still owes an acknowledgement."""
    owed, m = Signal(4), bench.m  # bursts asked for and not acknowledged
    m.d.sync += owed.eq(owed + (part.mem.request.valid & part.mem.request.ready) - acknowledged)
    bench.check(~part.idle | (owed == 0), "it is idle only when all bursts are acknowledged")


def store_unit():
    """StoreUnit: a byte of memory against what was stored there."""
    part = StoreUnit(access_bytes=1, buffer=2, outstanding=2, patience=1, **MEMORY)
    return _stores(part, lambda store, byte: (store.addr == byte, store.data))


def store_unit_of_words():
    """StoreUnit that joins stores to two words at a time."""
    part = StoreUnit(access_bytes=1, buffer=2, outstanding=2, patience=1, words=2, **MEMORY)
    return _stores(part, lambda store, byte: (store.addr == byte, store.data))


def wide_store_unit():
    """WideStoreUnit: two lanes anywhere, each written or not."""
    part = WideStoreUnit(lanes=2, lane_bytes=1, masked=True, buffer=2, outstanding=2, patience=1, **MEMORY)

    def written(store, byte):
        hits = [store.mask[k] & ((store.addr + k)[:ADDR_BITS] == byte) for k in range(2)]
        return hits[0] | hits[1], Mux(hits[0], store.data[:8], store.data[8:])

    return _stores(part, written)

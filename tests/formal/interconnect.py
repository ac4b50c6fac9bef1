"""Benches of the interconnect: each unit receives its own words and acknowledgements, in order."""

from amaranth import *

from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import AHEAD, WriteInterconnect
from rtl_lib.mem.fifo import StreamFifo
from tests.formal.bench import Bench, Follow
from tests.formal.memory import bank_of_reads, bank_of_writes
from tests.formal.streams import inner

__all__ = ["reads", "writes"]

ADDR_BITS, BURST, OUTSTANDING = 4, 2, 2
GRANULE = 2  #: bytes; a word is one byte


def _bursts(bench, request, name):
    """Bursts of a unit, anything that its rules allow."""
    taken, burst = bench.drive(request, name), request.payload
    whole = (burst.words != 0) & (burst.addr[0] + burst.words <= GRANULE)
    bench.assume(~request.valid | whole, f"{name} stay within a granule")
    return taken


def reads(units, banks):
    """ReadInterconnect: a burst of each unit is followed, and its words looked at; a word holds where it is."""
    bench, places = Bench(), AddressMap(banks, GRANULE)
    part = bench.part(
        "interconnect",
        ReadInterconnect(
            count=units,
            address_map=places,
            word_bytes=1,
            addr_bits=ADDR_BITS,
            max_burst=BURST,
            outstanding=OUTSTANDING,
            reorder_words=2 * BURST,
        ),
    )
    for b, bank in enumerate(part.banks):
        bank_of_reads(bench, f"bank {b}", bank, 1, word_at=lambda addr, b=b: Cat(addr[:ADDR_BITS], C(b, 1)))
    for u, unit in enumerate(part.units):
        _follow_words(bench, f"unit {u}", unit, places, OUTSTANDING * banks + 7)
    if banks > 1:
        _places_of_words(bench, part, places)
    return bench


def _places_of_words(bench, part, places):
    """No burst is taken before all its words have a place to wait for their turn: what lacks one would be lost some
    cycles later."""
    free = iter(inner(part, *(f"free{u}_{b}" for u in range(part.count) for b in range(places.banks))))
    for u, unit in enumerate(part.units):
        burst = unit.request.payload
        for b in range(places.banks):
            taken = unit.request.valid & unit.request.ready & (places.bank_bits(burst.addr) == b)
            bench.check(
                ~taken | (next(free) >= burst.words), f"a burst of unit {u} has places for its words of bank {b}"
            )


def _follow_words(bench, name, unit, places, most):
    taken, response = _bursts(bench, unit.request, f"bursts of {name}"), unit.response
    step = Signal(range(BURST + 1))
    bench.m.d.comb += response.ready.eq(1)
    bench.m.d.sync += step.eq(Mux(response.valid, Mux(response.payload.last, 0, step + 1), step))
    follow = Follow(bench, name, taken, unit.request.payload.as_value(), response.valid & response.payload.last, most)
    here, words = (follow.value[:ADDR_BITS] + step)[:ADDR_BITS], follow.value[ADDR_BITS:]
    now = follow.under_way & (follow.ahead == 0) & response.valid
    bank = places.bank_bits(here) if places.banks > 1 else C(0, 1)
    # of which each holds its address in its bank, and which bank that is
    word = Cat(places.local_bits(here) | C(0, ADDR_BITS), bank)
    bench.check(~now | (response.payload.data == word), f"{name} gets the words it asked for")
    bench.check(~now | (response.payload.last == (step + 1 == words)), f"{name} gets as many words as it asked for")
    bench.reach(now & (step == 1), f"{name} gets a second word")


def writes(units, banks):
    """WriteInterconnect: every word arrives where it belongs, and a burst of each unit is followed to its
    acknowledgement.

    A word holds its address; the highest bit of addresses says which unit it is.
    """
    bench, places = Bench(), AddressMap(banks, GRANULE)
    part = bench.part(
        "interconnect",
        WriteInterconnect(
            count=units, address_map=places, word_bytes=1, addr_bits=ADDR_BITS, max_burst=BURST, outstanding=OUTSTANDING
        ),
    )
    # A single bank's own queue is the only limit: bursts in it, those whose words have not moved, one acknowledged. A
    # single unit's bursts go straight to the bank, which takes them before their words.
    most = OUTSTANDING * banks + 2 if banks > 1 else OUTSTANDING + AHEAD + 2
    ahead = AHEAD if units * banks > 1 else 2 * BURST
    for u, unit in enumerate(part.units):
        _write_from(bench, f"unit {u}", unit, u, most, ahead)
    for b, bank in enumerate(part.banks):
        local, word, takes, _ = bank_of_writes(bench, f"bank {b}", bank, 1, error_at=lambda addr: addr[0])
        bits = len(places.bank_bits(local)) if banks > 1 else 0
        there = Cat(local[0], C(b, bits), local[1:])[:ADDR_BITS]  # in all of memory
        bench.check(~takes | (word.data[:ADDR_BITS] == there), f"bank {b} gets the words of its bursts")
        bench.reach(takes & (there[-1] == (units > 1)), f"bank {b} gets a word of the last unit")
    return bench


def _write_from(bench, name, unit, number, most, ahead):
    m, request, word = bench.m, unit.request, unit.data
    taken, burst = _bursts(bench, request, f"bursts of {name}"), request.payload
    bench.assume(~request.valid | (burst.addr[-1] == number), f"{name} has its own half of the addresses")
    # A word that is offered before its burst may change here. The interconnect does not look at it, but a bank does.
    early = bench.free(1, f"{name} offers a word before its burst is taken") if ahead == AHEAD else C(0)
    # that were taken: the first is the one whose words move
    m.submodules[f"bursts{number}"] = bursts = StreamFifo(burst.shape(), AHEAD + 1)
    step, moves = Signal(range(BURST + 1)), Signal()
    present = bursts.o.payload
    ends = moves & (step + 1 == present.words)
    m.d.comb += [
        unit.ack.ready.eq(1),
        bursts.i.valid.eq(taken),
        bursts.i.payload.eq(burst),
        bursts.o.ready.eq(ends),
        word.valid.eq(bursts.o.valid | early),
        word.payload.data.eq(present.addr + step),
        word.payload.strobe.eq(1),
        moves.eq(word.valid & word.ready),
    ]
    pending = Signal(range(AHEAD + BURST + 1))
    m.d.sync += [step.eq(Mux(ends, 0, step + moves)), pending.eq(pending + Mux(taken, burst.words, 0) - moves)]
    bench.check(~moves | bursts.o.valid, f"no word of {name} is taken before its burst")
    bench.check(
        ~taken | (bursts.i.ready & (pending <= ahead)),
        f"no burst of {name} is taken while more than {ahead} words have not moved",
    )
    follow = Follow(bench, name, taken, burst.addr, unit.ack.valid, most)
    bench.check(
        ~follow.out | (unit.ack.payload.error == follow.value[0]), f"{name} gets the acknowledgement of its burst"
    )

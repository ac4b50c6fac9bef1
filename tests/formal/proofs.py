"""The list of proofs: the part, the claim, and the depth to which it is shown."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.formal import axi, interconnect, solve, streams, units
from tests.formal.bench import Bench
from tests.formal.circuit import circuit_of

__all__ = ["PROOFS", "Proof", "Verdict", "prove"]


@dataclass(frozen=True)
class Proof:
    """Claims about a part: they hold in the first ``depth`` cycles after reset, and for ever where ``steps`` is
    given."""

    part: str
    claim: str
    bench: Callable[[], Bench]
    depth: int  #: cycles
    steps: int | None = None  #: cycles in a row that prove the next one; None where only the first cycles are looked at
    quick: bool = True  #: under ten seconds: part of the tests


@dataclass(frozen=True)
class Verdict:
    """What came of a proof; ``holds`` when nothing did."""

    bounded: solve.Failure | None
    inductive: solve.Failure | None
    unreached: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not (self.bounded or self.inductive or self.unreached)


_ORDER = "payloads leave as they came, each once"
_LOADS = "each access is answered once, in order, with its byte; flushes and errors are seen"
_STORES = "memory ends with what was stored last, also at a fence; nothing else is written"
_TURNS = "each in its turn, waiting at most once for each other"

_AXI = "the five rules of AXI for a source, in every reset; see axi.py"

PROOFS = {
    "axi_reads": Proof("AxiReadMaster", _AXI, axi.reads, 12),
    "axi_writes": Proof("AxiWriteMaster", _AXI, axi.writes, 12),
    "fifo_1": Proof("StreamFifo, 1 place", _ORDER, partial(streams.fifo, 1), 10, 1),
    "fifo_3": Proof("StreamFifo, 3 places", _ORDER, partial(streams.fifo, 3), 10, 1),
    "fifo_4": Proof("StreamFifo, 4 places", _ORDER, partial(streams.fifo, 4), 10, 1),
    "fifo_block": Proof("StreamFifo, 4 places in block RAM", _ORDER, partial(streams.fifo, 4, block=True), 10, 3),
    "fifo_block_5": Proof("StreamFifo, 5 places in block RAM", _ORDER, partial(streams.fifo, 5, block=True), 10, 3),
    "skid": Proof("SkidBuffer", _ORDER, streams.skid, 10, 2),
    "request_slots": Proof(
        "RequestSlots", f"{_ORDER}, and are still shown a cycle later", streams.request_slots, 10, 2
    ),
    "channel_wires": Proof("ChannelBuffer of depth 0", _ORDER, partial(streams.channel, 0), 10, 1),
    "channel_registers": Proof("ChannelBuffer of depth 2", _ORDER, partial(streams.channel, 2), 12),
    "channel_memory": Proof("ChannelBuffer of depth 4", _ORDER, partial(streams.channel, 4), 12),
    "fork": Proof(
        "Fork to 2", "each output gets every payload once, waiting for no other", partial(streams.fork, 2), 10, 2
    ),
    "join": Proof("Join of 2", "the n-th payloads leave together", partial(streams.join, 2), 10, 1),
    "merge": Proof(
        "RoundRobin of 3 streams", f"payloads of each leave once, in order; {_TURNS}", partial(streams.merge, 3), 10, 2
    ),
    "arbiter": Proof("RoundRobin of the interconnect, 4 requesters", _TURNS, partial(streams.arbiter, 4), 10, 2),
    "event_counters": Proof(
        "EventCounters of 3 bits",
        "each total, whenever it is shown, is the number of events since the clear; each is shown in every round",
        units.event_counters,
        16,
    ),
    "slot_register": Proof(
        "SlotRegister, 3 slots", "a read sees the last write before it", partial(units.slot_register, 3, False), 6, 1
    ),
    "transparent_register": Proof(
        "SlotRegister, 3 slots, transparent",
        "a read sees the last write, also that of its cycle",
        partial(units.slot_register, 3, True),
        6,
        1,
    ),
    "burst_builder": Proof(
        "BurstBuilder", "each word is in one burst, in order, within its bounds", units.burst_builder, 10, 1
    ),
    "settlement": Proof(
        "Settlement", "bursts and fences leave in order, when what is before them is acknowledged", units.settlement, 12
    ),
    "guard": Proof(
        "PlaceGuard",
        "while a word deep in the ring is waited for, no more are placed than it can stand",
        units.place_guard,
        10,
        2,
    ),
    "load": Proof("LoadUnit", _LOADS, units.load_unit, 10),
    "load_own_words": Proof("LoadUnit of own words", _LOADS, units.load_unit_of_own_words, 10),
    "next_word_load": Proof("NextWordLoadUnit", _LOADS, units.next_word_load_unit, 10),
    "load_ahead": Proof("LoadUnit that reads ahead", _LOADS, units.load_unit_ahead, 10),
    "cached_load": Proof("CachedLoadUnit", _LOADS, units.cached_load_unit, 12),
    "registered_load": Proof(
        "CachedLoadUnit with a registered lookup", _LOADS, partial(units.cached_load_unit, True), 13
    ),
    "shared_cache": Proof("SharedCache of 2 loads", _LOADS, units.shared_cache, 10),
    "stepping_load": Proof("SteppingLoadUnit", _LOADS, units.stepping_load_unit, 14),
    "wide_load": Proof("WideLoadUnit", _LOADS, units.wide_load_unit, 12),
    "store": Proof("StoreUnit", _STORES, units.store_unit, 12, quick=False),
    "store_words": Proof("StoreUnit of 2 words", _STORES, units.store_unit_of_words, 12, quick=False),
    "wide_store": Proof("WideStoreUnit", _STORES, units.wide_store_unit, 11),
    "funnel": Proof(
        "Funnel of 3 units",
        "offers of each leave once, in order; each waits for each other once at most",
        partial(streams.funnel, 3),
        10,
    ),
    "reads_one_bank": Proof(
        "ReadInterconnect, 2 units, 1 bank",
        "each unit gets its words once, in order",
        partial(interconnect.reads, 2, 1),
        10,
    ),
    "reads": Proof(
        "ReadInterconnect, 2 units, 2 banks",
        "each unit gets its words once, in order",
        partial(interconnect.reads, 2, 2),
        9,
        quick=False,
    ),
    "writes_alone": Proof(
        "WriteInterconnect, 1 unit, 1 bank",
        "words reach their place, acknowledgements their unit, in order",
        partial(interconnect.writes, 1, 1),
        10,
    ),
    "writes_one_bank": Proof(
        "WriteInterconnect, 2 units, 1 bank",
        "words reach their place, acknowledgements their unit, in order",
        partial(interconnect.writes, 2, 1),
        10,
    ),
    "writes": Proof(
        "WriteInterconnect, 2 units, 2 banks",
        "words reach their place, acknowledgements their unit, in order",
        partial(interconnect.writes, 2, 2),
        9,
        quick=False,
    ),
}


def prove(proof: Proof) -> Verdict:
    """Try a proof."""
    circuit = circuit_of(proof.bench())
    bounded = solve.bounded(circuit, proof.depth)
    inductive = solve.inductive(circuit, proof.steps) if proof.steps else None
    return Verdict(bounded, inductive, tuple(solve.unreached(circuit, proof.depth)))

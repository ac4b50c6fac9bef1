"""Parts broken on purpose, each in one respect: the proof about it must detect it."""

import contextlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from rtl_lib.axi.read_master import AxiReadMaster
from rtl_lib.axi.write_master import AxiWriteMaster
from rtl_lib.channel import ChannelBuffer
from rtl_lib.event_counters import EventCounters
from rtl_lib.interconnect.arbiter import RoundRobin as Arbiter
from rtl_lib.interconnect.funnel import Funnel
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.request_slots import RequestSlots
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.lsu.barrier_loop_guard import PlaceGuard
from rtl_lib.lsu.burst import BurstBuilder
from rtl_lib.lsu.cam_lookup import WordFinder
from rtl_lib.lsu.fetch import FetchPath
from rtl_lib.lsu.gathered_words import GatheredWords
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.next_word_load import NextWordLoadUnit
from rtl_lib.lsu.shared_cache import SharedCache
from rtl_lib.lsu.shared_lookup import SharedLookup
from rtl_lib.lsu.stepping_load import SteppingLoadUnit
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.stream_run import RunAhead
from rtl_lib.lsu.wide_load import WideLoadUnit
from rtl_lib.lsu.wide_store import WideStoreUnit
from rtl_lib.lsu.word_assembler import WordBuffer
from rtl_lib.lsu.write_acknowledge import Settlement
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.state import SlotRegister
from rtl_lib.stream import Fork, Join, RoundRobin, SkidBuffer

__all__ = ["BREAKS", "Break"]


@dataclass(frozen=True)
class Break:
    """In a method of a part, ``instead`` stands where ``text`` did, while :meth:`done`."""

    proof: str  #: which must notice
    part: type
    method: str
    text: str
    instead: str

    @contextlib.contextmanager
    def done(self) -> Iterator[None]:
        """The part is broken inside this context."""
        right = vars(self.part)[self.method]
        function = inspect.unwrap(right)
        source = textwrap.dedent(inspect.getsource(function))
        if source.count(self.text) != 1:
            raise ValueError(f"{self.part.__name__}.{self.method} has {source.count(self.text)} times: {self.text}")
        names: dict[str, object] = {}
        exec(source.replace(self.text, self.instead), function.__globals__, names)  # noqa: S102
        setattr(self.part, self.method, names[self.method])
        try:
            yield
        finally:
            setattr(self.part, self.method, right)


BREAKS = (
    # queues
    Break("fifo_1", StreamFifo, "elaborate", "full | put & fills", "full"),
    Break("fifo_3", StreamFifo, "elaborate", "put.eq(self.i.valid & self.i.ready)", "put.eq(self.i.valid)"),
    Break("fifo_3", StreamFifo, "elaborate", "~(take & last)", "~take"),
    Break("fifo_3", StreamFifo, "_store", "next_place(port.addr, self._places)", "port.addr + 1"),
    Break("fifo_3", StreamFifo, "_store", "behind_read == write.addr", "read.addr + 1 == write.addr"),
    Break("fifo_4", StreamFifo, "_store", "behind_write == read.addr, last", "write.addr == read.addr, last"),
    Break("fifo_block", StreamFifo, "elaborate", "take | (self.o.valid & ~self.o.ready)", "take"),
    Break("fifo_block", StreamFifo, "elaborate", "(~self.o.valid | self.o.ready)", "1"),
    Break(
        "fifo_block",
        StreamFifo,
        "_store",
        "next_place(behind_write, self._places) == read.addr",
        "behind_write == read.addr",
    ),
    Break("fifo_block_5", StreamFifo, "_store", "self.depth - 2", "self.depth - 1"),
    # state registers
    Break(
        "slot_register", SlotRegister, "elaborate", "write.addr.eq(self.write.slot)", "write.addr.eq(self.read.slot)"
    ),
    Break("slot_register", SlotRegister, "_read_through", "if self.transparent:", "if True:"),
    Break(
        "transparent_register",
        SlotRegister,
        "_read_through",
        "self.write.valid & (self.write.slot == self.read.slot)",
        "self.write.valid",
    ),
    # small stream parts
    Break("skid", SkidBuffer, "elaborate", "waiting | self.i.valid", "self.i.valid"),
    Break("skid", SkidBuffer, "elaborate", "Mux(waiting, spare, self.i.payload)", "self.i.payload"),
    Break("request_slots", RequestSlots, "elaborate", "write.addr.eq(head ^ self.o.valid)", "write.addr.eq(head)"),
    Break("request_slots", RequestSlots, "elaborate", "read.addr.eq(before)", "read.addr.eq(head)"),
    Break(
        "channel_wires",
        ChannelBuffer,
        "elaborate",
        "connect(m, flipped(self.i), flipped(self.o))\n        return m",
        "m.d.comb += [self.o.valid.eq(self.i.valid), self.o.payload.eq(self.i.payload), self.i.ready.eq(1)]\n        "
        "return m",
    ),
    Break("channel_registers", ChannelBuffer, "elaborate", "part.o.valid + ~part.i.ready", "part.o.valid"),
    Break(
        "channel_memory", ChannelBuffer, "elaborate", "self.storage.depth, counted", "self.storage.depth - 1, counted"
    ),
    # streams that part and meet
    Break("fork", Fork, "elaborate", "self.i.valid & ~done[k]", "self.i.valid"),
    Break("fork", Fork, "elaborate", "served.all()", "served.any()"),
    Break("join", Join, "elaborate", "i.ready.eq(self.o.valid & self.o.ready)", "i.ready.eq(self.o.ready)"),
    Break("merge", RoundRobin, "elaborate", "m.d.sync += last.eq(choice)", "m.d.sync += last.eq(0)"),
    Break("merge", RoundRobin, "elaborate", "standing.eq(self.o.valid & ~self.o.ready)", "standing.eq(0)"),
    Break("merge", RoundRobin, "elaborate", "i.ready.eq(self.o.ready)", "i.ready.eq(1)"),
    Break("arbiter", Arbiter, "elaborate", "m.d.sync += behind.eq(after)", "m.d.sync += behind.eq(0)"),
    Break("arbiter", Arbiter, "elaborate", "self.requests & behind\n", "self.requests & (behind | behind >> 1)\n"),
    # bursts
    Break("burst_builder", BurstBuilder, "elaborate", "words == self.max_burst", "words == self.max_burst + 1"),
    Break("burst_builder", BurstBuilder, "elaborate", "(self.i.payload == Cat(following, upper))", "1"),
    Break("burst_builder", BurstBuilder, "elaborate", "with m.Elif(sent)", "with m.If(sent)"),
    Break("burst_builder", BurstBuilder, "elaborate", "following == 0", "0"),
    Break("burst_builder", BurstBuilder, "elaborate", "self.begins.eq(taken & ~extends)", "self.begins.eq(taken)"),
    Break("burst_builder", BurstBuilder, "elaborate", "(ends | self.rest |", "(ends |"),
    Break("settlement", Settlement, "elaborate", "acks != 0", "1"),
    Break("settlement", Settlement, "elaborate", "count(m, acks, self.ack, settled)", "count(m, acks, self.ack, C(0))"),
    # load units
    Break("load", LoadUnit, "_fresh", "known.eq(0)", "known.eq(1)"),
    Break("load", LoadUnit, "_fresh", "(~known | self.flush)", "~known"),
    Break("next_word_load", NextWordLoadUnit, "elaborate", "& ~stale & ~self.flush", "& ~self.flush"),
    Break("next_word_load", NextWordLoadUnit, "elaborate", "& ~stale & ~self.flush", "& ~stale"),
    Break("next_word_load", NextWordLoadUnit, "elaborate", "(word == ahead.payload) & ", ""),
    Break("next_word_load", NextWordLoadUnit, "elaborate", "waits.eq(fresh & ahead.valid)", "waits.eq(0)"),
    Break("next_word_load", WordBuffer, "elaborate", "take & ~select.drop", "take"),
    Break("load_ahead", LoadUnit, "_fresh", "(~runs &", "(1 &"),
    Break("load_ahead", RunAhead, "elaborate", "count(m, ahead, sent, self.reach)", "count(m, ahead, sent, C(0))"),
    Break("load_ahead", RunAhead, "elaborate", "left & (~ends | goes_on)", "~ends | goes_on"),
    Break("load_ahead", RunAhead, "elaborate", "self.o.valid | more", "1"),
    Break("load_ahead", FetchPath, "_fetch", "(builder.i.ready & ~first)", "builder.i.ready"),
    Break("load", FetchPath, "_fetch", "words.free != 0", "Const(1)"),
    Break("load", WordBuffer, "elaborate", "(~select.next | arrived)", "1"),
    Break("load_own_words", FetchPath, "_fetch_each", "builder.i.ready & place", "builder.i.ready"),
    Break("cached_load", WordFinder, "_age", "self.flush", "C(0)"),
    Break(
        "load", FetchPath, "_fetch", "& ~self._direct(m, accesses, words)", "& (self._direct(m, accesses, words) | 1)"
    ),
    Break("cached_load", WordFinder, "elaborate", "current & ~self.flush", "current"),
    Break("cached_load", WordFinder, "elaborate", "current.eq(0)", "current.eq(current)"),
    Break("cached_load", WordFinder, "elaborate", "& ~busy & ~inside", ""),
    Break("registered_load", WordFinder, "_decide_later", "self.flush", "C(0)"),
    Break("registered_load", WordFinder, "_decide_later", "Mux(near, latest, hint_used)", "hint_used"),
    Break("registered_load", WordFinder, "_decide_later", " & ~changed)", ")"),
    Break("registered_load", WordFinder, "_decide_later", "Mux(repeats, current, hit)", "(repeats | hit)"),
    Break("registered_load", WordFinder, "_decide_later", "return valid | self.o.valid", "return self.o.valid"),
    Break("guard", PlaceGuard, "elaborate", "self.level + 1 - self.answered", "self.level - self.answered"),
    Break("guard", PlaceGuard, "elaborate", "full & (before != 0)", "C(0)"),
    Break("cached_load", WordBuffer, "elaborate", "take_next | (take & select.again)", "take_next"),
    Break("shared_cache", SharedLookup, "elaborate", " & (age < self.in_date)", ""),
    Break("shared_cache", SharedLookup, "elaborate", "(owner == checked.word)", "1"),
    Break("shared_cache", SharedCache, "_look_up", "Mux(found.hit, earlier, self.allocated)", "self.allocated"),
    Break("shared_cache", SharedCache, "_answer", "~behind[-1]", "1"),
    Break("shared_cache", SharedCache, "_answer", "offset.eq(oldest.offset)", "offset.eq(offset)"),
    Break("shared_cache", SharedCache, "_fetch", "self.in_date.eq(0)", "self.in_date.eq(self.in_date)"),
    Break("stepping_load", SteppingLoadUnit, "_look_up", "anew.eq(stale | self.flush)", "anew.eq(stale)"),
    Break("stepping_load", SteppingLoadUnit, "_look_up", "anew.eq(stale | self.flush)", "anew.eq(self.flush)"),
    Break("stepping_load", SteppingLoadUnit, "_look_up", "jumps.eq(anew | (first != following))", "jumps.eq(anew)"),
    Break("stepping_load", SteppingLoadUnit, "_words", "drops.eq(wanted)", "drops.eq(0)"),
    Break("stepping_load", SteppingLoadUnit, "_words", "self.error.eq(kept.error)", "self.error.eq(self.error)"),
    Break("stepping_load", SteppingLoadUnit, "elaborate", "(drops == 0)", "C(1)"),
    Break("stepping_load", SteppingLoadUnit, "_ask", "next_word.eq(next_word + 1)", "next_word.eq(next_word + 2)"),
    Break("wide_load", WideLoadUnit, "_keep", "with m.If(self.flush)", "with m.If(0)"),
    Break("wide_load", WideLoadUnit, "_keep", "asked & (number[0] == odd)", "0"),
    Break("wide_load", WideLoadUnit, "_ask", "due.all() & (request.ready", "(request.ready"),
    # counters
    Break(
        "event_counters",
        EventCounters,
        "_totals",
        "wrapped.eq(residue < before[:bits])",
        "wrapped.eq(residue <= before[:bits])",
    ),
    Break("event_counters", EventCounters, "_totals", "with m.If(invalid)", "with m.If(0)"),
    Break("event_counters", EventCounters, "elaborate", "until.eq(place)", "until.eq(0)"),
    # store units
    Break("store", StoreUnit, "_gather", "lane | Mux(held & ~leaving, strobe, 0)", "lane"),
    Break("store", StoreUnit, "elaborate", "behind = held | builder.open", "behind = held"),
    Break("store", StoreUnit, "_gather", "(~held | joins | (word_out.ready & data_out.ready))", "1"),
    Break("store_words", GatheredWords, "elaborate", "lane | Mux(hit, strobes[place], 0)", "lane"),
    Break("store_words", GatheredWords, "elaborate", "Mux(hit, _number(found), newest)", "newest"),
    Break("wide_store", WideStoreUnit, "_merge", "waiting.eq(second.strobe.any())", "waiting.eq(0)"),
    Break("wide_store", WideStoreUnit, "_merge", "Mux(leaves & first.strobe[n], new, old)", "Mux(leaves, new, old)"),
    Break("wide_store", WideStoreUnit, "_merge", "Mux(turned.valid, second.word, kept.word)", "kept.word"),
    Break("wide_store", WideStoreUnit, "elaborate", "self.fence.request.valid & ~busy", "self.fence.request.valid"),
    # AXI masters
    Break("axi_reads", AxiReadMaster, "elaborate", "valid & ~under_way.in_reset", "valid"),
    Break("axi_reads", AxiReadMaster, "elaborate", "(~valid | ar.ready)", "C(1)"),
    Break("axi_writes", AxiWriteMaster, "_address", "aw.valid.eq(valid & ~under_way.in_reset)", "aw.valid.eq(valid)"),
    Break("axi_writes", AxiWriteMaster, "_words", "(w.ready & ~under_way.in_reset), Signal()", "w.ready, Signal()"),
    Break("axi_writes", AxiWriteMaster, "_words", "last.eq(left == 1)", "last.eq(left == 2)"),
    # interconnect
    Break("funnel", Funnel, "elaborate", "places.level < PLACES - 1", "places.level < PLACES"),
    Break("funnel", Funnel, "elaborate", "chosen.eq(self.taken)", "chosen.eq(arbiter.chosen)"),
    Break("funnel", Funnel, "elaborate", "arbiter.take.eq(room)", "arbiter.take.eq(0)"),
    Break("reads_one_bank", ReadInterconnect, "_returns", "response.valid & response.payload.last", "response.valid"),
    Break("reads_one_bank", ReadInterconnect, "_requests", "owners.i.payload.eq(owner)", "owners.i.payload.eq(0)"),
    Break("reads", ReadInterconnect, "_in_order", "turns.i.payload.eq(bank)", "turns.i.payload.eq(0)"),
    Break("reads", ReadInterconnect, "_in_order", "free >= 2 * self.max_burst", "free != 0"),
    Break(
        "reads",
        ReadInterconnect,
        "_requests",
        "self.map.local_bits(byte_address(burst, self.word_bytes))",
        "byte_address(burst, self.word_bytes)",
    ),
    Break(
        "writes_one_bank", WriteInterconnect, "_requests", "free = (path.left == 0) | path.ends.any()", "free = C(1)"
    ),
    Break("writes_alone", WriteInterconnect, "_pass_through", "self.map.local_bits(unit.request.payload.addr)", "0"),
    Break("writes_one_bank", WriteInterconnect, "_acks", "owner.payload == u", "C(u == 0)"),
    Break("writes_one_bank", WriteInterconnect, "_ack_directly", "payload.error.eq(error)", "payload.error.eq(0)"),
    Break("writes", WriteInterconnect, "elaborate", "(next_bank == b) & idle", "idle"),
    Break("writes", WriteInterconnect, "_near_its_turn", "~ahead[AHEAD.bit_length() :].any()", "C(1)"),
    Break("writes", WriteInterconnect, "_ack_in_order", "turns.i.payload.eq(bank)", "turns.i.payload.eq(0)"),
)

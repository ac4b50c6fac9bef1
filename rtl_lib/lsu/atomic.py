"""Atomic operations on external memory: one unit for all who ask, so that nothing comes between a read and its write."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.utils import exact_log2

from rtl_lib.credits import CreditCounter
from rtl_lib.library import shared
from rtl_lib.lsu.atomic_functions import FUNCTIONS, atomic_result
from rtl_lib.lsu.observe import Observation
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence, ReadPort, WritePort, require_power_of_two
from rtl_lib.stream import RoundRobin

__all__ = ["AtomicMemory", "AtomicPort", "AtomicUnit", "atomic_request", "atomic_response"]

#: cycles without a request after which a changed word is written back, and cycles after which it is at the latest
PATIENCE, LONGEST = 16, 256
#: answers that an asker has room for
ANSWERS = 4
LANE = 8  # bytes of the widest operand


def atomic_request(addr_bits):
    """A request: byte address, function (an index of FUNCTIONS), whether it is of 8 bytes rather than 4, operands."""
    return data.StructLayout({"addr": addr_bits, "function": range(len(FUNCTIONS)), "wide": 1, "a": 8 * LANE, "b": 8 * LANE})


def atomic_response():
    """What was there before, and whether memory refused to say."""
    return data.StructLayout({"data": 8 * LANE, "error": 1})


class AtomicPort(wiring.Signature):
    """Between one asker and :class:`AtomicMemory`, as the asker sees it.

    request, response : one answer for each request, in order
    fence : answered when all that was asked before is in memory
    flush : what memory holds may be newer than what the unit does
    idle : nothing this asker has changed waits to be written
    failed : strobe: memory refused a write
    """

    def __init__(self, addr_bits):
        super().__init__({
            "request": Out(stream.Signature(atomic_request(addr_bits))),
            "response": In(stream.Signature(atomic_response())),
            "fence": Out(Fence()),
            "flush": Out(1),
            "idle": In(1),
            "failed": In(1),
        })


@shared
class AtomicUnit(wiring.Component):
    """One atomic operation of a kernel: the port of its requests to the unit that serves all.

    Ports
    -----
    i, o : streams of ``{addr, a, b}`` and of what was there before
    error : memory answered the access on offer at ``o`` with an error
    fence, flush, idle : as of a store and a load unit
    mem : :class:`AtomicPort`; observe : :class:`Observation`
    """

    def __init__(self, *, function, access_bytes, addr_bits):
        if access_bytes not in (4, 8):
            raise ValueError(f"an atomic operation moves 4 or 8 bytes, not {access_bytes!r}")
        self.function, self.access_bytes = FUNCTIONS.index(function), access_bytes
        operand = 8 * access_bytes
        super().__init__({
            "i": In(stream.Signature(data.StructLayout({"addr": addr_bits, "a": operand, "b": operand}))),
            "o": Out(stream.Signature(operand)),
            "error": Out(1), "flush": In(1), "idle": Out(1), "fence": In(Fence()),
            "mem": Out(AtomicPort(addr_bits)),
            "observe": Out(Observation()),
        })

    def elaborate(self, platform):
        m = Module()
        request, response = self.mem.request, self.mem.response
        under_way = Signal(range(2 * ANSWERS + 2))
        taken, answered = request.valid & request.ready, response.valid & response.ready
        m.d.comb += [
            request.valid.eq(self.i.valid), self.i.ready.eq(request.ready),
            request.payload.addr.eq(self.i.payload.addr), request.payload.a.eq(self.i.payload.a),
            request.payload.b.eq(self.i.payload.b), request.payload.function.eq(self.function),
            request.payload.wide.eq(self.access_bytes == LANE),
            self.o.valid.eq(response.valid), response.ready.eq(self.o.ready),
            self.o.payload.eq(response.payload.data), self.error.eq(response.payload.error),
            self.mem.flush.eq(self.flush),
            self.idle.eq(self.mem.idle & (under_way == 0)),
            self.observe.accepted.eq(taken), self.observe.stalled.eq(self.i.valid & ~self.i.ready),
            self.observe.word.eq(answered), self.observe.error.eq(self.mem.failed),
        ]
        m.d.sync += under_way.eq(under_way + taken - answered)
        connect(m, wiring.flipped(self.fence), wiring.flipped(self.mem.fence))
        return m


@shared
class AtomicMemory(wiring.Component):
    """Serves all askers, one after the other.

    It holds the word of memory in use. Requests to that word are done in two cycles each; what they change is written when
    another word is asked for, when no request has come for :data:`PATIENCE` cycles, after :data:`LONGEST` cycles, or for a fence.

    Rules
    -----
    1. Requests are done one after the other, each asker's in order: read, computed, and written into the word held.
    2. A fence is answered when the word held is not changed any more, so every request answered before is in memory.
    3. After ``flush`` the next request reads memory, once what was changed has been written.
    4. A request is taken only if its asker has room for the answer: none waits for another's.
    5. Only the bytes that requests have changed are written.

    Parameters
    ----------
    askers : how many; word_bytes, addr_bits : of the memory behind
    functions : names of those that are asked for, of FUNCTIONS; max_burst : of the ports (all bursts are of one word)

    Ports
    -----
    askers : array of :class:`AtomicPort`, as the unit sees them
    reads, writes : :class:`ReadPort`, :class:`WritePort`
    """

    def __init__(self, *, askers, word_bytes, addr_bits, functions, max_burst=16):
        require_power_of_two("word_bytes", word_bytes, LANE)
        self.word_bytes, self.addr_bits, self.functions = word_bytes, addr_bits, tuple(functions)
        super().__init__({
            "askers": In(AtomicPort(addr_bits)).array(askers),
            "reads": Out(ReadPort(word_bytes, addr_bits, max_burst)),
            "writes": Out(WritePort(word_bytes, addr_bits, max_burst)),
        })

    def elaborate(self, platform):
        m = Module()
        self._held(m)
        merged = self._merge(m)
        m.d.comb += [self.reads.response.ready.eq(1), self.writes.ack.ready.eq(1)]
        with m.FSM():
            with m.State("READY"):
                self._choose(m, merged)
            with m.State("COMPUTE"):
                self._compute(m)
                m.next = "READY"
            with m.State("WRITE"):
                self._write(m)
            with m.State("WRITTEN"), m.If(self.writes.ack.valid):
                m.d.sync += [self.changed.eq(0), self.owners.eq(0)]
                m.d.comb += [port.failed.eq(self.writes.ack.payload.error & self.owners[k])
                             for k, port in enumerate(self.askers)]
                m.next = "READY"
            with m.State("READ"):
                self._read(m)
        return m

    def _held(self, m):
        """The word in use, and the request that is being done."""
        self.word, self.changed = Signal(8 * self.word_bytes), Signal(self.word_bytes)
        self.place, self.known, self.bad = Signal(self.addr_bits - exact_log2(self.word_bytes)), Signal(), Signal()
        self.owners = Signal(len(self.askers))  # whose changes are not in memory
        self.request, self.lane = Signal(atomic_request(self.addr_bits)), Signal(8 * LANE)
        self.source, self.sent = Signal(range(len(self.askers))), Signal(2)  # of the write's request and data
        self.stale, age, quiet = Signal(), Signal(range(LONGEST + 1)), Signal(range(PATIENCE + 1))
        self.due = self.changed.any() & ((age == LONGEST) | (quiet == PATIENCE))
        m.d.sync += [
            age.eq(Mux(self.changed.any(), age + (age != LONGEST), 0)),
            quiet.eq(Mux(self.changed.any() & ~Cat(port.request.valid for port in self.askers).any(),
                         quiet + (quiet != PATIENCE), 0)),
        ]
        with m.If(Cat(port.flush for port in self.askers).any()):
            m.d.sync += self.stale.eq(1)

    def _merge(self, m):
        """Requests of all askers as one stream; answers have queues of their own."""
        m.submodules.merge = merge = RoundRobin(atomic_request(self.addr_bits), len(self.askers))
        self.answers = []
        for k, (port, i) in enumerate(zip(self.askers, merge.i, strict=True)):
            answers = StreamFifo(atomic_response(), ANSWERS)
            room = CreditCounter(ANSWERS)
            m.submodules[f"answers{k}"], m.submodules[f"room{k}"] = answers, room
            self.answers.append(answers)
            connect(m, answers.o, wiring.flipped(port.response))
            m.d.comb += [
                i.valid.eq(port.request.valid & room.available), i.payload.eq(port.request.payload),
                port.request.ready.eq(i.ready & room.available),
                room.take.eq(i.valid & i.ready), room.give.eq(answers.o.valid & answers.o.ready),
                port.idle.eq(~self.owners[k]),
            ]
            self._answer_fence(m, port.fence)
        return merge.o

    def _answer_fence(self, m, fence):
        with m.If(fence.response.ready):
            m.d.sync += fence.response.valid.eq(0)
        with m.If(fence.request.valid & fence.request.ready):
            m.d.sync += fence.response.valid.eq(1)

    def _choose(self, m, merged):
        """What comes next: to write back, to forget, to answer fences, to read, or to compute."""
        asked, changed = merged.payload.value, self.changed.any()
        fences = [port.fence for port in self.askers]
        here = self.known & (asked.addr[exact_log2(self.word_bytes):] == self.place)
        fenced = Cat(fence.request.valid for fence in fences).any()
        with m.If(changed & (self.stale | fenced | self.due | (merged.valid & ~here))):
            m.d.sync += self.sent.eq(0)
            m.next = "WRITE"
        with m.Elif(self.stale):
            m.d.sync += [self.known.eq(0), self.stale.eq(Cat(port.flush for port in self.askers).any())]
        with m.Elif(fenced):
            m.d.comb += [fence.request.ready.eq(~fence.response.valid) for fence in fences]
        with m.Elif(merged.valid & ~here):
            m.d.sync += [self.place.eq(asked.addr[exact_log2(self.word_bytes):]), self.known.eq(0), self.sent.eq(0)]
            m.next = "READ"
        with m.Elif(merged.valid):
            m.d.comb += merged.ready.eq(1)
            lanes = self.word.word_select(asked.addr[exact_log2(LANE):exact_log2(self.word_bytes)], 8 * LANE)
            m.d.sync += [self.request.eq(asked), self.source.eq(merged.payload.source), self.lane.eq(lanes)]
            m.next = "COMPUTE"

    def _compute(self, m):
        """Put the result into the word, and tell the asker what was there."""
        request, half = self.request, self.request.addr[2]
        old = Mux(request.wide, self.lane, self.lane.word_select(half, 32))
        wide, narrow = (self._result(m, old[:bits], bits) for bits in (64, 32))
        lane = Mux(request.wide, wide, narrow.replicate(2))
        bytes_ = Mux(request.wide, 0xFF, Mux(half, 0xF0, 0x0F))
        number = request.addr[exact_log2(LANE):exact_log2(self.word_bytes)]
        for n in range(self.word_bytes // LANE):
            for byte in range(LANE):
                with m.If((number == n) & bytes_[byte]):
                    m.d.sync += self.word.word_select(n * LANE + byte, 8).eq(lane.word_select(byte, 8))
        m.d.sync += [self.changed.eq(self.changed | (bytes_ << (number << 3))), self.owners.bit_select(self.source, 1).eq(1)]
        for k, answers in enumerate(self.answers):
            m.d.comb += [answers.i.valid.eq(self.source == k), answers.i.payload.data.eq(old), answers.i.payload.error.eq(self.bad)]

    def _result(self, m, old, bits):
        result = Signal(bits, name=f"result{bits}")
        with m.Switch(self.request.function):
            for name in self.functions:
                with m.Case(FUNCTIONS.index(name)):
                    operands = [self.request.a[:bits], self.request.b[:bits]][: 1 + (name == "cmpxchg")]
                    m.d.comb += result.eq(atomic_result(name, old, operands))
        return result

    def _write(self, m):
        request, words = self.writes.request, self.writes.data
        m.d.comb += [
            request.valid.eq(~self.sent[0]), request.payload.addr.eq(self.place << exact_log2(self.word_bytes)),
            request.payload.words.eq(1), words.valid.eq(~self.sent[1]),
            words.payload.data.eq(self.word), words.payload.strobe.eq(self.changed),
        ]
        sent = self.sent | Cat(request.ready, words.ready)
        m.d.sync += self.sent.eq(sent)
        with m.If(sent.all()):
            m.next = "WRITTEN"

    def _read(self, m):
        request, response = self.reads.request, self.reads.response
        m.d.comb += [
            request.valid.eq(~self.sent[0]), request.payload.addr.eq(self.place << exact_log2(self.word_bytes)),
            request.payload.words.eq(1),
        ]
        with m.If(request.ready):
            m.d.sync += self.sent[0].eq(1)
        with m.If(response.valid):
            m.d.sync += [self.word.eq(response.payload.data), self.bad.eq(response.payload.error), self.known.eq(1)]
            m.next = "READY"

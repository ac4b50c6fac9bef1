"""A FIFO between two streams, in registers when shallow and in block RAM when deep."""

from amaranth import *
from amaranth.hdl import Assert, ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.ram import Ram
from rtl_lib.steps import LONGEST_RING, count, next_place

__all__ = ["StreamFifo"]

#: Deepest FIFO kept in registers or LUT RAM: beyond it a block RAM is cheaper on every target we know.
SHALLOW = 32


@shared
class StreamFifo(wiring.Component):
    """First in, first out; the payload at ``o`` is offered without a request (first word fall-through).

    Rules
    -----
    1. Payloads leave in order of arrival, each once.
    2. ``i`` is ready when, and only when, fewer than ``depth`` payloads are inside; it never depends on
       ``o.ready`` of the same cycle. (So a FIFO of depth 1 moves one payload every second cycle.)
    3. An offered payload stays offered, unchanged, until it is taken.
    4. From a depth of ``timing.latency + 1`` on one payload goes in and one out every cycle.
    5. With ``credited`` the user offers a payload only where there is room, and ``i`` is always ready: an assertion
       stops the simulation otherwise.
    6. ``level`` counts what is inside, the payload on offer included; ``empty`` says that it would be 0.

    Parameters
    ----------
    shape : shape of the payload
    depth : number of payloads it holds, at least 1
    counted : whether the port ``level`` exists; where none does, payloads are not counted
    credited : rule 5, instead of rule 2

    Ports
    -----
    i, o : streams of ``shape``; a payload appears at ``o`` :attr:`timing` after it was accepted at ``i``
    empty : nothing is inside; level : payloads inside, 0 to ``depth``
    """

    def __init__(self, shape: ShapeLike, depth: int, counted: bool = False, credited: bool = False) -> None:
        if not isinstance(depth, int) or depth < 1:
            raise ValueError(f"depth must be a positive integer, not {depth!r}")
        self.depth = depth
        self.stored_bits = Shape.cast(shape).width  # a payload of width 0 is only counted
        self.in_block_ram = depth > SHALLOW and self.stored_bits > 0
        self.timing = self.timing_of(shape, depth)
        self.counted, self.credited = counted, credited
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "empty": Out(1),
                **({"level": Out(range(depth + 1))} if counted else {}),
            }
        )

    @staticmethod
    def timing_of(shape: ShapeLike, depth: int) -> Timing:
        """The timing of a FIFO of that shape and depth."""
        return Timing(latency=2 if depth > SHALLOW and Shape.cast(shape).width else 1)

    def elaborate(self, platform: object) -> Module:
        """Build the storage and its pointers; ``i.ready`` is a register. The output register of a block RAM is refilled
        as its payload is taken."""
        m = Module()
        put, take = Signal(), Signal()  # advance the write pointer and the read pointer
        waits = Signal()  # the storage has a payload
        full, leaves = Signal(), Signal()
        fills, last = self._store(m, put, take) if self.stored_bits else self._numbered(m, put, take)
        m.d.comb += [
            # a register: logic that waits for room is often at the end of a long path
            self.i.ready.eq(1 if self.credited else ~full),
            put.eq(self.i.valid & self.i.ready),
            leaves.eq(self.o.valid & self.o.ready),
        ]
        m.d.sync += [full.eq(~leaves & (full | put & fills)), waits.eq(put | waits & ~(take & last))]
        if self.in_block_ram:  # offer the read port's output register, refilled as it is taken
            m.d.comb += [self.empty.eq(~waits & ~self.o.valid), take.eq(waits & (~self.o.valid | self.o.ready))]
            m.d.sync += self.o.valid.eq(take | (self.o.valid & ~self.o.ready))
        else:
            m.d.comb += [self.empty.eq(~waits), self.o.valid.eq(waits), take.eq(leaves)]
        if self.credited and platform is None:  # in simulation only; at the edge, as signals settle before
            m.d.sync += Assert(~(self.i.valid & full), "a payload is offered to a queue without room")
        if self.counted:
            count(m, self.level, put, leaves)
        return m

    def _numbered(self, m: Module, put: Signal, take: Signal) -> tuple[Value, Value]:
        """What :meth:`_store` returns, by the number of payloads stored."""
        stored = self._count(m, put, take)
        return stored == self.depth - 1, stored == 1

    def _count(self, m: Module, put: Signal, take: Signal) -> Signal:
        """The number of payloads in the storage."""
        stored = Signal(range(self.depth + 1))
        count(m, stored, put, take)
        return stored

    def _store(self, m: Module, put: Signal, take: Signal) -> tuple[Value, Value]:
        """Build the storage; returns whether one more payload fills the FIFO, and whether the storage has just one: by
        comparisons of pointers, so that payloads need not be counted unless the storage has more places than the FIFO
        holds."""
        storage: Ram | Memory
        if self.in_block_ram:
            storage = Ram(width=self.stored_bits, depth=self._places, collides=False)
            read, write = storage.read, storage.write
            m.d.comb += read.en.eq(take)
        else:
            storage = Memory(shape=self.stored_bits, depth=self._places, init=[])
            read, write = storage.read_port(domain="comb"), storage.write_port()
        m.submodules.storage = storage
        m.d.comb += [write.en.eq(put), write.data.eq(self.i.payload), Value.cast(self.o.payload).eq(read.data)]
        behind_write, behind_read = (next_place(port.addr, self._places) for port in (write, read))
        for port, moves, behind in ((write, put, behind_write), (read, take, behind_read)):
            with m.If(moves):
                m.d.sync += port.addr.eq(behind)
        last = behind_read == write.addr
        if not self.in_block_ram:
            return behind_write == read.addr, last
        if self._places == self.depth:  # one payload more is in the output register when it is about to be full
            return next_place(behind_write, self._places) == read.addr, last
        return self._count(m, put, take) == self.depth - 2, last

    @property
    def _places(self) -> int:
        """Words of the storage: in a block RAM as many as the pointers have values, which costs none more."""
        places = 1 << ceil_log2(self.depth)
        return places if self.in_block_ram and places <= 1 << LONGEST_RING else self.depth

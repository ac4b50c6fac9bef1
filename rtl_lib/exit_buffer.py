"""Exit buffers: the results of finished invocations wait until they may leave in order."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .contract import Timing
from .library import shared
from .mem.fifo import StreamFifo

__all__ = ["ExitBuffer", "ExitFifo", "GroupExits", "advance", "check_entries"]


def check_entries(entries: object) -> None:
    """Raises ValueError unless ``entries`` is a positive integer."""
    if not isinstance(entries, int) or entries < 1:
        raise ValueError(f"entries must be a positive integer, not {entries!r}")


def advance(pointer: Value, entries: int) -> Value:
    """The entry after ``pointer`` in a circular buffer of ``entries``."""
    return Mux(pointer == entries - 1, 0, pointer + 1)


@shared
class ExitBuffer(wiring.Component):
    """Reorder buffer: results that end in any order leave in the order of their entries.

    The loop header reserves an entry when an invocation starts, so a finished one always finds room: reserving
    only at the end would deadlock.

    Rules
    -----
    1. ``write`` is never refused. The entry must be reserved, and written once.
    2. ``o`` returns entries 0, 1, ... in circular order, each when it has been written, :attr:`timing` after the write
       at the earliest.
    3. ``retire`` is high in the cycle in which a result is taken: its entry is free again.

    Parameters
    ----------
    shape : the result's shape, of any width, zero included
    entries : results that may be waiting or reserved, at least 1
    """

    timing = Timing(latency=1)

    def __init__(self, shape: ShapeLike, entries: int) -> None:
        check_entries(entries)
        self.entries = entries
        super().__init__(
            {
                "write": In(wiring.Signature({"valid": Out(1), "entry": Out(range(entries)), "value": Out(shape)})),
                "o": Out(stream.Signature(shape)),
                "retire": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the values of the entries, a bit for each that is written, and the pointer to the one that leaves
        next."""
        m = Module()
        written, head = Signal(self.entries), Signal(range(self.entries))
        m.d.comb += [self.o.valid.eq(written.bit_select(head, 1)), self.retire.eq(self.o.valid & self.o.ready)]
        with m.If(self.retire):
            m.d.sync += [written.bit_select(head, 1).eq(0), head.eq(advance(head, self.entries))]
        with m.If(self.write.valid):
            m.d.sync += written.bit_select(self.write.entry, 1).eq(1)
        self._keep_values(m, head)
        return m

    def _keep_values(self, m: Module, head: Value) -> None:
        shape = self.o.payload.shape()
        if Shape.cast(shape).width == 0:
            return
        m.submodules.values = values = Memory(shape=shape, depth=self.entries, init=[])
        read, write = values.read_port(domain="comb"), values.write_port()
        m.d.comb += [
            read.addr.eq(head),
            self.o.payload.eq(read.data),
            write.en.eq(self.write.valid),
            write.addr.eq(self.write.entry),
            write.data.eq(self.write.value),
        ]


@shared
class ExitFifo(wiring.Component):
    """Results that end in order: replaces :class:`ExitBuffer` where the loop has one slot.

    Rules
    -----
    1. ``write`` is never refused. Its producer has reserved room: never more than ``entries`` results are
       written and not taken.
    2. ``o`` returns the results in the order they were written, each :attr:`timing` after its write at the earliest.
    3. ``retire`` is high in the cycle in which a result is taken.
    """

    def __init__(self, shape: ShapeLike, entries: int) -> None:
        check_entries(entries)
        self.entries = entries
        self.timing = StreamFifo.timing_of(shape, entries)
        super().__init__(
            {
                "write": In(wiring.Signature({"valid": Out(1), "value": Out(shape)})),
                "o": Out(stream.Signature(shape)),
                "retire": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a FIFO of ``entries`` results, whose input is never refused."""
        m = Module()
        m.submodules.fifo = fifo = StreamFifo(self.write.value.shape(), self.entries)
        wiring.connect(m, fifo.o, wiring.flipped(self.o))
        m.d.comb += [
            fifo.i.valid.eq(self.write.valid),
            fifo.i.payload.eq(self.write.value),
            self.retire.eq(self.o.valid & self.o.ready),
        ]
        return m


@shared
class GroupExits(wiring.Component):
    """Groups of results that end in any order leave in the order of their positions (``place``); the results of a
    group stay in their order.

    Rules
    -----
    1. ``write`` is never refused. The group's position must stay reserved until its last result, of which
       ``value.last`` is high, is taken.
    2. ``o`` returns the groups at positions 0, 1, ... in circular order, each result :attr:`timing` after its write at
       the earliest.
    3. ``retire`` is high in the cycle in which a result is taken.

    Parameters
    ----------
    shape : the result's shape, a structure with a bit ``last``
    groups : positions; items : results of a group at most
    """

    def __init__(self, shape: ShapeLike, groups: int, items: int) -> None:
        check_entries(groups)
        check_entries(items)
        self.groups, self.items = groups, items
        self.timing = StreamFifo.timing_of(shape, items)
        super().__init__(
            {
                "write": In(wiring.Signature({"valid": Out(1), "place": Out(range(groups)), "value": Out(shape)})),
                "o": Out(stream.Signature(shape)),
                "retire": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a FIFO of ``items`` results for each position, and the pointer to the position that leaves next."""
        m = Module()
        head = Signal(range(self.groups))
        m.d.comb += self.retire.eq(self.o.valid & self.o.ready)
        with m.If(self.retire & self.o.payload.last):
            m.d.sync += head.eq(advance(head, self.groups))
        for k in range(self.groups):
            fifo = m.submodules[f"group{k}"] = StreamFifo(self.write.value.shape(), self.items)
            m.d.comb += [
                fifo.i.valid.eq(self.write.valid & (self.write.place == k)),
                fifo.i.payload.eq(self.write.value),
            ]
            with m.If(head == k):
                m.d.comb += [
                    self.o.valid.eq(fifo.o.valid),
                    self.o.payload.eq(fifo.o.payload),
                    fifo.o.ready.eq(self.o.ready),
                ]
        return m

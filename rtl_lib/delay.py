"""Delays an event by a fixed number of cycles."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from .library import shared
from .slots import SlotEvent, check_slots

__all__ = ["EventDelay"]


@shared
class EventDelay(wiring.Component):
    """Repeats events of slots ``cycles`` later; its cost hardly depends on the number of cycles.

    Rules
    -----
    1. An event at ``i`` is repeated at ``o`` exactly ``cycles`` cycles later. ``o`` depends on registers only.
    2. At most one event of each slot is inside: the slot's next one comes after the cycle in which it is repeated.
    3. ``cancel`` (one slot only) drops the event inside, and an event that comes in the same cycle. An event that is
       being repeated in that cycle is repeated.

    Of three implementations the one with the fewest registers is taken: a register for each cycle; with one slot a
    counter of the cycles left; with several a queue of slots, each with the time at which it leaves.

    Parameters
    ----------
    slots : as of :func:`~rtl_lib.slots.SlotEvent`
    cycles : at least 1
    """

    def __init__(self, slots: int, cycles: int) -> None:
        check_slots(slots)
        if not isinstance(cycles, int) or cycles < 1:
            raise ValueError(f"cycles must be a positive integer, not {cycles!r}")
        self.slots, self.cycles = slots, cycles
        super().__init__({"i": In(SlotEvent(slots)), "o": Out(SlotEvent(slots)), "cancel": In(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the form that needs the fewest registers: a chain, a counter for a single slot, or a table of times."""
        m = Module()
        count, slot = self.cycles.bit_length(), len(self.i.slot)
        timed = count if self.slots == 1 else count + self.slots * (slot + count)
        if self.cycles * (1 + slot) <= timed:
            self._chain(m)
        elif self.slots == 1:
            self._counter(m)
        else:
            self._timetable(m)
        return m

    def _chain(self, m: Module) -> None:
        event = self.i
        for k in range(self.cycles):
            later = SlotEvent(self.slots).create(path=(f"later_{k}",))
            m.d.sync += [later.valid.eq(event.valid & ~self.cancel), later.slot.eq(event.slot)]
            event = later
        m.d.comb += [self.o.valid.eq(event.valid), self.o.slot.eq(event.slot)]

    def _counter(self, m: Module) -> None:
        left = Signal(range(self.cycles + 1))  # 0: nothing inside
        m.d.comb += self.o.valid.eq(left == 1)
        with m.If(self.cancel):
            m.d.sync += left.eq(0)
        with m.Elif(self.i.valid):
            m.d.sync += left.eq(self.cycles)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)

    def _timetable(self, m: Module) -> None:
        """All events wait equally long, so they leave in order of arrival. The clock has a distinct value for every
        cycle of the wait."""
        now = Signal(self.cycles.bit_length())
        entry = data.StructLayout({"slot": len(self.i.slot), "time": len(now)})
        m.submodules.queue = queue = SyncFIFO(width=entry.size, depth=self.slots)
        first = data.View(entry, queue.r_data)
        m.d.sync += now.eq(now + 1)
        m.d.comb += [
            queue.w_en.eq(self.i.valid),
            queue.w_data.eq(Cat(self.i.slot, (now + self.cycles)[: len(now)])),
            self.o.valid.eq(queue.r_rdy & (first.time == now)),
            self.o.slot.eq(first.slot),
            queue.r_en.eq(self.o.valid),
        ]

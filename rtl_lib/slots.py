"""Slots of a loop, one for each running invocation, and the queue of those that may issue next."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

__all__ = ["ReadyQueue", "SlotEvent", "SlotPool", "check_slots"]


def check_slots(slots: object) -> None:
    """Raises ValueError unless ``slots`` is a positive integer."""
    if not isinstance(slots, int) or slots < 1:
        raise ValueError(f"slots must be a positive integer, not {slots!r}")


def SlotEvent(slots: int) -> wiring.Signature:
    """Signature of a strobe that names a slot: ``valid`` with ``slot``."""
    return wiring.Signature({"valid": Out(1), "slot": Out(range(slots))})


class SlotPool(wiring.Component):
    """Allocates free slots.

    Rules
    -----
    1. After reset every slot is free.
    2. While ``free`` is high, ``slot`` names a free slot; both depend on registers only, and stay as they
       are until ``take``.
    3. ``take`` makes that slot busy. It must not be high while ``free`` is low.
    4. ``give`` frees a busy slot, even one taken in the same cycle. A freed slot can be offered in the next cycle.
    5. ``busy`` is high while any slot is busy.

    Up to :attr:`few` slots are searched in a bit vector; of more, those that were freed wait in a queue.
    """

    few = 64

    def __init__(self, slots: int) -> None:
        check_slots(slots)
        self.slots = slots
        super().__init__(
            {"free": Out(1), "slot": Out(range(slots)), "take": In(1), "give": In(SlotEvent(slots)), "busy": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build a bit for each slot if there are at most ``few``, else a queue of free slots."""
        return self._among_bits() if self.slots <= self.few else self._in_queue()

    def _in_queue(self) -> Module:
        m = Module()
        # one entry more: a slot may be taken and given back in one cycle while all others wait
        m.submodules.given = given = SyncFIFO(width=len(self.slot), depth=self.slots + 1)
        used, busy = Signal(range(self.slots + 1)), Signal(range(self.slots + 1))  # used: slots that were ever offered
        fresh = used != self.slots
        m.d.comb += [
            self.free.eq(fresh | given.r_rdy),
            self.slot.eq(Mux(fresh, used, given.r_data)),
            self.busy.eq(busy != 0),
            given.r_en.eq(self.take & ~fresh),
            given.w_en.eq(self.give.valid),
            given.w_data.eq(self.give.slot),
        ]
        m.d.sync += [used.eq(used + (self.take & fresh)), busy.eq(busy + self.take - self.give.valid)]
        return m

    def _among_bits(self) -> Module:
        m = Module()
        busy, after = Signal(self.slots), Signal(self.slots)
        offered = Signal(range(self.slots))
        m.d.comb += [
            self.free.eq(~busy.bit_select(offered, 1)),
            self.slot.eq(offered),
            self.busy.eq(busy.any()),
            after.eq(busy),
        ]
        with m.If(self.take):
            m.d.comb += after.bit_select(offered, 1).eq(1)
        with m.If(self.give.valid):
            m.d.comb += after.bit_select(self.give.slot, 1).eq(0)
        m.d.sync += busy.eq(after)
        with m.If(after.bit_select(offered, 1)):  # the offer was taken: choose another
            for slot in reversed(range(self.slots)):
                with m.If(~after[slot]):
                    m.d.sync += offered.eq(slot)
        return m


class ReadyQueue(wiring.Component):
    """The slots that may issue their next token, in the order in which they became ready.

    Rules
    -----
    1. A slot is in the queue at most once, so ``push`` is never refused. The head may be pushed again in
       the cycle of its ``pop``.
    2. ``head`` is the slot that was pushed first; ``head.valid`` is low while the queue is empty. A slot is visible
       one cycle after its ``push``. Both depend on registers only.
    3. ``pop`` removes the head. It must not be high while ``head.valid`` is low.
    4. ``cancel`` (one slot only) empties the queue and drops a ``push`` of the same cycle.
    """

    def __init__(self, slots: int) -> None:
        check_slots(slots)
        self.slots = slots
        super().__init__({"push": In(SlotEvent(slots)), "head": Out(SlotEvent(slots)), "pop": In(1), "cancel": In(1)})

    def elaborate(self, platform: object) -> Module:
        """Build a single register for one slot, else a FIFO with room for one entry more than there are slots."""
        m = Module()
        if self.slots == 1:
            with m.If(self.push.valid | self.pop | self.cancel):
                m.d.sync += self.head.valid.eq(self.push.valid & ~self.cancel)
            return m
        # One entry more than slots: with all of them waiting, the head may be pushed again as it is popped.
        m.submodules.queue = queue = SyncFIFO(width=len(self.push.slot), depth=self.slots + 1)
        m.d.comb += [
            queue.w_en.eq(self.push.valid),
            queue.w_data.eq(self.push.slot),
            self.head.valid.eq(queue.r_rdy),
            self.head.slot.eq(queue.r_data),
            queue.r_en.eq(self.pop),
        ]
        return m

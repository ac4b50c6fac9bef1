"""State of a slot between two tokens: the carried value, and whether it is ready."""

from typing import Any

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .slots import SlotEvent, check_slots

__all__ = ["SlotReady", "SlotRegister"]


class SlotRegister(wiring.Component):
    """One value per slot.

    Rules
    -----
    1. ``read.value`` is the value last written to ``read.slot``, in the same cycle (combinational).
    2. A write is never refused and is visible to reads one cycle later: a read in the same cycle gets the
       value before it. With ``transparent`` it is visible at once: a read of the slot in the same cycle gets the value
       that is written (combinational, from ``write``).
    3. Before its first write the value of a slot is undefined; with ``preset`` it is that from the cycle after
       ``restart`` on. A write in the cycle of ``restart`` is lost.

    Parameters
    ----------
    shape : the value's shape, of any width, zero included
    slots : number of slots, at least 1; one slot is a plain register
    preset : the initial bits, for one slot; None for none
    transparent : reads see what is written in their cycle
    """

    def __init__(self, shape: ShapeLike, slots: int, preset: Any = None, transparent: bool = False) -> None:
        check_slots(slots)
        if preset is not None and slots != 1:
            raise ValueError(f"a preset register has one slot, not {slots}")
        self.slots, self.preset, self.transparent = slots, preset, transparent
        super().__init__(
            {
                "read": In(wiring.Signature({"slot": Out(range(slots)), "value": In(shape)})),
                "write": In(wiring.Signature({"valid": Out(1), "slot": Out(range(slots)), "value": Out(shape)})),
                "restart": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a register for one slot, else a small memory; nothing at all for a value of no bits."""
        m = Module()
        shape = self.write.value.shape()
        if Shape.cast(shape).width == 0:
            return m
        if self.slots == 1:
            value = Signal(shape, reset_less=True)
            m.d.comb += self.read.value.eq(value)
            self._read_through(m)
            with m.If(self.write.valid):
                m.d.sync += value.eq(self.write.value)
            if self.preset is not None:
                with m.If(self.restart):
                    m.d.sync += Value.cast(value).eq(self.preset)
            return m
        m.submodules.values = values = Memory(shape=shape, depth=self.slots, init=[])
        read, write = values.read_port(domain="comb"), values.write_port()
        m.d.comb += [
            read.addr.eq(self.read.slot),
            self.read.value.eq(read.data),
            write.en.eq(self.write.valid),
            write.addr.eq(self.write.slot),
            write.data.eq(self.write.value),
        ]
        self._read_through(m)
        return m

    def _read_through(self, m: Module) -> None:
        """Let a read see the write of the same cycle, if it is transparent."""
        if self.transparent:
            with m.If(self.write.valid & (self.write.slot == self.read.slot)):
                m.d.comb += self.read.value.eq(self.write.value)


class SlotReady(wiring.Component):
    """One bit per slot: the value that the slot's next token needs is ready.

    A token that is not the first of its invocation enters only while its slot is ready, and clears the bit
    as it enters; the token before it sets the bit from the point where the value is safe to use, unless it
    is the last. Tokens keep their order, so sets and clears of a slot alternate and one bit is enough.

    Rules
    -----
    1. After reset no slot is ready, or every one with ``ready``.
    2. ``test.ready`` is the bit of ``test.slot`` in the same cycle (combinational, from registers).
    3. ``set`` and ``clear`` are visible one cycle later. They may name different slots in one cycle.
    4. When both name the same slot, ``set`` wins: it comes from the same token that clears.
    """

    def __init__(self, slots: int, ready: bool = False) -> None:
        check_slots(slots)
        self.slots, self.ready = slots, ready
        super().__init__(
            {
                "set": In(SlotEvent(slots)),
                "clear": In(SlotEvent(slots)),
                "test": In(wiring.Signature({"slot": Out(range(slots)), "ready": In(1)})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a bit for each slot; in a cycle with both, setting wins over clearing."""
        m = Module()
        ready = Signal(self.slots, init=-1 % (1 << self.slots) if self.ready else 0)
        m.d.comb += self.test.ready.eq(ready.bit_select(self.test.slot, 1))
        with m.If(self.clear.valid):
            m.d.sync += ready.bit_select(self.clear.slot, 1).eq(0)
        with m.If(self.set.valid):  # the later assignment wins: rule 4
            m.d.sync += ready.bit_select(self.set.slot, 1).eq(1)
        return m

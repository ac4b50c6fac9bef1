"""The loop header: it starts the invocations of a pipelined loop and issues their tokens."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .credits import CreditCounter
from .exit_buffer import advance, check_entries
from .library import shared
from .slots import ReadyQueue, SlotEvent, SlotPool, check_slots
from .state import SlotRegister

__all__ = ["LoopHeader"]


@shared
class LoopHeader(wiring.Component):
    """Issues the tokens of up to ``slots`` running invocations, one a cycle.

    A request is sent only for an invocation that has at least one token. The pipeline answers every token
    exactly once: ``again`` when the slot's next token may be issued, ``done`` when the token was the last.
    The answer may come in the very cycle of the issue, derived from ``o`` without a register in between:
    the loop then issues every cycle, and the next invocation follows the last token without a bubble.

    Rules
    -----
    1. A request starts when a slot and an exit entry are free. Entries are reserved in circular order, 0, 1, ...,
       and returned by ``retire``, in the same order.
    2. A request that can start has priority over running slots. ``o.first`` marks its token, which
       carries the request's ``initial``; the tokens after it carry no meaningful ``initial``.
    3. Running slots issue in the order of their ``again``. A slot has at most one token that is not answered.
    4. Every token of an invocation carries the ``invariant`` of its request, its slot and its entry.
    5. An offer stands until it is accepted: neither ``o.valid`` nor what the payload means changes before.
    6. ``o.valid`` depends on registers and ``i.valid`` only. ``i.ready`` depends on registers and ``o.ready``.
    7. ``done`` frees the slot for a request that starts in the next cycle. ``again`` and ``done`` may come in
       one cycle, for different slots.
    8. While ``apart`` is high a request starts only when no slot is running: tokens then are issued in the order of the
       requests, as with one slot. ``apart`` changes only while nothing runs.

    9. With ``speculative`` the pipeline sends ``again`` before it knows whether the token is the last. ``done`` may
       then come for an invocation whose later tokens were issued already. With one slot it cancels an ``again`` that
       has not issued, or comes in the same cycle, and withdraws the offer made from it; no ``again`` of that
       invocation comes later. With several slots every token is answered by ``again``, those issued after the last one
       as well, and ``done`` comes in addition: it only marks the slot, which is free when it has its turn again and
       would issue. So no ``again`` of the earlier invocation is left when a request takes the slot.
    10. With ``once`` (one slot, one entry) a request is taken when its result is (``retire``), and offered unchanged
       until then: ``invariant`` is read from there, and the header keeps no copy. For loops that seldom start, as no
       request overtakes a result.

    Parameters
    ----------
    initial : shape of the values that only the first token of an invocation carries
    invariant : shape of the values that are the same for all its tokens
    slots : invocations that may run at once, at least 1
    entries : invocations that may be running, in flight or waiting for their turn at the exit, at least 1
    speculative : tokens are issued before the exit condition is known
    once : rule 10

    Ports
    -----
    i : stream of ``{initial, invariant}``
    o : stream of ``{slot, first, entry, initial, invariant}``
    again, done : :func:`~rtl_lib.slots.SlotEvent`
    retire : an exit entry was freed
    apart : invocations must not be interleaved
    issued, invocations : strobes: a token, a first token, was accepted in this cycle
    running : an invocation is issuing or waits to issue its next token
    starved : nothing to issue in this cycle
    full : a request waits although a slot is free, because no exit entry is
    """

    def __init__(
        self,
        initial: ShapeLike,
        invariant: ShapeLike,
        slots: int,
        entries: int,
        speculative: bool = False,
        once: bool = False,
    ) -> None:
        check_slots(slots)
        check_entries(entries)
        if once and (slots, entries) != (1, 1):
            raise ValueError(f"one request needs one slot and one entry, not {slots} and {entries}")
        self.slots, self.entries, self.speculative, self.once = slots, entries, speculative, once
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"initial": initial, "invariant": invariant}))),
                "o": Out(
                    stream.Signature(
                        data.StructLayout(
                            {
                                "slot": range(slots),
                                "first": 1,
                                "entry": range(entries),
                                "initial": initial,
                                "invariant": invariant,
                            }
                        )
                    )
                ),
                "again": In(SlotEvent(slots)),
                "done": In(SlotEvent(slots)),
                "retire": In(1),
                "apart": In(1),
                "issued": Out(1),
                "invocations": Out(1),
                "running": Out(1),
                "starved": Out(1),
                "full": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the pool of free slots, the queue of slots that may issue, and the credits for places in the exit
        buffer."""
        m = Module()
        m.submodules.pool = pool = SlotPool(self.slots)
        m.submodules.queue = queue = ReadyQueue(self.slots)
        m.submodules.exits = exits = CreditCounter(self.entries)
        token, start, ended = self.o.payload, Signal(), Signal()

        m.d.comb += [
            start.eq(pool.free & exits.available & ~self._held(m, queue) & ~(self.apart & pool.busy)),
            token.first.eq(self.i.valid & start),
            self.i.ready.eq(self.retire if self.once else self.o.ready & start),
            self.o.valid.eq(token.first | (queue.head.valid & ~ended)),
            token.slot.eq(Mux(token.first, pool.slot, queue.head.slot)),
            ended.eq(self._ended(m, queue)),
            token.initial.eq(self.i.payload.initial),
            self.issued.eq(self.o.valid & self.o.ready),
            self.invocations.eq(self.issued & token.first),
            self.running.eq(pool.busy | self.issued),
            self.starved.eq(~self.o.valid),
            self.full.eq(self.i.valid & pool.free & ~exits.available),
            pool.take.eq(self.invocations),
            pool.give.valid.eq(ended if self.marks else self.done.valid),
            pool.give.slot.eq(queue.head.slot if self.marks else self.done.slot),
            queue.push.valid.eq(self.again.valid),
            queue.push.slot.eq(self.again.slot),
            queue.pop.eq((self.issued & ~token.first) | ended),
            queue.cancel.eq(self.done.valid if self.speculative and not self.marks else 0),
            exits.take.eq(self.invocations),
            exits.give.eq(self.retire),
        ]
        self._keep_invariants(m)
        return m

    @property
    def marks(self) -> bool:
        """Whether ``done`` marks a slot that is freed at its next turn (rule 9)."""
        return self.speculative and self.slots > 1

    def _ended(self, m: Module, queue):
        """Whether the slot whose turn it is belongs to an invocation that has ended: it issues no more, and is free."""
        if not self.marks:
            return C(0)
        over = Signal(self.slots)
        ended = queue.head.valid & over.bit_select(queue.head.slot, 1)
        with m.If(ended):
            m.d.sync += over.bit_select(queue.head.slot, 1).eq(0)
        with m.If(self.done.valid):
            m.d.sync += over.bit_select(self.done.slot, 1).eq(1)
        return ended

    def _held(self, m: Module, queue):
        """High while the offer of the slot at the head of the queue has not been accepted (rule 5)."""
        if self.slots == 1:
            return C(0)  # a request and a running slot never compete
        held = Signal()
        m.d.sync += held.eq(self.o.valid & ~self.o.ready & ~self.o.payload.first)
        return held

    def _keep_invariants(self, m: Module):
        """Entry and invariant of each slot, written by the first token and read by the others."""
        token = self.o.payload
        if self.once:
            m.d.comb += token.invariant.eq(self.i.payload.invariant)
            return
        tail = Signal(range(self.entries))
        with m.If(self.invocations):
            m.d.sync += tail.eq(advance(tail, self.entries))
        layout = data.StructLayout({"entry": range(self.entries), "invariant": token.invariant.shape()})
        m.submodules.kept = kept = SlotRegister(layout, self.slots)
        fresh = kept.write.value
        m.d.comb += [
            fresh.entry.eq(tail),
            fresh.invariant.eq(self.i.payload.invariant),
            kept.write.valid.eq(self.invocations),
            kept.write.slot.eq(token.slot),
            kept.read.slot.eq(token.slot),
        ]
        used = Mux(token.first, kept.write.value, kept.read.value)
        m.d.comb += Cat(token.entry, token.invariant).eq(used)
        return m

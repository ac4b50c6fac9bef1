"""Fences: wait for stores that a pipeline has already issued."""

from collections.abc import Sequence
from typing import Any

from amaranth import *
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import Fence
from rtl_lib.stream import RoundRobin

__all__ = ["FenceSequencer", "FenceShare", "StoreView"]


class StoreView(wiring.Signature):
    """The signals of one store unit and the queue before it that a fence observes.

    queued : stores in the queue; taken : the unit took one from it in this cycle; fence : the unit's own fence
    """

    def __init__(self, queue_depth: int) -> None:
        super().__init__({"queued": In(range(queue_depth + 1)), "taken": In(1), "fence": Out(Fence())})


@shared
class FenceSequencer(wiring.Component):
    """Answers when all stores before a request are in memory: those in queues as well as those already accepted.

    A request reaches the part at least one cycle after it was made, so a store made before it, or in the same cycle, is
    in its queue by then or was accepted. Later stores may be waited for, too; that only costs time.

    Rules
    -----
    1. A request is answered when every store that was queued or accepted by a unit as the request was accepted is
       acknowledged.
    2. Requests are answered in order. ``pending`` of them may be accepted and not answered.
    3. Another request is accepted as soon as the one before it has been passed to the units; their answers may still be
       outstanding.
    4. ``flush`` is high in the cycle in which an answer is taken: data that loads hold may be older than the stores.
    5. Answers of the units are never refused.

    Parameters
    ----------
    queue_depths : entries of the queue in front of each store unit, one number a unit
    pending : requests that may wait for their answer, at least 1

    Ports
    -----
    i : stream of requests; o : stream of answers (both without payload)
    stores : array of :class:`StoreView`
    flush : see rule 4
    """

    def __init__(self, queue_depths: Sequence[int], pending: int = 16) -> None:
        if not queue_depths:
            raise ValueError("a fence needs at least one store unit to wait for")
        if not isinstance(pending, int) or pending < 1:
            raise ValueError(f"pending must be a positive integer, not {pending!r}")
        self.queue_depths, self.pending = tuple(queue_depths), pending
        super().__init__(
            {
                "i": In(stream.Signature(0)),
                "o": Out(stream.Signature(0)),
                "flush": Out(1),
                **{f"store{k}": Out(StoreView(depth)) for k, depth in enumerate(self.queue_depths)},
            }
        )

    @property
    def stores(self) -> list[Any]:
        """The views, in the order of ``queue_depths``."""
        return [getattr(self, f"store{k}") for k in range(len(self.queue_depths))]

    def elaborate(self, platform: object) -> Module:
        """Build, for each store unit, the request to it after the stores ahead in its queue, and the counter of its
        answers."""
        m = Module()
        accept, waiting = self.i.valid & self.i.ready, Signal(range(self.pending + 1))
        answered = self.o.valid & self.o.ready
        asked = [self._ask(m, view, depth, accept) for view, depth in zip(self.stores, self.queue_depths, strict=True)]
        there = [self._collect(m, view, answered) for view in self.stores]
        m.d.comb += [
            self.i.ready.eq(Cat(asked).all() & (waiting != self.pending)),
            self.o.valid.eq(Cat(there).all()),
            self.flush.eq(answered),
        ]
        m.d.sync += waiting.eq(waiting + accept - answered)
        return m

    def _ask(self, m: Module, view: Any, depth: int, accept: Value) -> Value:
        """Wait until the queued stores are accepted, then request the unit's fence; returns whether that is done."""
        left, asking = Signal(range(depth + 1)), Signal()
        request = view.fence.request
        m.d.comb += request.valid.eq(asking & (left == 0))
        with m.If(accept):
            m.d.sync += [left.eq(view.queued - view.taken), asking.eq(1)]
        with m.Elif(asking):
            m.d.sync += [left.eq(left - (view.taken & (left != 0))), asking.eq(~(request.valid & request.ready))]
        return ~asking

    def _collect(self, m: Module, view: Any, answered: Value) -> Value:
        """Count the unit's answers; returns whether there is one for the oldest request."""
        count = Signal(range(self.pending + 1))
        response = view.fence.response
        m.d.comb += response.ready.eq(1)
        m.d.sync += count.eq(count + response.valid - answered)
        return count != 0


@shared
class FenceShare(wiring.Component):
    """Lets several requesters use the fence of one store unit.

    Rules
    -----
    1. Requests are passed to the unit one after the other; each requester waits for at most one request of every other.
    2. Each requester gets the answers to its own requests, in order.
    3. At most ``pending`` requests are outstanding; a requester that does not take its answer delays the others'
       answers.

    Parameters
    ----------
    askers : number of requesters, at least 1
    pending : requests that may be outstanding, at least 1

    Ports
    -----
    askers : array of :class:`~rtl_lib.mem.ports.Fence`, from the unit's view; unit : the unit's fence, from a
        requester's view
    """

    def __init__(self, askers: int, pending: int = 16) -> None:
        self.pending = pending
        super().__init__({"askers": In(Fence()).array(askers), "unit": Out(Fence())})

    def elaborate(self, platform: object) -> Module:
        """Build a round-robin merge of the requests, and a FIFO of the requesters that wait for an answer."""
        m = Module()
        m.submodules.merge = merge = RoundRobin(0, len(self.askers))
        m.submodules.order = order = StreamFifo(range(len(self.askers)), self.pending)
        request, response = self.unit.request, self.unit.response
        for asker, i in zip(self.askers, merge.i, strict=True):
            connect(m, wiring.flipped(asker.request), i)
        m.d.comb += [
            request.valid.eq(merge.o.valid & order.i.ready),
            merge.o.ready.eq(request.ready & order.i.ready),
            order.i.valid.eq(merge.o.valid & request.ready),
            order.i.payload.eq(merge.o.payload.source),
        ]
        with m.Switch(order.o.payload):
            for k, asker in enumerate(self.askers):
                with m.Case(k):
                    m.d.comb += [
                        asker.response.valid.eq(response.valid & order.o.valid),
                        response.ready.eq(asker.response.ready & order.o.valid),
                    ]
        m.d.comb += order.o.ready.eq(response.valid & response.ready)
        return m

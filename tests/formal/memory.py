"""The memory's side of a load-store unit, in a bench: it accepts and answers at any time that the rules of the ports
allow."""

from amaranth import *
from amaranth.lib import data

__all__ = ["Queue", "bank_of_reads", "bank_of_writes"]


class Queue:
    """What waits, in order: ``head`` is there while not ``empty``. Written apart from the parts that are proved with
    it."""

    def __init__(self, bench, shape, places):
        m = bench.m
        width = Shape.cast(shape).width
        bits = [Signal(width, name=f"queue_{k}") for k in range(places)]
        count, self.push, self.pop, self.new = Signal(range(places + 1)), Signal(), Signal(), Signal(width)
        self.empty, self.full = count == 0, count == places
        self.head = data.View(shape, bits[0]) if isinstance(shape, data.Layout) else bits[0]
        m.d.sync += count.eq(count + self.push - self.pop)
        for k, place in enumerate(bits):
            following = bits[k + 1] if k + 1 < places else place
            m.d.sync += place.eq(Mux(self.push & (count - self.pop == k), self.new, Mux(self.pop, following, place)))


def _requests(bench, name, request, places):
    """Take requests of a port, whenever there is room and it likes; returns their queue."""
    queue = Queue(bench, request.payload.shape(), places)
    bench.m.d.comb += [
        request.ready.eq(~queue.full & bench.free(1, f"{name}_takes")),
        queue.push.eq(request.valid & request.ready),
        queue.new.eq(request.payload.as_value()),
    ]
    bench.stands(request, f"{name}: a request")
    bench.check(~request.valid | (request.payload.words != 0), f"{name}: no burst is empty")
    return queue


def bank_of_reads(bench, name, port, word_bytes, word_at, error_at=lambda addr: C(0), places=2):
    """Memory behind a read port, where ``word_at`` and ``error_at`` say what it answers for a byte address."""
    request, response = port.request, port.response
    queue, step = _requests(bench, name, request, places), Signal.like(request.payload.words)
    here, last = Signal.like(request.payload.addr), Signal()
    bench.m.d.comb += [
        here.eq(queue.head.addr + step * word_bytes),
        last.eq(step + 1 == queue.head.words),
        response.valid.eq(~queue.empty & bench.free(1, f"{name}_answers")),
        response.payload.data.eq(word_at(here)),
        response.payload.error.eq(error_at(here)),
        response.payload.last.eq(last),
        queue.pop.eq(response.valid & last),
    ]
    bench.m.d.sync += step.eq(Mux(response.valid, Mux(last, 0, step + 1), step))
    bench.check(~response.valid | response.ready, f"{name}: an answer is never refused")


def bank_of_writes(bench, name, port, word_bytes, error_at=lambda addr: C(0), places=2):
    """Memory behind a write port.

    Returns the address and ``{data, strobe}`` of the word that it takes in a cycle, whether it takes one, and whether
    it acknowledges a burst.
    """
    request, word, ack = port.request, port.data, port.ack
    queue, step = _requests(bench, name, request, places), Signal.like(request.payload.words)
    here, last, takes = Signal.like(request.payload.addr), Signal(), Signal()
    written = Queue(bench, 1, 2 * places)
    bench.m.d.comb += [
        here.eq(queue.head.addr + step * word_bytes),
        last.eq(step + 1 == queue.head.words),
        word.ready.eq(~queue.empty & ~written.full & bench.free(1, f"{name}_writes")),
        takes.eq(word.valid & word.ready),
        queue.pop.eq(takes & last),
        written.push.eq(queue.pop),
        written.new.eq(error_at(queue.head.addr)),
        ack.valid.eq(~written.empty & bench.free(1, f"{name}_acknowledges")),
        ack.payload.error.eq(written.head),
        written.pop.eq(ack.valid),
    ]
    bench.m.d.sync += step.eq(Mux(takes, Mux(last, 0, step + 1), step))
    bench.stands(word, f"{name}: a word")
    bench.check(~ack.valid | ack.ready, f"{name}: an acknowledgement is never refused")
    return here, word.payload, takes, ack.valid

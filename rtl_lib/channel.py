"""Channels between kernels: the storage between two ends, and the ends themselves, which serve a kernel's calls."""

from collections.abc import Sequence

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from .contract import Timing
from .exit_buffer import advance
from .library import shared
from .mem.fifo import SHALLOW, StreamFifo
from .stream import SkidBuffer

__all__ = ["ChannelBuffer", "ChannelReader", "ChannelWriter", "Storage", "storage_for"]


class Storage:
    """Storage of a channel: its ``kind`` in words, and the resulting ``depth``."""

    def __init__(self, kind: str, depth: int) -> None:
        self.kind, self.depth = kind, depth

    def __repr__(self) -> str:
        return f"Storage({self.kind!r}, {self.depth})"


def storage_for(depth: int) -> Storage:
    """The storage of a channel that holds at least ``depth`` values.

    Two registers are the least that passes a value every cycle and cuts every combinational path, so 1 becomes 2.
    """
    if not isinstance(depth, int) or depth < 0:
        raise ValueError(f"depth must be 0 or a positive integer, not {depth!r}")
    if depth == 0:
        return Storage("wires", 0)
    if depth <= 2:
        return Storage("registers", 2)
    return Storage("LUT RAM" if depth <= SHALLOW else "block RAM", depth)


@shared
class ChannelBuffer(wiring.Component):
    """A channel without its ends: a FIFO.

    Rules
    -----
    1. Every value that was accepted at ``i`` is offered at ``o``, once, in order.
    2. It accepts :func:`storage_for` ``(depth).depth`` values before it refuses one, whatever happens at ``o``.
    3. With a depth of 0 it is wires: a value is accepted in the cycle in which ``o`` accepts it.
    4. ``level`` counts what is inside, in every cycle.

    Parameters
    ----------
    shape : shape of a value
    depth : values it must hold, 0 or more

    Ports
    -----
    i, o : streams of ``shape``
    level : values inside
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        self.storage = storage_for(depth)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "level": Out(range(self.storage.depth + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the storage of :func:`storage_for`: wires for depth 0, a skid buffer, or a FIFO."""
        m = Module()
        if self.storage.depth == 0:
            connect(m, flipped(self.i), flipped(self.o))
            return m
        part: SkidBuffer | StreamFifo
        if self.storage.kind == "registers":
            m.submodules.part = part = SkidBuffer(self.i.payload.shape())
            m.d.comb += self.level.eq(part.o.valid + ~part.i.ready)
        else:
            m.submodules.part = part = StreamFifo(self.i.payload.shape(), self.storage.depth, counted=True)
            m.d.comb += self.level.eq(part.level)
        connect(m, flipped(self.i), part.i)
        connect(m, part.o, flipped(self.o))
        return m


class _Calls(wiring.Component):
    """Common part of both ends: several calls, served in rotation.

    Call 0 of a kernel's token is served first, then call 1, ... then call 0 of the next token. Each call answers into a
    small queue of its own, so that only a full queue delays a call.
    """

    def _take_turns(self, m: Module) -> tuple[Signal, Signal]:
        """The number of the call to serve next, and a signal to be driven high when it was served."""
        count = len(self.i)
        turn, made = Signal(range(count)), Signal()
        if count > 1:
            with m.If(made):
                m.d.sync += turn.eq(advance(turn, count))
        return turn, made

    def _answer_queue(self, m: Module, k: int, shape: ShapeLike) -> StreamFifo:
        queue = m.submodules[f"answers{k}"] = StreamFifo(shape, 2)
        connect(m, queue.o, flipped(self.o[k]))
        return queue


@shared
class ChannelReader(_Calls):
    """The reading end of a channel in one kernel.

    Rules
    -----
    1. Requests of call 0, 1, ... are served in rotation, each answered once, :attr:`timing` after it was served.
    2. A request that is ``on`` takes the next value of the channel. A blocking one waits for it; a non-blocking one is
       served at once, and answers ``there`` = 0 with the value 0 if the channel is empty.
    3. A request that is not ``on`` takes nothing and answers ``there`` = 0 with the value 0.
    4. Every value taken from the channel is answered.

    Parameters
    ----------
    shape : shape of a value
    blocking : for each call whether it blocks

    Ports
    -----
    i : array of streams of ``on``; o : array of streams of ``{value, there}``
    channel : stream of ``shape``
    """

    timing = Timing(latency=1)

    def __init__(self, shape: ShapeLike, blocking: Sequence[bool]) -> None:
        self.blocking = tuple(blocking)
        self.answer = data.StructLayout({"value": Shape.cast(shape), "there": 1})
        super().__init__(
            {
                "i": In(stream.Signature(1)).array(len(self.blocking)),
                "o": Out(stream.Signature(self.answer)).array(len(self.blocking)),
                "channel": In(stream.Signature(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the rotation over the calls, and a queue of answers for each call."""
        m = Module()
        turn, made = self._take_turns(m)
        queues = [self._answer_queue(m, k, self.answer) for k in range(len(self.i))]
        for request, queue in zip(self.i, queues, strict=True):
            answer, there = queue.i.payload, self.channel.valid & request.payload
            m.d.comb += [answer.there.eq(there), answer.value.eq(Mux(there, Value.cast(self.channel.payload), 0))]
        with m.Switch(turn):
            for k, (request, queue) in enumerate(zip(self.i, queues, strict=True)):
                can = (~request.payload | self.channel.valid) if self.blocking[k] else C(1)
                with m.Case(k):
                    m.d.comb += [
                        queue.i.valid.eq(request.valid & can),
                        made.eq(queue.i.valid & queue.i.ready),
                        request.ready.eq(made),
                        self.channel.ready.eq(request.valid & request.payload & queue.i.ready),
                    ]
        return m


@shared
class ChannelWriter(_Calls):
    """The writing end of a channel in one kernel.

    Rules
    -----
    1. Requests of call 0, 1, ... are served in rotation; those of calls that answer are answered once, :attr:`timing`
       later.
    2. A request that is ``on`` offers its value to the channel. A blocking one waits until it is accepted; a
       non-blocking one is served at once, and answers whether it was accepted.
    3. A request that is not ``on`` offers nothing, and answers 0.

    Parameters
    ----------
    shape : shape of a value
    blocking : for each call whether it blocks
    answers : for each call whether it returns an answer

    Ports
    -----
    i : array of streams of ``{on, value}``; o : array of streams of one bit: whether the channel accepted the value
    channel : stream of ``shape``; an offer of a non-blocking call stands for one cycle only
    """

    timing = Timing(latency=1)

    def __init__(self, shape: ShapeLike, blocking: Sequence[bool], answers: Sequence[bool]) -> None:
        self.blocking, self.answers = tuple(blocking), tuple(answers)
        request = data.StructLayout({"on": 1, "value": Shape.cast(shape)})
        super().__init__(
            {
                "i": In(stream.Signature(request)).array(len(self.blocking)),
                "o": Out(stream.Signature(1)).array(len(self.blocking)),
                "channel": Out(stream.Signature(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the rotation over the calls, and a queue of answers for each call that answers."""
        m = Module()
        turn, made = self._take_turns(m)
        queues = {k: self._answer_queue(m, k, 1) for k, answers in enumerate(self.answers) if answers}
        for queue in queues.values():
            m.d.comb += queue.i.payload.eq(self.channel.valid & self.channel.ready)
        with m.Switch(turn):
            for k, request in enumerate(self.i):
                on, room = request.payload.on, queues[k].i.ready if k in queues else C(1)
                can = (~on | self.channel.ready) if self.blocking[k] else C(1)
                with m.Case(k):
                    m.d.comb += [
                        self.channel.valid.eq(request.valid & on & room),
                        Value.cast(self.channel.payload).eq(request.payload.value),
                        made.eq(request.valid & room & can),
                        request.ready.eq(made),
                    ]
                    if k in queues:
                        m.d.comb += queues[k].i.valid.eq(made)
        return m

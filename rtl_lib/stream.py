"""Small stream parts: join, fork, round-robin merge, skid buffer."""

from collections.abc import Mapping

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .contract import Timing

__all__ = ["Fork", "Join", "RoundRobin", "SkidBuffer"]


def _check_count(name: str, count: int) -> None:
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"{name} must be a positive integer, not {count!r}")


class Join(wiring.Component):
    """Takes one payload from each of several streams and outputs them together.

    Rules
    -----
    1. The n-th payload of ``o`` holds the n-th payload of every input.
    2. ``o.valid`` is high while all inputs are valid. No input is taken before all can be, so no input
       may wait for another one to be taken.
    3. No registers: ``ready`` of an input depends on ``o.ready`` and on every ``valid``.

    Parameters
    ----------
    shapes : name -> shape of each input; ``i.<name>`` is its stream, ``o.payload.<name>`` its part
    """

    timing = Timing(latency=0)

    def __init__(self, shapes: Mapping[str, ShapeLike]) -> None:
        if not shapes:
            raise ValueError("a join needs at least one input")
        self.names = tuple(shapes)
        super().__init__(
            {
                "i": In(wiring.Signature({name: Out(stream.Signature(shape)) for name, shape in shapes.items()})),
                "o": Out(stream.Signature(data.StructLayout(shapes))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build combinational logic only: valid if all inputs are, ready if the output is taken."""
        m = Module()
        inputs = [getattr(self.i, name) for name in self.names]
        m.d.comb += self.o.valid.eq(Cat(i.valid for i in inputs).all())
        for name, i in zip(self.names, inputs, strict=True):
            m.d.comb += [self.o.payload[name].eq(i.payload), i.ready.eq(self.o.valid & self.o.ready)]
        return m


class Fork(wiring.Component):
    """Copies every payload to each of several streams, to each as soon as it is ready.

    Rules
    -----
    1. Every output gets every payload once, in order.
    2. An output that is ready does not wait for the others: it takes its copy at once.
    3. The input is taken in the cycle in which the last output takes its copy.

    Parameters
    ----------
    shape : the payload's shape
    outputs : number of outputs, at least 1
    """

    timing = Timing(latency=0)

    def __init__(self, shape: ShapeLike, outputs: int) -> None:
        _check_count("outputs", outputs)
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)).array(outputs)})

    def elaborate(self, platform: object) -> Module:
        """Build a bit for each output that has its copy of a payload which others still wait for."""
        m = Module()
        done = Signal(len(self.o))  # outputs that have taken their copy while others have not
        served = Signal(len(self.o))
        m.d.comb += self.i.ready.eq(served.all())
        for k, o in enumerate(self.o):
            m.d.comb += [
                o.payload.eq(self.i.payload),
                o.valid.eq(self.i.valid & ~done[k]),
                served[k].eq(done[k] | o.ready),
            ]
        with m.If(self.i.valid):
            m.d.sync += done.eq(Mux(self.i.ready, 0, served))
        return m


class RoundRobin(wiring.Component):
    """Merges several streams into one; each waits for at most one payload of every other.

    Rules
    -----
    1. The payloads of one input keep their order; ``o.payload.source`` says which input they came from.
    2. The next payload is that of the first valid input after the one served last.
    3. An offer stands until it is accepted, whatever arrives meanwhile.
    4. A payload leaves in every cycle in which ``o`` is ready and some input valid.

    Parameters
    ----------
    shape : the payload's shape
    inputs : number of inputs, at least 1

    Ports
    -----
    i : array of streams
    o : stream of ``{source, value}``
    """

    timing = Timing(latency=0)

    def __init__(self, shape: ShapeLike, inputs: int) -> None:
        _check_count("inputs", inputs)
        super().__init__(
            {
                "i": In(stream.Signature(shape)).array(inputs),
                "o": Out(stream.Signature(data.StructLayout({"source": range(inputs), "value": shape}))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the choice of the next input, and a register that repeats it until the offer is accepted."""
        m = Module()
        count = len(self.i)
        standing = Signal()  # last cycle's offer was not accepted
        last, choice = Signal(range(count), init=count - 1), Signal(range(count))
        valids = Cat(i.valid for i in self.i)
        m.d.comb += choice.eq(self._pick(m, valids, last))
        with m.If(standing):
            m.d.comb += choice.eq(last)
        with m.Switch(choice):
            for k, i in enumerate(self.i):
                with m.Case(k):
                    m.d.comb += [self.o.valid.eq(i.valid), self.o.payload.value.eq(i.payload), i.ready.eq(self.o.ready)]
        m.d.comb += self.o.payload.source.eq(choice)
        with m.If(self.o.valid):
            m.d.sync += last.eq(choice)
        m.d.sync += standing.eq(self.o.valid & ~self.o.ready)
        return m

    def _pick(self, m: Module, valids: Value, last: Value) -> Value:
        """The first valid input after ``last``, cyclically."""
        picked = Signal(range(len(self.i)))
        with m.Switch(last):
            for k in range(len(self.i)):
                with m.Case(k):
                    for step in reversed(range(len(self.i))):
                        candidate = (k + 1 + step) % len(self.i)
                        with m.If(valids[candidate]):
                            m.d.comb += picked.eq(candidate)
        return picked


class SkidBuffer(wiring.Component):
    """Cuts every combinational path between its sides, at full rate.

    Rules
    -----
    1. Payloads leave in order of arrival, each once, :attr:`timing` after they came at the earliest.
    2. ``o.valid``, ``o.payload`` and ``i.ready`` come from registers.
    3. A payload moves in every cycle while the source offers and the consumer takes.
    """

    timing = Timing(latency=1)

    def __init__(self, shape: ShapeLike) -> None:
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        """Build the register of the output, and a spare one for the payload that arrives while the output is
        blocked."""
        m = Module()
        spare, waiting = Signal.like(self.i.payload), Signal()  # the payload that came while the output was blocked
        m.d.comb += self.i.ready.eq(~waiting)
        with m.If(self.o.ready | ~self.o.valid):
            m.d.sync += [
                self.o.valid.eq(waiting | self.i.valid),
                self.o.payload.eq(Mux(waiting, spare, self.i.payload)),
                waiting.eq(0),
            ]
        with m.Elif(self.i.valid & self.i.ready):
            m.d.sync += [spare.eq(self.i.payload), waiting.eq(1)]
        return m

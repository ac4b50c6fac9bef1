"""The header of a barrier loop, in which the work-items of a group circulate together."""

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .credits import CreditCounter
from .exit_buffer import advance
from .library import shared
from .mem.fifo import StreamFifo

__all__ = ["RingHeader"]


@shared
class RingHeader(wiring.Component):
    """Issues groups of tokens: new ones, and those that return for their next iteration.

    Rules
    -----
    1. Tokens of a group are issued consecutively, never interleaved with another group; ``last`` says of the token on
       offer whether it ends its group. Groups arrive, and return, in the same manner.
    2. A group that has returned has priority over a new one.
    3. A new group starts while fewer than ``groups`` are inside: between their first token's issue and ``left``.
    4. ``back`` is never refused: the loop has room for all tokens inside. Returned tokens are offered again in order.
    5. An offer stands until it is accepted.
    6. With ``overtaking`` groups may leave in any order: ``o`` and ``back`` carry the group's position at the exit
       (:class:`~rtl_lib.exit_buffer.GroupExits`), ``place``, which new groups are assigned in circular order.

    Parameters
    ----------
    initial, invariant : shapes of what a token carries: the values that change with iterations, and those that do not
    groups : groups inside at most; items : tokens of a group at most
    overtaking : rule 6; else groups leave in order of arrival, and the streams carry no ``place``

    Ports
    -----
    i : stream of ``{initial, invariant}``; o : of the same and ``place``
    back : a token that begins another iteration: ``valid``, and ``value`` as the streams'
    last : see rule 1, depends on ``o.payload`` alone
    left : the last token of a group has left the loop for good
    issued, invocations : strobes: a token, or a new token, was accepted in this cycle
    running : a group is inside; starved : nothing to issue in this cycle
    """

    def __init__(
        self, initial: ShapeLike, invariant: ShapeLike, groups: int, items: int, overtaking: bool = False
    ) -> None:
        if groups < 1 or items < 1:
            raise ValueError(f"a ring has room for at least one group of one, not {groups!r} of {items!r}")
        self.groups, self.items, self.overtaking = groups, items, overtaking
        given = {"initial": initial, "invariant": invariant}
        token = data.StructLayout(given | ({"place": range(groups)} if overtaking else {}))
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(given))),
                "o": Out(stream.Signature(token)),
                "back": In(wiring.Signature({"valid": Out(1), "value": Out(token)})),
                "last": In(1),
                "left": In(1),
                "issued": Out(1),
                "invocations": Out(1),
                "running": Out(1),
                "starved": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the queue of returned tokens, the credits for groups inside, and the choice between a new group and a
        returned one."""
        m = Module()
        m.submodules.inside = inside = CreditCounter(self.groups)
        m.submodules.returned = returned = StreamFifo(self.o.payload.shape(), self.groups * self.items)
        chosen, kept, again = Signal(), Signal(), Signal()  # a group in issue or on offer; a returned one; now
        begins = Signal(init=1)  # the token on offer is its group's first
        count = Signal(range(self.groups + 1))
        tail = Signal(range(self.groups) if self.overtaking else 0)  # exit position of the group that enters
        new = self.i.valid & (chosen | inside.available)
        m.d.comb += [
            returned.i.valid.eq(self.back.valid),
            returned.i.payload.eq(self.back.value),
            again.eq(Mux(chosen, kept, returned.o.valid)),
            self.o.valid.eq(Mux(again, returned.o.valid, new)),
            self.o.payload.eq(Mux(again, returned.o.payload, Cat(self.i.payload.as_value(), tail))),
            returned.o.ready.eq(self.o.ready & again),
            self.i.ready.eq(self.o.ready & ~again & (chosen | inside.available)),
            self.issued.eq(self.o.valid & self.o.ready),
            self.invocations.eq(self.issued & ~again),
            inside.take.eq(self.invocations & begins),
            inside.give.eq(self.left),
            self.running.eq((count != 0) | self.issued),
            self.starved.eq(~self.o.valid),
        ]
        m.d.sync += count.eq(count + inside.take - self.left)
        with m.If(self.o.valid):
            m.d.sync += [chosen.eq(~(self.issued & self.last)), kept.eq(again)]
        with m.If(self.issued):
            m.d.sync += begins.eq(self.last)
        if self.overtaking:
            with m.If(self.invocations & self.last):
                m.d.sync += tail.eq(advance(tail, self.groups))
        return m

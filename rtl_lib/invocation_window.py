"""A window over tokens of successive invocations: a token enters once the earlier ones that it depends on have left."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared

__all__ = ["InvocationWindow"]


@shared
class InvocationWindow(wiring.Component):
    """Admits token j of an invocation when no token of an earlier one with a number up to j + ``ahead`` is inside.

    Tokens enter and leave in order, so the tokens inside are the ones that entered last. With n tokens in the previous
    invocation, they may be the j of this invocation, or the n - 1 - ``ahead`` before this one, whichever are more.

    Rules
    -----
    1. ``available`` is high when a token may enter, which is the first one of an invocation if ``first`` is high. It
       depends on registers and ``first`` only, and is high while no token is inside.
    2. ``take`` lets a token enter. It must not be high while ``available`` is low.
    3. ``give`` lets the oldest token inside leave, seen in ``available`` one cycle later.
    4. No more than ``limit`` tokens are inside.

    Parameters
    ----------
    limit : most tokens inside, at least 1
    ahead : by how many a token's number may be less than that of a token of an earlier invocation on which it depends
    """

    def __init__(self, limit: int, ahead: int) -> None:
        if not isinstance(limit, int) or limit < 1:
            raise ValueError(f"limit must be a positive integer, not {limit!r}")
        if not isinstance(ahead, int) or ahead < 0:
            raise ValueError(f"ahead must be an integer from 0, not {ahead!r}")
        self.limit, self.ahead = limit, ahead
        super().__init__({"take": In(1), "first": In(1), "give": In(1), "available": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build counters of the tokens inside, and of those of this and the previous invocation that entered."""
        m = Module()
        limit, most = self.limit, self.limit + self.ahead + 1
        inside, entered = Signal(range(limit + 1)), Signal(range(most + 1))
        earlier = Signal(range(limit + 1))  # tokens before this one that may be inside, by the previous invocation
        behind = Signal(range(limit + 1))  # the same for the first token of the next invocation
        allowed = Signal(range(most + 1))
        m.d.comb += [
            behind.eq(Mux(entered > self.ahead, entered - (self.ahead + 1), 0)),
            allowed.eq(Mux(self.first, behind, Mux(earlier > entered, earlier, entered))),
            self.available.eq((inside <= allowed) & (inside != limit)),
        ]
        m.d.sync += inside.eq(inside + self.take - self.give)
        with m.If(self.take):
            m.d.sync += entered.eq(Mux(self.first, 1, Mux(entered == most, most, entered + 1)))
            with m.If(self.first):
                m.d.sync += earlier.eq(behind)
        return m

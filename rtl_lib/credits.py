"""Credits: room in a FIFO, counted where its producer decides to send."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.library import shared
from rtl_lib.steps import count, reached

__all__ = ["CreditCounter"]


@shared
class CreditCounter(wiring.Component):
    """Counts how many entries may still be sent.

    A producer that cannot stop (a stall-free pipeline) takes a credit when a token enters, and the credit
    is returned when the token's word leaves the FIFO, or as soon as the token turns out not to push at all.

    Rules
    -----
    1. After reset there are ``limit`` credits.
    2. ``available`` is high while there is at least one credit. It depends on registers only.
    3. ``take`` removes one credit. It must not be high while ``available`` is low.
    4. ``idle`` is high while all credits are available: everything sent has arrived. It depends on registers only.
    5. Each high bit of ``give`` returns one credit, seen in ``available`` one cycle later. Never more
       credits are returned than were taken.
    6. ``plenty`` is high while there are at least ``several`` credits. It depends on registers only.

    Parameters
    ----------
    limit : credits after reset, at least 1
    gives : how many credits can return in one cycle, at least 1
    several : threshold of ``plenty``, up to ``limit``; with 1 there is no such port
    """

    def __init__(self, limit: int, gives: int = 1, several: int = 1) -> None:
        if not isinstance(limit, int) or limit < 1:
            raise ValueError(f"limit must be a positive integer, not {limit!r}")
        if not isinstance(gives, int) or gives < 1:
            raise ValueError(f"gives must be a positive integer, not {gives!r}")
        if not isinstance(several, int) or not 1 <= several <= limit:
            raise ValueError(f"several must be an integer from 1 to {limit}, not {several!r}")
        self.limit, self.several = limit, several
        super().__init__(
            {
                "take": In(1),
                "give": In(gives),
                "available": Out(1),
                "idle": Out(1),
                **({"plenty": Out(1)} if several > 1 else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build a counter that starts at ``limit``; a credit given back is available a cycle later."""
        m = Module()
        credits = Signal(range(self.limit + 1), init=self.limit)
        m.d.comb += [self.available.eq(credits != 0), self.idle.eq(reached(credits, self.limit))]
        if self.several > 1:
            m.d.comb += self.plenty.eq(credits >= self.several)
        if len(self.give) == 1:
            count(m, credits, self.give, self.take)
        else:
            m.d.sync += credits.eq(credits - self.take + sum(self.give[1:], start=self.give[0]))
        return m

"""Counters: the only source of measured figures."""

from collections.abc import Sequence

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .contract import Timing
from .library import shared

__all__ = ["CycleAccount", "EventCounter", "LateAnswers", "LaterEvents", "LeaveInterval", "PeakCounter", "account"]


def _check_bits(bits: object) -> None:
    if not isinstance(bits, int) or bits < 1:
        raise ValueError(f"bits must be a positive integer, not {bits!r}")


@shared
class EventCounter(wiring.Component):
    """Counts the cycles in which ``event`` is high.

    Rules
    -----
    1. ``value`` is the number of events since reset or the last ``clear``, :attr:`timing` later.
    2. ``clear`` wins: an event in the same cycle is not counted.
    3. The count saturates at its greatest value: a full counter reads as full.

    Parameters
    ----------
    bits : width of the count
    """

    timing = Timing(latency=1)

    def __init__(self, bits: int) -> None:
        _check_bits(bits)
        super().__init__({"event": In(1), "clear": In(1), "value": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        """Build a register that is incremented until all of its bits are 1."""
        m = Module()
        with m.If(self.clear):
            m.d.sync += self.value.eq(0)
        with m.Elif(self.event & ~self.value.all()):
            m.d.sync += self.value.eq(self.value + 1)
        return m


@shared
class PeakCounter(wiring.Component):
    """Holds the maximum of a number.

    Rules
    -----
    1. ``value`` is the greatest ``number`` since reset or the last ``clear``, the cycle of the clear included,
       :attr:`timing` later.

    Parameters
    ----------
    bits : width of the number
    """

    timing = Timing(latency=1)

    def __init__(self, bits: int) -> None:
        _check_bits(bits)
        super().__init__({"number": In(bits), "clear": In(1), "value": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        """Build a register and a comparator, which replaces the register's value by a greater number."""
        m = Module()
        with m.If(self.clear | (self.number > self.value)):
            m.d.sync += self.value.eq(self.number)
        return m


@shared
class LaterEvents(wiring.Component):
    """Repeats events of several kinds, each a fixed number of cycles later, however closely they follow one another.

    Rules
    -----
    1. ``o`` is ``i`` of the cycle ``cycles`` before, or 0 if that was before the last reset.

    Parameters
    ----------
    count : kinds of events, at least 1
    cycles : at least 0
    """

    SHORT = 16  #: cycles up to which registers are as small as a table that is written round and round

    def __init__(self, count: int, cycles: int) -> None:
        _check_bits(count)
        if not isinstance(cycles, int) or cycles < 0:
            raise ValueError(f"cycles must be an integer that is not negative, not {cycles!r}")
        self.count, self.cycles = count, cycles
        super().__init__({"i": In(count), "o": Out(count)})

    def elaborate(self, platform: object) -> Module:
        """Build a chain of registers, or a table of as many words as there are cycles."""
        m = Module()
        if self.cycles > self.SHORT:
            self._table(m)
            return m
        event = self.i
        for k in range(self.cycles):
            later = Signal(self.count, name=f"later_{k}")
            m.d.sync += later.eq(event)
            event = later
        m.d.comb += self.o.eq(event)
        return m

    def _table(self, m: Module) -> None:
        """Each word is read, then written, once a round; a reset does not empty the table, so the words of the first
        round are not valid."""
        place, valid = Signal(range(self.cycles)), Signal()
        memory = m.submodules.events = Memory(shape=self.count, depth=self.cycles, init=[])
        read, write = memory.read_port(domain="comb"), memory.write_port()
        m.d.comb += [read.addr.eq(place), write.addr.eq(place), write.en.eq(1), write.data.eq(self.i)]
        m.d.comb += self.o.eq(Mux(valid, read.data, 0))
        m.d.sync += place.eq(place + 1)
        with m.If(place == self.cycles - 1):
            m.d.sync += [place.eq(0), valid.eq(1)]


@shared
class LateAnswers(wiring.Component):
    """Detects when the oldest response of a unit that answers in order takes longer than the unit's latency.

    Rules
    -----
    1. ``late`` is high in cycle t if more requests were ``due`` than were ``answered`` before t: the oldest one in
       flight is older than the latency. A request is due ``latency`` - 1 cycles after it was made.
    2. Responses that wait because the requester has ``refused`` one are not late, nor are those queued after them: as
       many as were overdue then may be overdue, until fewer are.

    Parameters
    ----------
    latency : cycles from a request to its response without contention, at least 1
    most : requests in flight at most
    """

    timing = Timing(latency=1)

    def __init__(self, latency: int, most: int) -> None:
        _check_bits(latency)
        _check_bits(most)
        self.latency, self.most = latency, most
        super().__init__({"due": In(1), "answered": In(1), "refused": In(1), "late": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build a counter of the requests that are overdue, and one of those of them that may not be."""
        m = Module()
        overdue = Signal(range(-self.latency, self.most + 1))  # below 0: answered ahead of the latency
        beyond = Signal(range(-1, self.most + 1))  # overdue ones, if any, without those that may be
        # changes of the two in this cycle, of two bits each so that one adder adds or subtracts them
        change, late_change = Signal(signed(2)), Signal(signed(2))
        counts = Signal()  # whether the change is one of overdue requests, not of those within the latency
        m.d.comb += [
            change.eq(Cat(self.due ^ self.answered, self.answered & ~self.due)),
            counts.eq((overdue >= 0) & ~(self.answered & (overdue == 0))),
            late_change.eq(Mux(counts, change, 0)),
            self.late.eq(beyond > 0),
        ]
        m.d.sync += [overdue.eq(overdue + change), beyond.eq(Mux(self.refused | (beyond < 0), 0, beyond) + late_change)]
        return m


@shared
class LeaveInterval(wiring.Component):
    """Measures the cycles between the first and the last token that leave a pipeline, for each interval in which it is
    not empty.

    Rules
    -----
    1. An interval begins (``starts``) with a token that is ``issued`` into the empty pipeline, and ends when the last
       one has ``left``.
    2. ``busy`` is high in the cycle of ``starts``, and in the cycles after the first token has left, up to that in
       which the last one leaves. So (busy - starts) / (issued - starts) is the mean interval at which tokens leave.
    3. ``clear`` empties it.

    Parameters
    ----------
    bits : width of the number of tokens inside
    """

    def __init__(self, bits: int = 16) -> None:
        _check_bits(bits)
        self.bits = bits
        super().__init__({"issued": In(1), "left": In(1), "clear": In(1), "starts": Out(1), "busy": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build a counter of the tokens inside, and a flag that is set from the first to the last token that leaves."""
        m = Module()
        inside, later, flowing = Signal(self.bits), Signal(self.bits), Signal()
        m.d.comb += [
            later.eq(inside + self.issued - self.left),
            self.starts.eq(self.issued & (inside == 0)),
            self.busy.eq(self.starts | flowing),
        ]
        m.d.sync += [
            inside.eq(Mux(self.clear, 0, later)),
            flowing.eq((flowing | self.left) & (later != 0) & ~self.clear),
        ]
        return m


def account(causes: Sequence[bool], running: bool) -> int | None:
    """Golden function: the account that one cycle is attributed to, or None while nothing runs.

    ``causes`` is a list of truth values, the most important first; a cycle with no cause goes to the account
    after the last of them.
    """
    if not running:
        return None
    return next((k for k, cause in enumerate(causes) if cause), len(causes))


@shared
class CycleAccount(wiring.Component):
    """Attributes every running cycle to exactly one account.

    Rules
    -----
    1. For a cycle with ``running`` high, the bit of the lowest cause that is high is high in ``accounts``; without a
       cause it is bit ``causes``, the one after them. For other cycles no bit is high. So counts of the bits sum to the
       running cycles exactly.
    2. ``accounts`` are those of the cycle :attr:`timing` before: causes may end long paths, so they are registered.
    3. ``clear`` drops the cycle it comes in.

    Parameters
    ----------
    causes : number of causes, at least 1
    """

    timing = Timing(latency=1)

    def __init__(self, causes: int) -> None:
        if not isinstance(causes, int) or causes < 1:
            raise ValueError(f"causes must be a positive integer, not {causes!r}")
        super().__init__({"causes": In(causes), "running": In(1), "clear": In(1), "accounts": Out(causes + 1)})

    def elaborate(self, platform: object) -> Module:
        """Build a priority selection of one account, registered."""
        m = Module()
        candidates = Cat(self.causes, 1)
        lowest = candidates & (~candidates + 1)
        m.d.sync += self.accounts.eq(Mux(self.running & ~self.clear, lowest, 0))
        return m

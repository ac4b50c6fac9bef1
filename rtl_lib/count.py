"""Counters: the only source of measured figures."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .contract import Timing
from .library import shared

__all__ = ["CauseHistogram", "EventCounter", "LateAnswers", "LeaveInterval", "PeakCounter", "account"]


def _check_bits(bits):
    if not isinstance(bits, int) or bits < 1:
        raise ValueError(f"bits must be a positive integer, not {bits!r}")


@shared
class EventCounter(wiring.Component):
    """Counts the cycles in which ``event`` is high.

    Rules
    -----
    1. ``value`` is the number of events since reset or the last ``clear``, :attr:`timing` later.
    2. ``clear`` wins: an event in the same cycle is not counted.
    3. The count stays at its greatest value rather than begin again: a full counter reads as full.

    Parameters
    ----------
    bits : width of the count
    """

    timing = Timing(latency=1)

    def __init__(self, bits):
        _check_bits(bits)
        super().__init__({"event": In(1), "clear": In(1), "value": Out(bits)})

    def elaborate(self, platform):
        m = Module()
        with m.If(self.clear):
            m.d.sync += self.value.eq(0)
        with m.Elif(self.event & ~self.value.all()):
            m.d.sync += self.value.eq(self.value + 1)
        return m


@shared
class PeakCounter(wiring.Component):
    """Keeps the greatest number seen.

    Rules
    -----
    1. ``value`` is the greatest ``number`` since reset or the last ``clear``, that of the clear's cycle included,
       :attr:`timing` later.

    Parameters
    ----------
    bits : width of the number
    """

    timing = Timing(latency=1)

    def __init__(self, bits):
        _check_bits(bits)
        super().__init__({"number": In(bits), "clear": In(1), "value": Out(bits)})

    def elaborate(self, platform):
        m = Module()
        with m.If(self.clear | (self.number > self.value)):
            m.d.sync += self.value.eq(self.number)
        return m


@shared
class LateAnswers(wiring.Component):
    """Tells when the oldest answer of a unit that answers in order is later than the unit's latency.

    Rules
    -----
    1. ``late`` is high in cycle t if more requests were ``asked`` in the cycles up to t - ``latency`` than were
       ``answered`` before t: the oldest of those under way is older than the latency.
    2. Answers that wait because the asker has ``refused`` one are not late, nor those that stand behind them: as many
       as were overdue then may be overdue, until there are fewer.
    3. ``clear`` forgets all requests.

    Parameters
    ----------
    latency : cycles from a request to its answer without contention, at least 1
    most : requests under way at most
    """

    timing = Timing(latency=1)

    def __init__(self, latency, most):
        _check_bits(latency)
        _check_bits(most)
        self.latency, self.most = latency, most
        super().__init__({"asked": In(1), "answered": In(1), "refused": In(1), "clear": In(1), "late": Out(1)})

    def elaborate(self, platform):
        m = Module()
        under_way = Signal(self.latency)
        overdue = Signal(range(-self.most, self.most + 1))  # below 0: answered before their time
        allowed, waiting = Signal(range(self.most + 1)), Signal(range(self.most + 1))
        m.d.comb += [waiting.eq(Mux(overdue > 0, overdue, 0)), self.late.eq(waiting > allowed)]
        with m.If(self.clear):
            m.d.sync += allowed.eq(0)
        with m.Elif(self.refused | (waiting < allowed)):
            m.d.sync += allowed.eq(waiting)
        m.d.sync += [
            under_way.eq(Mux(self.clear, 0, Cat(self.asked, under_way)[: self.latency])),
            overdue.eq(Mux(self.clear, 0, overdue + Cat(self.asked, under_way)[self.latency - 1] - self.answered)),
        ]
        return m


@shared
class LeaveInterval(wiring.Component):
    """Finds the cycles between the first and the last token that leave a pipeline, of each stretch in which it is not
    empty.

    Rules
    -----
    1. A stretch begins (``starts``) with a token that is ``issued`` into the empty pipeline, and ends when the last one
       has ``left``.
    2. ``busy`` is high in the cycle of ``starts``, and in those behind the first token's leaving up to the last one's.
       So (busy - starts) / (issued - starts) is the mean interval at which tokens leave.
    3. ``clear`` empties it.

    Parameters
    ----------
    bits : width of the number of tokens inside
    """

    def __init__(self, bits=32):
        _check_bits(bits)
        self.bits = bits
        super().__init__({"issued": In(1), "left": In(1), "clear": In(1), "starts": Out(1), "busy": Out(1)})

    def elaborate(self, platform):
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


def account(causes, running):
    """Golden function: the account that one cycle goes to, or None while nothing runs.

    ``causes`` is a list of truth values, the most important first; a cycle without any goes to the account
    after the last of them.
    """
    if not running:
        return None
    return next((k for k, cause in enumerate(causes) if cause), len(causes))


@shared
class CauseHistogram(wiring.Component):
    """Puts every running cycle into exactly one account.

    Rules
    -----
    1. In a cycle with ``running`` high, the account of the lowest cause that is high grows by one; without a
       cause it is account ``causes``, the one after them.
    2. In other cycles no account changes. So the accounts sum to the running cycles exactly.
    3. ``values`` show a cycle :attr:`timing` later: causes may end long paths, so they are registered first.
    4. ``clear`` sets all accounts to 0 and drops the cycle it comes in and the one before.

    Parameters
    ----------
    causes : number of causes, at least 1
    bits : width of each account; it must hold the longest run, since an account that wraps breaks rule 2
    """

    timing = Timing(latency=2)

    def __init__(self, causes, bits=48):
        if not isinstance(causes, int) or causes < 1:
            raise ValueError(f"causes must be a positive integer, not {causes!r}")
        _check_bits(bits)
        super().__init__(
            {
                "causes": In(causes),
                "running": In(1),
                "clear": In(1),
                "values": Out(data.ArrayLayout(unsigned(bits), causes + 1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        candidates = Cat(self.causes, 1)
        chosen = Signal(len(candidates))  # one-hot, or nothing while nothing runs
        lowest = candidates & (~candidates + 1)
        m.d.sync += chosen.eq(Mux(self.running & ~self.clear, lowest, 0))
        # counters of their own, as Amaranth looks at every bit of a signal for each statement that sets a part of it
        counts = [Signal(self.values.shape().elem_shape, name=f"count{k}") for k in range(len(candidates))]
        m.d.comb += Value.cast(self.values).eq(Cat(*counts))
        for count, hit in zip(counts, chosen, strict=True):
            with m.If(self.clear):
                m.d.sync += count.eq(0)
            with m.Elif(hit):
                m.d.sync += count.eq(count + 1)
        return m

"""Many exact counters of events, whose totals share one adder and lie in look-up tables."""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.library import shared

__all__ = ["MOST", "EventCounters", "residue_bits"]

#: Most counters of one memory of totals; a round over one more would need longer residues.
MOST = 63
#: Cycles between two visits of a counter at least: its total is written in the second cycle after it was read.
SHORTEST_ROUND = 3
#: Residues of which one is selected in a cycle.
TOGETHER = 8


def residue_bits(counters: int) -> int:
    """Bits of the residues of that many counters which share a memory: the cycles of a round do not overflow them."""
    return max(SHORTEST_ROUND, counters).bit_length()


@shared
class EventCounters(wiring.Component):
    """Counts for each bit of ``events`` the cycles in which it is high; shows one total at a time.

    A residue, a short register that wraps, counts the events of each bit. A round visits the residues one after the
    other, one each cycle. The total in memory ends in the residue of the last visit: if the residue is less than that,
    it has wrapped once, and the upper bits of the total are incremented. It cannot wrap more often, since a round has
    fewer cycles than a residue has values. Events, which may end long paths of the kernel, are registered; the
    selection of a residue has two cycles, and the comparison and the sum have one each, so that counters do not lower
    the clock of the kernel that they count.

    Rules
    -----
    1. While ``here`` is high, ``total`` is the number of events of the bit that ``slot`` was in the cycle before, since
       reset or the last ``clear``, up to and without the cycle :data:`LATENCY` before; it wraps at 2 ** ``bits``.
    2. ``clear`` wins: an event in the same cycle is not counted.
    3. While ``slot`` holds, ``here`` is high once in each round: within ``round`` cycles, however often totals
       are cleared.
    4. For a ``slot`` that no counter has, ``here`` stays low.

    Parameters
    ----------
    counters : number of counters, at least 1
    bits : width of a total, greater than that of a residue

    Ports
    -----
    events : a bit for each counter; clear : all totals become 0
    slot : whose total is asked for; here, total : the answer
    """

    LATENCY = 4  #: cycles from the last event that a total includes to the total

    def __init__(self, counters: int, bits: int) -> None:
        if not isinstance(counters, int) or counters < 1:
            raise ValueError(f"counters must be a positive integer, not {counters!r}")
        self.counters, self.bits = counters, bits
        self.memories = -(-counters // MOST)
        self.inside = -(-counters // self.memories)  # of each memory but the last, which may have fewer
        self.round = max(SHORTEST_ROUND, self.inside)
        if bits <= residue_bits(self.inside):
            raise ValueError(f"bits must be more than {residue_bits(self.inside)}, not {bits!r}")
        super().__init__(
            {
                "events": In(counters),
                "clear": In(1),
                "slot": In(range(max(2, counters))),
                "here": Out(1),
                "total": Out(bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the round, and residues and totals of up to :data:`MOST` counters each."""
        m = Module()
        width = range(self.round)
        # of the round, in this cycle and in those before
        place, selected, visited = (Signal(width, init=-back % self.round) for back in range(3))
        m.d.sync += [place.eq(Mux(place == self.round - 1, 0, place + 1)), selected.eq(place), visited.eq(selected)]
        heard, clear = Signal.like(self.events), Signal()
        m.d.sync += [heard.eq(self.events), clear.eq(self.clear)]
        # no total in memory is valid up to that place
        first, until = Signal(init=1), Signal(width, init=self.round - 1)
        with m.If(clear):
            m.d.sync += [first.eq(1), until.eq(place)]
        with m.Elif(place == until):
            m.d.sync += first.eq(0)
        stages = _Stages(clear, place, selected, visited, first)
        answers: list[tuple[Value, Value]] = []
        for n, low in enumerate(range(0, self.counters, self.inside)):
            events, here = heard[low : low + self.inside], Signal(name=f"here{n}")
            number = visited + low if low else visited
            m.d.sync += here.eq((self.slot == number) & (visited < len(events)))
            answers.append((here, self._totals(m, n, events, stages)))
        m.d.comb += [
            self.here.eq(Cat(here for here, _ in answers).any()),
            self.total.eq(answers[0][1] if len(answers) == 1 else _one_of(answers)),
        ]
        return m

    def _totals(self, m: Module, n: int, events: Value, stages: "_Stages") -> Value:
        """The total of the counter whose place was that of the round three cycles before, which becomes the one in
        memory."""
        bits = residue_bits(self.inside)
        residues = [Signal(bits, name=f"residue{n}_{k}") for k in range(len(events))]
        for residue, event in zip(residues, events, strict=True):
            with m.If(stages.clear):
                m.d.sync += residue.eq(0)
            with m.Elif(event):
                m.d.sync += residue.eq(residue + 1)
        memory = m.submodules[f"totals{n}"] = Memory(shape=self.bits, depth=self.round, init=[])
        read, write = memory.read_port(domain="comb"), memory.write_port()
        before, residue = Signal(self.bits, name=f"before{n}"), Signal(bits, name=f"residue{n}")
        m.d.sync += [residue.eq(_select(m, n, residues, stages.place, stages.selected)), before.eq(read.data)]
        invalid = Signal(name=f"invalid{n}")  # the total in memory of the selected place
        m.d.sync += invalid.eq(stages.first)
        with m.If(invalid):
            m.d.sync += before.eq(0)
        high, low = Signal(self.bits - bits, name=f"high{n}"), Signal(bits, name=f"low{n}")
        wrapped, written = Signal(name=f"wrapped{n}"), Signal.like(stages.visited, name=f"written{n}")
        m.d.sync += [wrapped.eq(residue < before[:bits]), high.eq(before[bits:]), low.eq(residue)]
        total = Cat(low, (high + wrapped)[: self.bits - bits])
        m.d.sync += written.eq(stages.visited)
        m.d.comb += [read.addr.eq(stages.selected), write.addr.eq(written), write.en.eq(1), write.data.eq(total)]
        return total


@dataclass(frozen=True)
class _Stages:
    """What all totals have in common: the delayed ``clear``; the ``place`` of the round whose residue is selected, and
    those of one and two cycles before; ``first``: the total in memory of ``place`` is not valid."""

    clear: Signal
    place: Signal
    selected: Signal
    visited: Signal
    first: Signal


def _select(m: Module, n: int, residues: list[Signal], place: Signal, selected: Signal) -> Value:
    """The residue of the place that was ``place`` in the cycle before and is ``selected`` now: registers hold one of
    each :data:`TOGETHER` residues."""
    bits = exact_log2(TOGETHER)
    chosen = []
    for k, low in enumerate(range(0, len(residues), TOGETHER)):
        group = residues[low : low + TOGETHER]
        chosen.append(Signal.like(group[0], name=f"chosen{n}_{k}"))
        m.d.sync += chosen[-1].eq(Array(group)[place[:bits]])
    return Value.cast(Array(chosen)[selected[bits:]]) if len(chosen) > 1 else chosen[0]


def _one_of(answers: list[tuple[Value, Value]]) -> Value:
    """The number of the one answer that is there, or 0."""
    found: Value = C(0)
    for here, total in answers:
        found |= Mux(here, total, 0)
    return found

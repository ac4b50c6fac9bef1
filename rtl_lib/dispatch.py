"""Dispatches the work-groups of a launch to free compute units."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .contract import Timing
from .library import shared
from .mem.fifo import StreamFifo

__all__ = ["NUMBER", "GroupDispatcher", "golden"]

NUMBER = 32  #: bits of sizes, ids and counts


def golden(count: int, sizes: list[tuple[int, int, int]]) -> list[list[tuple[int, int]]]:
    """For each of ``count`` groups in order its (start, id) in every dimension; ``sizes`` has (offset, work-items of a
    group, number of groups) of each. The first dimension counts fastest."""
    found = []
    for number in range(count):
        group = []
        for offset, size, groups in sizes:
            number, place = divmod(number, groups)
            group.append((offset + place * size, place))
        found.append(group)
    return found


@shared
class GroupDispatcher(wiring.Component):
    """Counts through the groups of a launch and gives each to one unit.

    Rules
    -----
    1. After ``start`` every one of ``count`` groups is given once, in the order of :func:`golden`; which unit gets it
       is unspecified. The sizes hold from ``start`` until ``empty``, and are 1 or more, as is ``count``; ``start``
       comes while ``empty`` is high.
    2. A unit has at most ``ahead`` groups of which not all work-items have entered: ``entered`` returns one of these.
       So a unit finds its next group waiting while the last one still enters, and takes none that another unit could
       begin.
    3. The unit with the fewest such groups has priority; of equal ones the first.
    4. ``turn`` counts the groups that the unit received before in this launch, modulo 2**32.
    5. ``empty`` is high while no group is left to give and every group has been taken. It is low from the cycle after
       ``start`` on.
    6. One group is given every cycle at most (:attr:`timing`).

    Parameters
    ----------
    dims : how many dimensions are counted; units : units, at least 1; ahead : see rule 2

    Ports
    -----
    start, count, empty : see above
    sizes : of each dimension ``{offset, size, groups}``
    units : streams of ``{start, id, turn}``, with an array entry for each dimension in the first two
    entered : a bit for each unit: all work-items of one of its groups have entered
    """

    timing = Timing(latency=2)

    def __init__(self, dims: int, units: int, ahead: int = 2) -> None:
        if dims not in range(4) or units < 1 or ahead < 1:
            raise ValueError(f"{dims!r} dimensions, {units!r} units, {ahead!r} groups ahead cannot be")
        self.dims, self.count_of_units, self.ahead = dims, units, ahead
        self.group = data.StructLayout(
            {"start": data.ArrayLayout(NUMBER, dims), "id": data.ArrayLayout(NUMBER, dims), "turn": NUMBER}
        )
        super().__init__(
            {
                "start": In(1),
                "count": In(NUMBER),
                "sizes": In(
                    data.ArrayLayout(data.StructLayout({"offset": NUMBER, "size": NUMBER, "groups": NUMBER}), dims)
                ),
                "units": Out(stream.Signature(self.group)).array(units),
                "entered": In(units),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the counters of the group number in three dimensions, and the choice of a unit that is free."""
        m = Module()
        left, give = Signal(NUMBER), Signal()
        offered = Signal()
        starts, ids = self._wheels(m, give)
        gives, waiting = self._choose(m, offered)
        m.d.comb += [give.eq(gives.any()), self.empty.eq(~offered & ~waiting)]
        with m.If(self.start):
            m.d.sync += [left.eq(self.count), offered.eq(1)]
        with m.Elif(give):
            m.d.sync += [left.eq(left - 1), offered.eq(left != 1)]
        for k in range(self.count_of_units):
            payload = self._queues[k].i.payload
            m.d.comb += [self._queues[k].i.valid.eq(gives[k]), payload.turn.eq(self._turn(m, gives[k]))]
            m.d.comb += [payload.start[d].eq(starts[d]) for d in range(self.dims)]
            m.d.comb += [payload.id[d].eq(ids[d]) for d in range(self.dims)]
            wiring.connect(m, self._queues[k].o, wiring.flipped(self.units[k]))
        return m

    def _wheels(self, m: Module, give):
        """Start and id of the group on offer in each dimension: an odometer. Whether a wheel is at its last position is
        computed one step ahead, so that no cycle contains both a comparison and the carry through all wheels."""
        starts, ids = ([Signal(NUMBER, name=f"{name}_{d}") for d in range(self.dims)] for name in ("start", "id"))
        moves = give
        for d in range(self.dims):
            size, left, last = self.sizes[d], Signal(NUMBER, name=f"left_{d}"), Signal(name=f"last_{d}")
            with m.If(self.start | (moves & last)):
                m.d.sync += [starts[d].eq(size.offset), ids[d].eq(0), left.eq(size.groups), last.eq(size.groups == 1)]
            with m.Elif(moves):
                m.d.sync += [
                    starts[d].eq(starts[d] + size.size),
                    ids[d].eq(ids[d] + 1),
                    left.eq(left - 1),
                    last.eq(left == 2),
                ]
            moves = moves & last
        return starts, ids

    def _choose(self, m: Module, offered):
        """(a bit for the unit that gets the group on offer in this cycle, whether a queue holds any)."""
        self._queues = [StreamFifo(self.group, self.ahead) for _ in range(self.count_of_units)]
        gives, chosen = Signal(self.count_of_units), Const(0, 1)
        running = [Signal(range(self.ahead + 1), name=f"running_{k}") for k in range(self.count_of_units)]
        for number in range(self.ahead):
            for k, mine in enumerate(running):
                fits = offered & (mine == number)
                with m.If(fits & ~chosen):
                    m.d.comb += gives[k].eq(1)
                chosen = chosen | fits
        for k, mine in enumerate(running):
            m.d.sync += mine.eq(mine + gives[k] - self.entered[k])
            m.submodules[f"queue{k}"] = self._queues[k]
        return gives, Cat(~queue.empty for queue in self._queues).any()

    def _turn(self, m: Module, given):
        turn = Signal(NUMBER)
        with m.If(self.start):
            m.d.sync += turn.eq(0)
        with m.Elif(given):
            m.d.sync += turn.eq(turn + 1)
        return turn

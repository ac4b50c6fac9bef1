"""The model's parameters of a launch, from the plan of its kernel and its workload.

A region of the schedule (a loop's body without the loops inside) is one basic block, as conditions are predicates here:
no plan has branches. The loop over work-items is #WI.
"""

from ...ir import Attr, Op
from ...ir.launch import lanes_of, units_of
from ...planning.schedule import RegionPlan
from ...target.board import Board
from ..estimate import Planned
from ..runs import RunCounts
from ..workload import AccessRuns, Histogram, Place, Workload
from .critical_path import critical_path
from .parameters import Block, Launch, Loop, MemoryInstruction, Node, Platform, Sequence

__all__ = ["launch_of", "platform_of"]


def platform_of(board: Board) -> Platform:
    """The board's figures. Words of the memory are its widest transactions; the shell is that of the paper's board."""
    memory, clock = board.memory, board.clock
    bandwidth = memory.peak_bytes_per_ns(clock.period_ns) * 1e9
    return Platform(len(memory.banks), memory.word_bytes, clock.kernel_mhz * 1e6, bandwidth)


def launch_of(planned: Planned, workload: Workload) -> Launch:
    """The hierarchy of the kernel's blocks with the launch's trip counts. Loops that the launch never enters are left
    out."""
    return _Reader(planned, workload).launch()


class _Reader:
    def __init__(self, planned: Planned, workload: Workload) -> None:
        self.planned, self.workload, self.main = planned, workload, planned.main
        self.lanes = lanes_of(planned.function)
        self.counts = RunCounts(
            planned.function, planned.plan, planned.unrolled, planned.merged, workload, planned.main
        )

    def launch(self) -> Launch:
        top = self.planned.plan.top
        items = [op for op in self._loops(top) if op.attrs.get(Attr.PARALLEL)]
        regions = [self.planned.plan.loops[op] for op in items] or [top]
        children = tuple(node for region in regions for node in self._nodes(region))
        return Launch(self.workload.work_items, self.lanes, units_of(self.planned.function), Sequence(children))

    def _loops(self, region: RegionPlan) -> list[Op]:
        return [op for op in region.place if op in self.planned.plan.loops]

    def _nodes(self, region: RegionPlan) -> tuple[Node, ...]:
        """The block of a region, and the loops in it."""
        entered = [op for op in self._loops(region) if self.counts.loop(op).iterations]
        loops = [
            Loop(self.counts.loop(op).iterations / self.counts.loop(op).invocations, self._nodes(inner))
            for op, inner in ((op, self.planned.plan.loops[op]) for op in entered)
        ]
        return self._block(region), *loops

    def _block(self, region: RegionPlan) -> Block:
        outside = self.planned.memory.outside
        name = "" if region.loop is None or region.loop.span is None else f"line {region.loop.span.line}"
        return Block(name, self._instructions(region), critical_path(region, outside), self._interval(region))

    def _interval(self, region: RegionPlan) -> float:
        """Cycles between tokens of the header: the II, shared by the invocations that are interleaved."""
        together = self.counts.loop(region.loop).entered if region.loop else 1.0
        return max(1.0, region.ii / max(1.0, min(region.slots, together)))

    def _instructions(self, region: RegionPlan) -> tuple[MemoryInstruction, ...]:
        """The accesses of the source that the region's accesses come from, each once."""
        ops = [op for op in region.place if op in self.planned.memory.outside]
        runs = dict.fromkeys(one for op in ops for one in self.counts.accesses(op))
        reached = [(one, loops) for one in runs if (loops := self._loops_of(one, region)) is not None]
        return tuple(self._instruction(one, loops, region) for one, loops in reached)

    def _loops_of(self, runs: AccessRuns, region: RegionPlan) -> list[Place] | None:
        """The loops of the source around an access, innermost first, up to that of the region; None if the region's is
        not among them."""
        loop = region.loop
        own = None if loop is None or loop.attrs.get(Attr.PARALLEL) else self.counts.innermost(loop)
        found: list[Place] = []
        place = runs.loop
        while place is not None:
            found.append(place)
            if own is not None and place.is_at(own, self.main):
                return found
            place = next((one.around for one in self.workload.loops if one.place == place), None)
        return found if own is None else None

    def _instruction(self, runs: AccessRuns, loops: list[Place], region: RegionPlan) -> MemoryInstruction:
        """Copies with the same address are one access; the others are adjacent if each is next to the one before."""
        scale, adjacent, extent = 1, True, runs.bytes
        levels: list[tuple[Place | None, int]] = [(place, self._copies(place)) for place in loops]
        near: Place | None = loops[-1] if loops and region.loop is not None else None
        items, beside = self.workload.work_items > 1, False
        for place, copies in [*levels, (None, self.lanes)]:
            stride = _usual(self._strides(runs, place))
            if place == (None if items else near):
                beside = stride == extent
            if copies > 1 and stride != 0:
                adjacent = adjacent and stride == extent
                extent *= copies if stride == extent else 1
                scale *= copies
        return MemoryInstruction(runs.bytes, adjacent, beside, scale)

    def _copies(self, place: Place) -> int:
        return next((one.copies for one in self.planned.unrolled if one.span and place.is_at(one.span, self.main)), 1)

    def _strides(self, runs: AccessRuns, place: Place | None) -> Histogram:
        return next((one.bytes for one in runs.strides if one.loop == place), Histogram())


def _usual(strides: Histogram) -> int | None:
    """The stride of more than half of the steps, if there is one."""
    single = (one.low for one in strides.ranges if one.low == one.high)
    return next((value for value in single if strides.share(value, value) > 0.5), None)

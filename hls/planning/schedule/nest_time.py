"""The time of a kernel's loops by schedule alone, with assumed trip counts: to compare two schedules of one program."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...ir import Attr, Op, Region, Value, memory_name
from .interleaving import together
from .plan import KernelPlan, RegionPlan

__all__ = ["LOADED_TRIPS", "UNKNOWN_TRIPS", "Joined", "assumed_trips", "nest_time", "nest_times", "operations_before"]

#: trips of a loop where the program does not tell
UNKNOWN_TRIPS = 64
#: trips of a loop whose bounds each invocation loads, as those of a row of a sparse matrix or of the edges of a node
LOADED_TRIPS = 4


@dataclass(frozen=True)
class Joined:
    """How a loop that was a nest spends its time: ``rows`` of ``trips`` iterations, the first of which takes ``first``
    cycles, and each other one ``again``."""

    rows: int
    trips: int
    first: int
    again: int

    @property
    def cycles(self) -> int:
        """Of all rows."""
        return self.rows * (self.first + (self.trips - 1) * self.again)


def nest_time(
    plan: KernelPlan,
    compared: Collection[str] = (),
    joined: Mapping[Op, Joined] | None = None,
    paces: Mapping[Op, float] | None = None,
) -> float:
    """Cycles of the outermost loops, one after the other. An iteration of a loop takes its II, or the time of the loops
    inside if that is longer; where it waits for these to end ("crossing"), it takes both. Fill and drain of loops that
    nothing waits for are left out, and memory is never waited for.

    ``compared`` are memories whose addresses are compared at run time: where a loop stores to each element of a row and
    loads one element of it again and again, the load meets that store once in each invocation, and waits for it.
    ``joined`` says of loops that were nests how their iterations follow each other, ``paces`` of others how many cycles
    an iteration takes in the mean, which is more than the II where addresses meet.
    """
    return sum(nest_times(plan, compared, joined, paces).values())


def nest_times(
    plan: KernelPlan,
    compared: Collection[str] = (),
    joined: Mapping[Op, Joined] | None = None,
    paces: Mapping[Op, float] | None = None,
) -> dict[Op, float]:
    """Cycles of each outermost loop, as of :func:`nest_time`."""
    turns = together(plan)
    around = {inner for loop in plan.loops for inner in loop.regions[0].ops if inner in plan.loops}
    outermost = [loop for loop in plan.loops if loop not in around]

    def time(loop: Op, outer: Region | None) -> float:
        if joined and loop in joined:
            return joined[loop].cycles
        body = loop.regions[0]
        inside = sum(time(one, body) for one in body.ops if one in plan.loops)
        alone = plan.loops[loop].ii / turns[loop]
        alone = max(alone, paces.get(loop, alone)) if paces else alone
        return _time(loop, outer, plan.loops[loop], inside, alone, compared)

    return {loop: time(loop, None) for loop in outermost}


def _time(
    loop: Op, outer: Region | None, region: RegionPlan, inside: float, alone: float, compared: Collection[str]
) -> float:
    """Cycles of one invocation of the loop, in each iteration of which the loops ``inside`` take so many, and the loop
    itself ``alone``; ``outer`` is the body of the loop around it."""
    each = inside + alone if inside and region.cause == "crossing" else max(inside, alone)
    return assumed_trips(loop, outer) * each + _meeting(region, loop.regions[0], compared)


def _meeting(region: RegionPlan, body: Region, compared: Collection[str]) -> int:
    """Cycles for which a load at an address that stays waits for a store, to the same memory, at one that moves: from
    the load's place in the schedule until behind the store's. 0 if the body has no such pair."""
    moves = [op for op in body.ops if op.opcode == "store" and _varies(op, body)]
    stays = [op for op in body.ops if op.opcode == "load" and not _varies(op, body)]
    pairs = [(load, store) for load in stays for store in moves if memory_name(load) == memory_name(store)]
    return max(
        (_start(store, region) - _start(load, region) + 1 for load, store in pairs if memory_name(load) in compared),
        default=0,
    )


def _start(op: Op, region: RegionPlan) -> int:
    """The stage of an operation, counted through all levels."""
    point = region.place[op]
    return sum(level.depth for level in region.levels[: point.level]) + point.stage


def _varies(access: Op, body: Region) -> bool:
    """Whether the address of an access depends on what the loop carries."""
    address = access.operands[0]
    return address.owner is body or any(
        value.owner is body for op in operations_before([address], body) for value in op.operands
    )


def assumed_trips(loop: Op, outer: Region | None) -> int:
    """The constant trip count, or what is assumed of it; of a nest that became one loop, of both loops together."""
    if count := loop.attrs.get(Attr.TRIP_COUNT):
        return int(count)
    (body,) = loop.regions
    deciding = [*operations_before([body.terminator.operands[0]], body)]
    outside = [loop.operands[0], *(value for op in deciding for value in op.operands)]
    if outer is not None:
        deciding += operations_before(outside, outer)
    trips = LOADED_TRIPS if outer is not None and any(op.opcode == "load" for op in deciding) else UNKNOWN_TRIPS
    return trips * (1 + LOADED_TRIPS) if Attr.FLATTENED in loop.attrs else trips


def operations_before(values: list[Value], region: Region) -> Iterator[Op]:
    """The operations of the region that the values are computed from."""
    here = set(region.ops)
    left, seen = list(values), set[Op]()
    while left:
        op = left.pop().op
        if op is not None and op in here and op not in seen:
            seen.add(op)
            yield op
            if op.opcode not in ("load", "loop"):
                left += op.operands

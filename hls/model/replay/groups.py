"""Work-groups as numbers: barriers, barrier loops, and ports that levels reserve (``sim/model/engine/plan.h``)."""

from collections.abc import Callable, Sequence

from rtl_lib.port_reservation import reserved_ahead

from ...emulate.trace import LAST_COLUMN
from ...ir import Attr
from ...ir.launch import units_of
from ...planning.schedule import KernelPlan, LevelPlan, RegionPlan
from ..estimate import Planned

__all__ = ["MOST_INSIDE", "booking_numbers", "group_numbers", "ring_numbers", "whole_numbers"]


#: more groups than are ever in the top level of a compute unit at once
MOST_INSIDE = 4096


def group_numbers(planned: Planned, regions: Sequence[RegionPlan], outcomes: int) -> list[int]:
    """Of a kernel of several compute units the region that an invocation of counts the work-items of a group, 0 if
    groups have no such loop, the cycles until its arguments are there, and the number of its units among the
    ``outcomes`` of the record; of others -1."""
    if units_of(planned.function) == 1:
        return [-1, 0, -1]
    loops = [k for k, one in enumerate(regions) if one.loop and one.loop.attrs.get(Attr.FORM) == "ndrange"]
    return [loops[0] if loops else 0, planned.plan.static_depth, outcomes]


def ring_numbers(plan: RegionPlan, latency: Callable[[int, bool], int]) -> list[int]:
    """Of a barrier loop: groups inside at most, whether they overtake each other, cycles through the queue of tokens
    that return, and through that of results; ``latency`` tells those of a queue by its depth and whether it holds
    bits."""
    ring = plan.ring
    if ring is None:
        return [0, 0, 1, 1]
    returned = latency(ring.groups * ring.items, bool(plan.region.args or plan.invariants) or ring.overtaking)
    return [ring.groups, int(ring.overtaking), returned, latency(ring.items if ring.overtaking else plan.entries, True)]


def whole_numbers(level: LevelPlan) -> list[int]:
    """How many tokens a group has for which a level waits until all have room, 0 if it does not; and the column that
    says which token is the last of a group."""
    return [0 if level.whole is None else level.whole.items, LAST_COLUMN]


def booking_numbers(plan: KernelPlan, regions: Sequence[RegionPlan]) -> list[list[int]]:
    """The reservations of ports that several levels share: for each level its region and number, the cycles by which it
    reserves ahead, the spacing of its tokens, and its uses of ports."""
    found = []
    for booking in plan.bookings:
        aheads, length = reserved_ahead(booking.users)
        numbers = [len(booking.levels)]
        for (region, level), user, ahead in zip(booking.levels, booking.users, aheads, strict=True):
            numbers += [regions.index(region), level, ahead, user.spacing, len(user.uses)]
            numbers += [number for use in user.uses for number in use]
        found.append([length, *numbers])
    return found

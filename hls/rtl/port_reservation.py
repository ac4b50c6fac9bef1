"""Port reservations of levels that share write ports, made before a token enters."""

from typing import TYPE_CHECKING

from amaranth import *

from rtl_lib.port_reservation import PortBookings

from ..ir import Attr, Op
from ..planning.schedule import RegionPlan

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["booked_for", "build_bookings"]


def build_bookings(context: "KernelContext") -> dict[tuple[RegionPlan, int], tuple[Signal, Value, Op]]:
    """By (region's plan, level's number): a signal to be driven high while a token is ready to enter, a signal that
    says that it may enter, and a store of the level that the reservation is for."""
    found = {}
    for number, booking in enumerate(context.plan.bookings):
        part = context.m.submodules[f"bookings{number}"] = PortBookings(booking.users)
        wants = [Signal(name=f"want{k}") for k in range(len(booking.users))]
        context.m.d.comb += part.want.eq(Cat(wants))
        for k, (region, level) in enumerate(booking.levels):
            found[region, level] = wants[k], part.may[k], _booked(region, level)[0]
    return found


def booked_for(context: "KernelContext") -> dict[Op, Op]:
    """By store that reserves cycles of a port, the store of its level that the level's reservation is for."""
    levels = [place for booking in context.plan.bookings for place in booking.levels]
    return {op: _booked(region, level)[0] for region, level in levels for op in _booked(region, level)}


def _booked(region: RegionPlan, level: int) -> list[Op]:
    """The stores of a level that reserve cycles of ports."""
    return [op for op, point in region.place.items() if point.level == level and Attr.BOOKED in op.attrs]

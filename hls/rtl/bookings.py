"""Levels whose tokens use the same write ports: what they ask before a token enters."""

from amaranth import *

from rtl_lib.bookings import PortBookings

__all__ = ["build_bookings"]


def build_bookings(context) -> dict:
    """By (region's plan, level's number): a signal to be driven high while a token wants to enter, and one that says that it may."""
    found = {}
    for number, booking in enumerate(context.plan.bookings):
        part = context.m.submodules[f"bookings{number}"] = PortBookings(booking.users)
        wants = [Signal(name=f"want{k}") for k in range(len(booking.users))]
        context.m.d.comb += part.want.eq(Cat(wants))
        found |= {level: (want, part.may[k]) for k, (level, want) in enumerate(zip(booking.levels, wants, strict=True))}
    return found

"""Delays, arrivals, slack and recurrence bounds: the only source for passes, scheduler and reports."""

from .arrivals import Arrivals, Steps, carried_arrivals
from .model import EPSILON_NS, LONG_BEFORE, START, AccessTiming, Arrival, TimingModel, lookup_is_long
from .recurrence import Recurrence, longest_recurrence, recurrences_of

__all__ = [
    "EPSILON_NS",
    "LONG_BEFORE",
    "START",
    "AccessTiming",
    "Arrival",
    "Arrivals",
    "Recurrence",
    "Steps",
    "TimingModel",
    "carried_arrivals",
    "longest_recurrence",
    "lookup_is_long",
    "recurrences_of",
]

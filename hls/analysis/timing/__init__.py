"""What a delay, an arrival, a slack and a recurrence bound is: the one place that passes, scheduler and report ask."""

from .arrivals import Arrivals, carried_arrivals
from .model import EPSILON_NS, LONG_BEFORE, START, AccessTiming, Arrival, TimingModel
from .recurrence import Recurrence, recurrences_of

__all__ = [
    "EPSILON_NS",
    "LONG_BEFORE",
    "START",
    "AccessTiming",
    "Arrival",
    "Arrivals",
    "Recurrence",
    "TimingModel",
    "carried_arrivals",
    "recurrences_of",
]

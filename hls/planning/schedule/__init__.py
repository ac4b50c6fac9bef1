"""Scheduling: assigns level, stage and queue to every operation of a flat kernel."""

from .channels import Way, balance_channels, ways
from .plan import Carried, KernelPlan, LevelPlan, Point, RegionPlan, Ring, Row, Window
from .planner import plan_kernel
from .timing import OperatorTiming

__all__ = [
    "Carried",
    "KernelPlan",
    "LevelPlan",
    "OperatorTiming",
    "Point",
    "RegionPlan",
    "Ring",
    "Row",
    "Way",
    "Window",
    "balance_channels",
    "plan_kernel",
    "ways",
]

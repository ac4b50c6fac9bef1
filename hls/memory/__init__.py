"""Memory planning: which unit serves which access."""

from .plan import Access, MemoryPlan, OnChipMemory, plan_memory
from .units import choose_units

__all__ = ["Access", "MemoryPlan", "OnChipMemory", "choose_units", "plan_memory"]

"""Memory planning: which unit serves which access."""

from .plan import Access, MemoryPlan, plan_memory

__all__ = ["Access", "MemoryPlan", "plan_memory"]

"""Memory planning: which unit serves which access."""

from .channels import ChannelPlan, plan_channels
from .plan import Access, MemoryPlan, OnChipMemory, plan_memory
from .read_ports import share_copies
from .units import choose_units

__all__ = ["Access", "ChannelPlan", "MemoryPlan", "OnChipMemory", "choose_units", "plan_channels", "plan_memory",
           "share_copies"]

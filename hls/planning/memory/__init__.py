"""Memory planning: which unit serves which access."""

from .channels import ChannelPlan, bound_stream, plan_channels
from .plan import Access, MemoryPlan, OnChipMemory, plan_memory
from .read_ports import share_copies
from .units import choose_units

__all__ = [
    "Access",
    "ChannelPlan",
    "MemoryPlan",
    "OnChipMemory",
    "bound_stream",
    "choose_units",
    "plan_channels",
    "plan_memory",
    "share_copies",
]

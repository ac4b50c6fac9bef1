"""Memory planning: which unit serves which access."""

from .channels import ChannelPlan, bound_stream, plan_channels
from .hazards import HazardPlan, slots_for
from .lsu import STEPPING_LATENCY, Access, LsuKind, SharedPlan, UnitPlan, shared_cache
from .plan import MemoryPlan, OnChipMemory, plan_memory
from .read_ports import share_copies
from .units import choose_units, returns_to_words

__all__ = [
    "STEPPING_LATENCY",
    "Access",
    "ChannelPlan",
    "HazardPlan",
    "LsuKind",
    "MemoryPlan",
    "OnChipMemory",
    "SharedPlan",
    "UnitPlan",
    "bound_stream",
    "choose_units",
    "plan_channels",
    "plan_memory",
    "returns_to_words",
    "share_copies",
    "shared_cache",
    "slots_for",
]

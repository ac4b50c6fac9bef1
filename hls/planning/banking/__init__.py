"""Chooses banks and ports of memories inside a kernel as a purely numeric problem: knows nothing of IR, kernels or
hardware parts."""

from .access_set import Asked, Unknown, Use
from .choose import Banking, Copies, choose_banks
from .conflicts import Meetings
from .ports import When, assign_ports
from .pumping import share_blocks
from .ram_blocks import Blocks
from .refusal import Refusal

__all__ = [
    "Asked",
    "Banking",
    "Blocks",
    "Copies",
    "Meetings",
    "Refusal",
    "Unknown",
    "Use",
    "When",
    "assign_ports",
    "choose_banks",
    "share_blocks",
]

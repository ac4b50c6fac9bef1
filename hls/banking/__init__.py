"""Banks and ports of memories inside a kernel, as a question about numbers: knows nothing of IR, kernels or hardware
parts."""

from .blocks import Blocks
from .choose import Banking, Copies, choose_banks
from .meetings import Meetings
from .ports import When, assign_ports
from .pumping import share_blocks
from .refuse import Refusal
from .uses import Asked, Unknown, Use

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

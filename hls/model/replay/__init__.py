"""The replay of a run on its plan: the machine of a kernel as data."""

from .machine import MachineText, wanted_by
from .refused import NotReplayed

__all__ = ["MachineText", "NotReplayed", "wanted_by"]

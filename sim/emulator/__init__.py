"""Kernels without RTL: the compiler's IR as native code, with every access checked."""

from .faults import EmulationError, UnsetRead
from .library import Emulator, Outcome

__all__ = ["EmulationError", "Emulator", "Outcome", "UnsetRead"]

"""The emulator: kernels without RTL, the compiler's IR as native code, with every access checked."""

from .faults import EmulationError, UnsetRead
from .library import Emulator, Outcome, Started

__all__ = ["EmulationError", "Emulator", "Outcome", "Started", "UnsetRead"]

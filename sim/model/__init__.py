"""Runs of kernels on the replay of their plans: bytes from the emulator, cycles from the machine."""

from .replay import AccessFigures, LoopFigures, Replayed, Replayer

__all__ = ["AccessFigures", "LoopFigures", "Replayed", "Replayer"]

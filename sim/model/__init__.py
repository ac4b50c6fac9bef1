"""Runs of kernels on the replay of their plans: bytes from the emulator, cycles from the machine."""

from .replay import Launched, Replayer

__all__ = ["Launched", "Replayer"]

"""Hardware counters: which exist, what they mean, and how a run is presented."""

from .decode import ProfileError, decode
from .layout import CYCLES, Access, Account, Counter, Layout, Loop
from .text import render

__all__ = ["CYCLES", "Access", "Account", "Counter", "Layout", "Loop", "ProfileError", "decode", "render"]

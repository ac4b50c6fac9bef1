"""Generates C++ text that executes IR: the input of the emulator's compiler. No process is started here."""

from .observe import CACHES, MOST_LEVELS, AccessPlace, BranchPlace, ChannelPlace, LoopPlace, Memories, Observed
from .program import Argument, KernelText, MemoryName, ProgramText, Site
from .trace import Tracer, TraceTables
from .write import write_program

__all__ = [
    "CACHES",
    "MOST_LEVELS",
    "AccessPlace",
    "Argument",
    "BranchPlace",
    "ChannelPlace",
    "KernelText",
    "LoopPlace",
    "Memories",
    "MemoryName",
    "Observed",
    "ProgramText",
    "Site",
    "TraceTables",
    "Tracer",
    "write_program",
]

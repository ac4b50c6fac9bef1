"""Generates C++ text that executes IR: the input of the emulator's compiler. No process is started here."""

from .program import Argument, Format, KernelText, MemoryName, ProgramText, Site
from .write import write_program

__all__ = ["Argument", "Format", "KernelText", "MemoryName", "ProgramText", "Site", "write_program"]

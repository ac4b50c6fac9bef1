"""Generates a cocotb testbench for a compiled system: a start for the user's own tests, in the user's own CI."""

from .generate import TestbenchError, write_testbench

__all__ = ["TestbenchError", "write_testbench"]

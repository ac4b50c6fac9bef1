"""Errors between a design and its simulation; every message says what to do."""

__all__ = ["BadSetting", "BuildError", "SimulationError", "ToolMissing"]


class ToolMissing(Exception):
    """A program that the simulation needs is not installed on this machine."""


class BuildError(Exception):
    """Verilator or the C++ compiler rejected the design. ``log`` is their output."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class SimulationError(Exception):
    """The simulator process failed, or the design did not respond to it."""


class BadSetting(BuildError, SimulationError):
    """A variable of the environment has an invalid value."""

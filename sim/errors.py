"""What can go wrong between a design and its simulation; every message says what to do."""

__all__ = ["BadSetting", "BuildError", "SimulationError", "ToolMissing"]


class ToolMissing(Exception):
    """A program that the simulation needs is not on this machine."""


class BuildError(Exception):
    """Verilator or the C++ compiler refused the design. ``log`` is their output."""

    def __init__(self, message: str, log: str = ""):
        super().__init__(message)
        self.log = log


class SimulationError(Exception):
    """The simulator process failed, or the design did not answer it."""


class BadSetting(BuildError, SimulationError):
    """A variable of the environment has a value that cannot be."""

"""Events: when a command ran, in simulated time, and what a kernel run did."""

from collections.abc import Callable
from dataclasses import dataclass

from .constants import command_execution_status, profiling_info, status_code
from .errors import LogicError

__all__ = ["Event", "Statistics", "wait_for_events"]


class Statistics:
    """The measured figures of one kernel run. ``simulation_seconds`` is the wall time that running it took."""

    def __init__(self, values: dict, simulation_seconds: float):
        self._values = values
        self.simulation_seconds = simulation_seconds

    def to_dict(self) -> dict:
        """kernel, cycles, clock_mhz, loops, memory, channels, accounts.

        The emulator knows of no cycles: there cycles and clock_mhz are None, the lists are empty, and device ("emulator"),
        work_items, seconds and unset_reads [{line, count}] are added.
        """
        return self._values


@dataclass(frozen=True)
class Profile:
    """Times in nanoseconds of simulated time."""

    queued: int
    submit: int
    start: int
    end: int

    @property
    def complete(self) -> int:
        return self.end


class Event:
    """A command that has run: commands of the simulated board are finished when they are queued.

    ``stats`` of a kernel run is a :class:`Statistics`; None for other commands.
    """

    def __init__(self, start_ns: float, end_ns: float, stats: Statistics | None = None):
        self.profile = Profile(round(start_ns), round(start_ns), round(start_ns), round(end_ns))
        self.stats = stats
        self.command_execution_status = command_execution_status.COMPLETE

    def wait(self) -> None:
        """Return when the command is finished."""

    def get_profiling_info(self, parameter: int) -> int:
        """A time in ns by OpenCL's number."""
        names = {profiling_info.QUEUED: "queued", profiling_info.SUBMIT: "submit", profiling_info.START: "start",
                 profiling_info.END: "end", profiling_info.COMPLETE: "complete"}
        if parameter not in names:
            raise LogicError("Event.get_profiling_info", status_code.INVALID_VALUE, f"unknown parameter {parameter:#x}")
        return getattr(self.profile, names[parameter])

    def set_callback(self, status: int, callback: Callable[[int], None]) -> None:
        """Call ``callback(status)``, at once: the command has reached every status."""
        callback(status)


def wait_for_events(events: list[Event]) -> None:
    """Wait for all of them."""
    for event in events:
        event.wait()

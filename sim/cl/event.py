"""Events: when a command ran, in simulated time, and what a kernel run did."""

from collections.abc import Callable
from dataclasses import dataclass

from .constants import command_execution_status, profiling_info, status_code
from .errors import LogicError

__all__ = ["Event", "PendingEvent", "Statistics", "wait_for_events"]


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


class PendingEvent(Event):
    """A launch that may still be on its way. :meth:`wait` is where it has to end; whoever runs it calls ``end`` or ``fail``.

    ``program`` is what it runs in.
    """

    def __init__(self, program):
        self.program = program
        self._finished: Event | None = None
        self._error: Exception | None = None

    @property
    def done(self) -> bool:
        """Whether it has ended as it should."""
        return self._finished is not None

    @property
    def failed(self) -> bool:
        """Whether it was given up."""
        return self._error is not None

    def end(self, finished: Event) -> None:
        """It has run; ``finished`` has the times and figures."""
        self._finished = finished

    def fail(self, error: Exception) -> None:
        """It was given up."""
        self._error = error

    def wait(self) -> None:
        """Return when the launch has ended. Raises cl.RuntimeError when it went wrong, or can never end."""
        if not self.done and not self.failed:
            self.complete()
        if self._error is not None:
            raise self._error

    def complete(self) -> None:
        """Run until the launch has ended or failed."""
        raise NotImplementedError

    @property
    def stats(self) -> Statistics:
        self.wait()
        return self._finished.stats

    @property
    def profile(self):
        self.wait()
        return self._finished.profile

    @property
    def command_execution_status(self) -> int:
        return command_execution_status.COMPLETE if self.done else command_execution_status.RUNNING

    def set_callback(self, status: int, callback: Callable[[int], None]) -> None:
        """Let the launch end, as simulated time passes for nobody else; then call ``callback(status)``."""
        self.wait()
        callback(status)


def wait_for_events(events: list[Event]) -> None:
    """Wait for all of them."""
    for event in events:
        event.wait()

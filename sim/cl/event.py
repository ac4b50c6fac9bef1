"""Events: when a command ran, in simulated time, and the statistics of a kernel run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hls.narrow import present

from .constants import command_execution_status, command_type, event_info, profiling_info, status_code
from .errors import LogicError, RuntimeError
from .facts import fact

if TYPE_CHECKING:
    from hls.rtl.interface import KernelInterface

    from .board_runs import BoardRuns
    from .platform import Context
    from .queue import CommandQueue
    from .schedule import Schedule

__all__ = [
    "Event",
    "Marker",
    "PendingEvent",
    "Statistics",
    "UserEvent",
    "dependencies",
    "not_started",
    "wait_for_events",
]


class Statistics:
    """The measured figures of one kernel run. ``simulation_seconds`` is the wall time of its simulation."""

    def __init__(self, values: dict[str, Any], simulation_seconds: float) -> None:
        self._values = values
        self.simulation_seconds = simulation_seconds

    def to_dict(self) -> dict[str, Any]:
        """kernel, cycles, clock_mhz, loops, memory, channels, accounts.

        The emulator has no cycles: there cycles and clock_mhz are None, the lists are empty, and device
        ("emulator"), work_items, seconds and unset_reads [{line, count}] are added. With `sluice run --predict`,
        predicted has what the model says of the launch: cycles (None if it does not cover it), error, loops, blame,
        why.
        """
        return self._values


@dataclass(frozen=True)
class Profile:
    """Times in nanoseconds of simulated time: when the host queued the command, when the commands that it waits for
    had ended, so that it was submitted to the board, and when it ran."""

    queued: int
    submit: int
    start: int
    end: int

    @property
    def complete(self) -> int:
        return self.end


class Event:
    """A command that has run.

    ``stats`` of a kernel run is a :class:`Statistics`; None for other commands. ``command_type`` is OpenCL's number of
    the command, which was queued at ``command_queue``.
    """

    reference_count = 1
    command_queue: "CommandQueue | None" = None

    def __init__(
        self,
        start_ns: float,
        end_ns: float,
        stats: Statistics | None = None,
        queued_ns: float | None = None,
        *,
        submit_ns: float | None = None,
        queue: "CommandQueue | None" = None,
        kind: int = command_type.NDRANGE_KERNEL,
    ) -> None:
        queued = start_ns if queued_ns is None else queued_ns
        submit = queued if submit_ns is None else submit_ns
        self.command_queue, self.command_type = queue, kind
        self._profile = Profile(round(queued), round(submit), round(start_ns), round(end_ns))
        self._stats = stats

    @property
    def profile(self) -> "Profile":
        """The times of the command in ns."""
        return self._profile

    @property
    def stats(self) -> Statistics | None:
        """What a kernel run counted; None for other commands."""
        return self._stats

    @property
    def command_execution_status(self) -> int:
        """OpenCL's number."""
        return command_execution_status.COMPLETE

    def wait(self) -> None:
        """Return when the command is finished."""

    @property
    def context(self) -> "Context | None":
        """The context of the queue."""
        return self.command_queue.context if self.command_queue is not None else None

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, event_info, parameter, "Event.get_info")

    def get_profiling_info(self, parameter: int) -> int:
        """A time in ns, by OpenCL's number."""
        names = {
            profiling_info.QUEUED: "queued",
            profiling_info.SUBMIT: "submit",
            profiling_info.START: "start",
            profiling_info.END: "end",
            profiling_info.COMPLETE: "complete",
        }
        if parameter not in names:
            raise LogicError("Event.get_profiling_info", status_code.INVALID_VALUE, f"unknown parameter {parameter:#x}")
        return getattr(self.profile, names[parameter])

    def set_callback(self, status: int, callback: Callable[[int], None]) -> None:
        """Call ``callback(status)``, at once: the command has reached every status."""
        callback(status)


class PendingEvent(Event):
    """A command that may not have ended. It begins when all commands in ``after`` have ended; the code that runs it
    calls ``end`` or ``fail``.

    ``runs`` is the program that it runs in, if it takes simulated time on the board, else None; ``what`` names it in
    messages.
    """

    runs: "BoardRuns | None" = None
    kernel: "KernelInterface"  #: of a command with ``runs``
    what = "a marker"
    joined = False  #: whether the command itself may wait for others, at a channel
    starved = False  #: whether it was given up because no other kernel lets it continue

    command_type = command_type.NDRANGE_KERNEL

    def __init__(
        self, schedule: "Schedule", after: Iterable["PendingEvent"] = (), queue: "CommandQueue | None" = None
    ) -> None:
        self.schedule, self.command_queue = schedule, queue
        self.number = 0  #: in the order of queueing
        self.queued_ns = self.submit_ns = schedule.board.now_ns
        self.ready_ns = self.queued_ns  #: it begins no earlier than then
        self.told = False  #: whether its failure was reported
        self.interrupted = False  #: whether it was given up because the host was interrupted
        self._finished: Event | None = None
        self._error: Exception | None = None
        self.callbacks: list[tuple[int, Callable[[int], None]]] = []
        self.followers: list[PendingEvent] = []
        self.missing = {one for one in after if not one.over}  #: commands that it waits for
        for one in self.missing:
            one.followers.append(self)

    @property
    def done(self) -> bool:
        """Whether it has ended successfully."""
        return self._finished is not None

    @property
    def failed(self) -> bool:
        """Whether it was given up."""
        return self._error is not None

    @property
    def over(self) -> bool:
        """Whether it has ended, successfully or not."""
        return self._finished is not None or self._error is not None

    @property
    def end_ns(self) -> float:
        """When it ended."""
        return present(self._finished).profile.end

    @property
    def error(self) -> Exception:
        """Why it failed."""
        return present(self._error)

    @property
    def needs_others(self) -> bool:
        """Whether it may have to wait for a command that has not been queued: it, or a command it waits for, is joined
        with other kernels by channels."""
        seen, found = {self}, [self]
        for one in found:
            if one.joined:
                return True
            found += (more := one.missing - seen)
            seen |= more
        return False

    @property
    def serves(self) -> bool:
        """Whether it is a kernel that never ends, and has done all that others asked of it."""
        return self.starved and self.endless

    @property
    def endless(self) -> bool:
        """Whether it is a kernel that is written never to end, as one that serves others is."""
        return False

    def begin(self) -> None:
        """Called when its dependencies have ended."""
        raise NotImplementedError

    def give_up(self) -> None:
        """No queued command lets it end: force it to continue, or fail."""
        raise NotImplementedError

    def end(self, finished: Event) -> None:
        """It has run; ``finished`` has the times and figures."""
        self._finished = finished
        self.schedule.settle(self)

    def fail(self, error: Exception) -> None:
        """It was given up."""
        self.note_failure(error)
        self.schedule.settle(self)

    def note_failure(self, error: Exception) -> None:
        """Record why it failed."""
        self._error = error

    def complete(self) -> None:
        """Let time pass until it has ended or failed."""
        if not self.over:
            self.schedule.run_until(self)

    def wait(self) -> None:
        """Return when the command has ended. Raises cl.RuntimeError when it failed, or can never end."""
        self.complete()
        if self._error is not None:
            self.told = True
            raise self._error.with_traceback(None)

    @property
    def stats(self) -> Statistics | None:
        """The statistics of the run, None for a command that is no launch. Waits for its end; raises its error."""
        self.wait()
        return present(self._finished).stats

    @property
    def profile(self) -> "Profile":
        """Times of the command in ns. Waits for its end; raises its error."""
        self.wait()
        return present(self._finished).profile

    @property
    def command_execution_status(self) -> int:
        """OpenCL's number, or the error's if it failed. Each query advances simulated time a little, so that a polling
        host makes progress."""
        if not self.over:
            self.schedule.look(self)
        return self._status

    @property
    def _status(self) -> int:
        if self.failed:
            return getattr(self._error, "code", status_code.OUT_OF_RESOURCES)
        if self.done:
            return command_execution_status.COMPLETE
        return command_execution_status.QUEUED if self.missing else command_execution_status.RUNNING

    def set_callback(self, status: int, callback: Callable[[int], None]) -> None:
        """Call ``callback(status)`` when the command has ended, with the error's negative number if it failed. If
        possible the command is run to its end here, since simulated time only passes on request; otherwise the thread
        that completes it makes the call."""
        with self.schedule.board.guard:
            if not self.over and not self.needs_others:
                self.complete()
            self.callbacks.append((status, callback))
            if self.over:
                self.schedule.to_tell.append(self)
        self.schedule.tell()

    def call_back(self) -> None:
        """Call the registered callbacks: the command is over."""
        callbacks, self.callbacks = self.callbacks, []
        for status, callback in callbacks:
            callback(self._status if self.failed else status)


class Marker(PendingEvent):
    """A command without work that ends when all commands in ``after`` have ended."""

    def __init__(
        self,
        schedule: "Schedule",
        after: Iterable[PendingEvent],
        queue: "CommandQueue",
        kind: int = command_type.MARKER,
    ) -> None:
        super().__init__(schedule, after, queue)
        self.command_type = kind

    def begin(self) -> None:
        """End at once: the times of start and end are that at which all commands before it had ended."""
        self.end(Event(self.ready_ns, self.ready_ns, queued_ns=self.queued_ns, submit_ns=self.submit_ns))


class UserEvent(PendingEvent):
    """An event that the host itself ends, by :meth:`set_status`; commands that have it in ``wait_for`` begin then."""

    what = "a user event"
    joined = True  # a command that waits for it needs the host
    command_type = command_type.USER

    def __init__(self, context: "Context") -> None:
        self._context = context
        with context.simulated.guard:
            super().__init__(context.simulated.schedule)

    @property
    def context(self) -> "Context":
        """The context in which the event was created."""
        return self._context

    def set_status(self, status: int) -> None:
        """End it: ``cl.command_execution_status.COMPLETE``, or a negative number, which makes all commands that wait
        for it fail. Raises cl.LogicError for other numbers, and the second time."""
        if status != command_execution_status.COMPLETE and not (isinstance(status, int) and status < 0):
            raise LogicError(
                "UserEvent.set_status",
                status_code.INVALID_VALUE,
                f"the status is command_execution_status.COMPLETE or a negative error code, not {status!r}",
            )
        with self.schedule.board.guard:
            if self.over:
                what = f"it failed: {self.error}" if self.failed else "it has been set"
                raise LogicError("UserEvent.set_status", status_code.INVALID_OPERATION, f"{what}; that is final")
            now = self.schedule.board.now_ns
            if status == command_execution_status.COMPLETE:
                self.end(Event(now, now, queued_ns=self.queued_ns))
            else:
                self.fail(RuntimeError("clSetUserEventStatus", status, "the host ended the user event with this code"))
            self.schedule.resume()
        self.schedule.tell()

    def give_up(self) -> None:
        """The host waits for an event that only the host itself can end."""
        self.fail(
            RuntimeError(
                "clWaitForEvents",
                status_code.EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                "a user event was waited for, and no other thread set its status; call set_status() before the wait",
            )
        )

    @property
    def _status(self) -> int:
        return super()._status if self.over else command_execution_status.SUBMITTED

    @property
    def profile(self) -> "Profile":
        """Raises LogicError (PROFILING_INFO_NOT_AVAILABLE): the host's events have no times."""
        raise LogicError("UserEvent.profile", status_code.PROFILING_INFO_NOT_AVAILABLE, "a user event has no times")

    def get_profiling_info(self, parameter: int) -> int:
        """A user event has no profile. Raises cl.LogicError, as OpenCL specifies."""
        return self.profile.start


def dependencies(schedule: "Schedule", wait_for: Iterable[Event] | None) -> list[PendingEvent]:
    """Those of the events that a command has to wait for. Events of other contexts are waited for here. Raises the
    error of a failed one."""
    events = [one for one in wait_for or () if isinstance(one, PendingEvent)]
    for one in events:
        if one.failed or one.schedule is not schedule:
            one.wait()
    return [one for one in events if not one.over]


def not_started(one: PendingEvent, cause: PendingEvent) -> RuntimeError:
    """The error of a command that depends on one that failed."""
    return RuntimeError(
        "clEnqueueNDRangeKernel",
        status_code.OUT_OF_RESOURCES,
        f"{one.what} was not started: {cause.what}, after which it was queued, failed",
    )


def wait_for_events(events: list[Event]) -> None:
    """Wait for all of them."""
    for event in events:
        event.wait()

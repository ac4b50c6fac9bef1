"""Command queues: launches run in the order in which they are queued, concurrently with those of other queues; see
sim.cl.schedule.

A call that copies, fills or maps waits for the launches of its queue, for its events, and for launches of other queues
that use its buffers as far as they can end by themselves. Its work is done when it returns, unless it is one that
OpenCL does not let wait and a command before it needs the host: see :mod:`sim.cl.host_commands`."""

from typing import Any, Self

from .constants import command_queue_info, command_queue_properties, command_type, status_code
from .errors import LogicError
from .event import Event, Marker, PendingEvent, dependencies
from .facts import fact
from .platform import Context, Device

__all__ = ["CommandQueue", "enqueue_barrier", "enqueue_marker", "enqueue_migrate_mem_objects"]


class CommandQueue:
    """A queue on the context's board. Profiling is always on."""

    reference_count = 1

    def __init__(self, context: Context, device: Device | None = None, properties: int | None = None) -> None:
        if device is not None and device is not context.device:
            raise LogicError("CommandQueue", status_code.INVALID_DEVICE, "the device is not the context's")
        self.context = context
        self.properties = (properties or 0) | command_queue_properties.PROFILING_ENABLE
        self.unfinished: list[PendingEvent] = []  #: not ended, or failed and not reported
        self._most = 16  #: length of ``unfinished`` from which on ended commands are removed

    @property
    def device(self) -> Device:
        """The board to which the queue belongs."""
        return self.context.device

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, command_queue_info, parameter, "CommandQueue.get_info")

    def finish(self) -> None:
        """Return when all commands are finished. Raises the error of the first that failed since the last call, even if
        its event reported it."""
        with self.context.simulated.guard:
            self._complete()
            failed = [event for event in self.unfinished if event.failed and not event.interrupted]
            self.unfinished = [event for event in self.unfinished if not event.over]
        _tell(failed)

    def settle(self) -> None:
        """Return when all commands are finished. Raises the error of the first that failed and was not reported."""
        with self.context.simulated.guard:
            self._complete()
            failed = [event for event in self.unfinished if event.failed and not event.told]
        _tell(failed)

    def _complete(self) -> None:
        for event in list(self.unfinished):
            event.complete()

    def flush(self) -> None:
        """No effect: commands begin without it."""

    def before(self) -> list[PendingEvent]:
        """The commands that the next one has to wait for. :meth:`finish` reports failed ones; they do not delay later
        commands."""
        last = next((event for event in reversed(self.unfinished) if not event.failed), None)
        return [] if last is None or last.over else [last]

    def note(self, event: PendingEvent) -> None:
        """Record a queued command that may not end at once."""
        if len(self.unfinished) >= self._most:
            self.unfinished = [one for one in self.unfinished if not (one.done or one.told)]
            self._most = max(16, 2 * len(self.unfinished))
        self.unfinished.append(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.finish()


def _tell(failed: list[PendingEvent]) -> None:
    for event in failed:
        event.told = True
    if failed:
        raise failed[0].error.with_traceback(None)


def enqueue_barrier(queue: CommandQueue, wait_for: list[Event] | None = None) -> Event:
    """An event for all commands queued so far, and for those of ``wait_for``; later commands wait for it."""
    return _mark(queue, wait_for, command_type.BARRIER)


def enqueue_marker(queue: CommandQueue, wait_for: list[Event] | None = None) -> Event:
    """The same: the commands of a queue keep their order."""
    return _mark(queue, wait_for, command_type.MARKER)


def enqueue_migrate_mem_objects(
    queue: CommandQueue, mem_objects: list[Any], flags: int = 0, wait_for: list[Event] | None = None
) -> Event:
    """Buffers of a context are in the memory of its one board: nothing has to be moved."""
    return _mark(queue, wait_for, command_type.MIGRATE_MEM_OBJECTS)


def _mark(queue: CommandQueue, wait_for: list[Event] | None, kind: int) -> Event:
    schedule = queue.context.simulated.schedule
    after = dependencies(schedule, wait_for)
    with queue.context.simulated.guard:
        marker = Marker(schedule, [*queue.before(), *after], queue, kind)
        queue.note(marker)
        schedule.add(marker)
    return marker

"""Commands that the host executes: copies, fills, maps.

Each is done when the call returns, with one exception. A non-blocking call that depends on something that needs the
host again (a user event, a kernel that waits at a channel for one that was not queued) is deferred, and done when its
dependencies have ended.
"""

from collections.abc import Callable, Iterable, Sequence

from .constants import command_type
from .event import Event, PendingEvent, dependencies, wait_for_events
from .memory import Buffer
from .queue import CommandQueue
from .timeline import TIMELINE

__all__ = ["HostCommand", "enqueue_host_command"]

#: Executes the command, no earlier than at the given simulated time; returns when it started and ended.
Work = Callable[[float], tuple[float, float]]


class HostCommand(PendingEvent):
    """A deferred command of the host."""

    def __init__(self, queue: CommandQueue, after: Iterable[PendingEvent], kind: int, work: Work, bytes: int) -> None:
        super().__init__(queue.context.simulated.schedule, after, queue)
        self.command_type, self._work, self._bytes = kind, work, bytes
        self.what = f"a command {command_type.to_string(kind)}"

    def begin(self) -> None:
        """Do the command's work and end with the times, in ns, at which it started and ended."""
        times = self._work(self.ready_ns)
        start_ns, end_ns = times
        finished = Event(
            start_ns,
            end_ns,
            queued_ns=self.queued_ns,
            submit_ns=self.submit_ns,
            queue=self.command_queue,
            kind=self.command_type,
        )
        TIMELINE.command(self.command_type, finished, self._bytes)
        self.end(finished)


def enqueue_host_command(
    queue: CommandQueue,
    wait_for: list[Event] | None,
    kind: int,
    work: Work,
    used: Sequence[Buffer] = (),
    *,
    is_blocking: bool = False,
    bytes: int = 0,
) -> Event:
    """Execute after the unfinished commands of the queue, the events, and launches that use the buffers ``used``;
    ``bytes`` is what it moves."""
    if not is_blocking and (kept := _keep(queue, wait_for, kind, work, used, bytes)) is not None:
        return kept
    queued = queue.context.simulated.now_ns
    wait_for_events(wait_for or [])
    with queue.context.simulated.guard:
        queue.settle()
        for buffer in used:
            buffer.settle()
        now = queue.context.simulated.now_ns
        event = Event(*work(0.0), queued_ns=queued, submit_ns=now, queue=queue, kind=kind)
        TIMELINE.command(kind, event, bytes)
        return event


def _keep(
    queue: CommandQueue, wait_for: list[Event] | None, kind: int, work: Work, used: Sequence[Buffer], bytes: int
) -> HostCommand | None:
    """Defer the command, if a dependency needs the host."""
    schedule = queue.context.simulated.schedule
    after = dependencies(schedule, wait_for)
    with queue.context.simulated.guard:
        before = [*queue.before(), *after]
        if not any(one.needs_others for one in before):
            return None
        users = [launch for buffer in used for launch in buffer.able_to_end()]
        event = HostCommand(queue, [*before, *users], kind, work, bytes)
        for buffer in used:
            buffer.note_launch(event)
        queue.note(event)
        schedule.add(event)
        return event

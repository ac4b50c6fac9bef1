"""Decides when the launches of a context begin: those of several queues concurrently in simulated time, as far as
events and queues allow.

Simulated time stands still until a thread waits. That thread advances it in steps, and each step ends when a kernel
does or when a launch that was queued later may begin. The board holds one program at a time: launches of
another one begin when those of the loaded program have ended, or can only continue when something else is queued.
"""

import atexit
import bisect
import contextlib
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hls.signals import is_ending

from .constants import status_code
from .errors import Error, RuntimeError
from .event import PendingEvent, not_started

if TYPE_CHECKING:
    from .board import SimulatedBoard
    from .board_runs import BoardRuns

__all__ = ["Schedule", "finish_all"]

_schedules: "weakref.WeakSet[Schedule]" = weakref.WeakSet()


class Schedule:
    """The commands of one board that have not ended. Every method runs under the board's guard, which the public calls
    take."""

    def __init__(self, board: "SimulatedBoard") -> None:
        self.board = board
        self.pending: dict[PendingEvent, None] = {}  #: all that have not ended, in the order of queueing
        self._startable: list[PendingEvent] = []  #: those that wait for no other, in the same order
        self._numbers = itertools.count()
        self._loaded: BoardRuns | None = None  #: the program on the board
        self._awaited = False  #: whether the end of the process waits for what is pending
        self.to_tell: deque[PendingEvent] = deque()  #: those that are over, and whose callbacks are still to be called
        _schedules.add(self)

    def add(self, event: PendingEvent) -> None:
        """Queue a command; it begins at once if it may."""
        with self.board.guard as guard:
            self.board.reclaim()
            event.number = next(self._numbers)
            self.pending[event] = None
            if not self._awaited:  # registered after the function that ends simulators, so called before it
                atexit.register(self.finish_at_exit)
                self._awaited = True
            if not event.missing:
                self._startable.append(event)
            self.resume()
            guard.changed()
        self.tell()

    def resume(self) -> None:
        """Begin what may begin."""
        with self._interruptible():
            self.pump()

    def tell(self) -> None:
        """Call the registered callbacks. They may change any state here."""
        while True:
            try:
                event = self.to_tell.popleft()
            except IndexError:  # none is left, another thread may have taken the last one
                return
            event.call_back()

    def settle(self, event: PendingEvent) -> None:
        """A command is over: its dependents may begin, or fail as well."""
        over = [event]
        while over:
            one = over.pop()
            self.pending.pop(one, None)
            if one.callbacks:
                self.to_tell.append(one)
            for follower in one.followers:
                follower.missing.discard(one)
                if follower.over:
                    continue
                if one.failed:
                    self._forget(follower)
                    follower.note_failure(not_started(follower, one))
                    over.append(follower)
                    continue
                follower.submit_ns = max(follower.submit_ns, one.end_ns)
                follower.ready_ns = max(follower.ready_ns, one.end_ns)
                if not follower.missing and follower in self.pending:
                    bisect.insort(self._startable, follower, key=lambda each: each.number)
            one.followers.clear()
        self.board.guard.changed()
        if not self.pending and self._awaited:
            atexit.unregister(self.finish_at_exit)
            self._awaited = False

    def lose(self, events: Iterable[PendingEvent], error: Exception) -> None:
        """All of them fail for the same reason."""
        lost = [event for event in events if not event.over]
        for event in lost:
            self._forget(event)
            event.note_failure(error)
        for event in lost:
            self.settle(event)

    def run_until(self, event: PendingEvent) -> None:
        """Advance time until the command is over. When no queued command lets it end, and no other thread queues
        more, it is given up."""
        with self.board.guard as guard:
            while not event.over:
                stepped = self._step()
                self.tell()
                if stepped:
                    if not event.over:
                        guard.give_way()
                elif not guard.others_may_help() and not event.over:
                    self._cause(event).give_up()
                    self.tell()

    def look(self, event: PendingEvent) -> None:
        """Advance time a little, for a host that polls the state of a command."""
        with self.board.guard as guard:
            if not event.over:
                self._step()
                if self._loaded is not None:
                    self.board.now_ns = max(self.board.now_ns, self._loaded.now_ns)
            guard.give_way()
        self.tell()

    def finish(self, at_exit: bool = False) -> Exception | None:
        """Run all queued commands; returns the first failure that was not reported. ``at_exit``: that kernels which
        serve others wait for more to do is none."""
        untold = []
        while events := list(self.pending):
            for event in events:
                self.run_until(event)
            untold += [event for event in events if event.failed and not event.told and not (at_exit and event.serves)]
        for event in untold:
            event.told = True
        return untold[0].error if untold else None

    def finish_at_exit(self) -> None:
        """At the end of the process run the launches that were not waited for, unless an error or a signal ends it;
        reports a failure."""
        if not self.board.guard.is_ours or is_ending() or hasattr(sys, "last_type"):
            return
        try:
            failure = self.finish(at_exit=True)
        except Error as error:
            failure = error
        if failure is not None:
            print(f"sluice: a launch that nobody waited for: {failure}", file=sys.stderr, flush=True)

    def cancel(self, why: str) -> None:
        """The host was interrupted, and knows: no queued command will run."""
        with self.board.guard:
            pending = list(self.pending)
            at_work = {event.runs for event in pending if event.runs is not None and event.runs.running}
            self.lose(pending, RuntimeError("clEnqueueNDRangeKernel", status_code.OUT_OF_RESOURCES, f"given up: {why}"))
            for runs in at_work:
                runs.give_up(f"given up: {why}")
            for event in pending:
                event.told = event.interrupted = True

    # ---- steps

    def _step(self) -> bool:
        """Make progress. False if none is possible as long as nothing else is queued."""
        with self._interruptible():
            return self.pump() or self._advance() or self._skip()

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """An interrupt or a signal gives up all queued commands."""
        try:
            yield
        except Exception:
            raise
        except BaseException as error:
            self.cancel(f"interrupted{': ' if error.args else ''}{error}")
            raise

    def pump(self) -> bool:
        """Begin all commands that may begin now; returns whether there was any."""
        begun = False
        while (event := self._next()) is not None:
            self._begin(event)
            begun = True
        return begun

    def _next(self) -> PendingEvent | None:
        """The command that begins next without advancing time while the board is busy. If all running kernels wait at
        channels, or may, they need not be simulated up to the time at which a launch was queued: that time is
        skipped."""
        loaded = self._loaded
        busy = loaded is not None and loaded.running
        soon: list[PendingEvent] = []
        held = False
        for event in self._startable:
            if event.runs is None:
                return event
            if not busy:
                soon.append(event)
            elif event.runs is not loaded:
                held = True  # it begins when the board is free, before later ones
            elif not held and loaded.is_free(event.kernel) and (loaded.only_joined or event.ready_ns <= loaded.now_ns):
                return event
        return min(soon, key=lambda each: (each.ready_ns, each.number), default=None)

    def _advance(self) -> bool:
        """Run the loaded program, or one that was suspended with waiting kernels; returns whether anything may have
        changed."""
        loaded = self._loaded
        if loaded is None:
            return False
        if loaded.running and loaded.advance(self._next_ready_ns(loaded)):
            return True
        left = {
            event.runs
            for event in self.pending
            if event.runs is not None and event.runs is not loaded and event.runs.running
        }
        for runs in left:
            self._load(runs, 0.0)
            if runs.advance(None):
                return True
        return False

    def _next_ready_ns(self, runs: "BoardRuns") -> float | None:
        """When the next launch may begin concurrently with the running ones. Launches that are ready and have not begun
        wait for their program to be loaded."""
        now = runs.now_ns
        times = [
            event.ready_ns
            for event in self._startable
            if event.runs is runs and runs.is_free(event.kernel) and event.ready_ns > now
        ]
        return min(times, default=None)

    def _skip(self) -> bool:
        """Nothing makes progress: begin the launch that comes next, of this program or of another one."""
        able = [event for event in self._startable if event.runs is not None and event.runs.is_free(event.kernel)]
        event = min(able, key=lambda each: (each.runs is not self._loaded, each.ready_ns, each.number), default=None)
        if event is None:
            return False
        self._begin(event)
        return True

    def _begin(self, event: PendingEvent) -> None:
        self._forget(event)
        if event.runs is not None:
            self._load(event.runs, event.ready_ns)
        event.begin()

    def _load(self, runs: "BoardRuns", ready_ns: float) -> None:
        """Load a program onto the board; its time is then at least ``ready_ns``."""
        reached = 0.0 if self._loaded is None else self._loaded.now_ns
        runs.continue_at(max(reached, ready_ns), runs is self._loaded)
        self._loaded = runs

    def _forget(self, event: PendingEvent) -> None:
        if event in self._startable:
            self._startable.remove(event)

    @staticmethod
    def _cause(event: PendingEvent) -> PendingEvent:
        """The command that keeps another from ending: itself, or the last in its chain of dependencies."""
        while event.missing:
            event = min(event.missing, key=lambda each: each.number)
        return event


def finish_all() -> None:
    """Run all queued commands of all contexts, unless a signal ends the process. Raises the first failure that was not
    reported."""
    if is_ending():
        return
    failures = [schedule.finish() for schedule in list(_schedules) if schedule.pending and schedule.board.guard.is_ours]
    for failure in failures:
        if failure is not None:
            raise failure

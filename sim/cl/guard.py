"""The lock of a context, which all its public operations hold."""

import os
import threading
from typing import Self

from .constants import status_code
from .errors import LogicError

__all__ = ["Guard"]

#: Seconds for which a thread that advances time yields to threads that want to queue a command.
GIVE_WAY = 0.001
#: Seconds for which launches that wait for each other wait for a command of another host thread.
PATIENCE = 10.0


class Guard:
    """A reentrant lock that cannot be used in a forked child of the process that created it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._process = os.getpid()
        self._wanting: set[int] = set()  #: threads that wait for the lock
        self._asleep: set[int] = set()  #: threads that wait for others to queue something

    @property
    def is_ours(self) -> bool:
        """Whether this process created the context; False in a child after a fork."""
        return os.getpid() == self._process

    def check(self) -> None:
        """Raises LogicError in a child process."""
        if not self.is_ours:
            raise LogicError(
                "fork",
                status_code.INVALID_CONTEXT,
                f"the context belongs to process {self._process}, and this is process {os.getpid()}, a child made by "
                "a fork: the simulated "
                "board stays with its maker; make a context in the child, or start it with multiprocessing's method "
                '"spawn"',
            )

    def __enter__(self) -> Self:
        self.check()
        me = threading.get_ident()
        self._wanting.add(me)
        try:
            self._lock.acquire()
        finally:
            self._wanting.discard(me)
        return self

    def __exit__(self, *unused: object) -> None:
        self._lock.release()

    def give_way(self) -> None:
        """Release the lock for a moment, if another thread waits for it."""
        me = threading.get_ident()
        if not self._wanting:
            return
        self._wanting.add(me)
        try:
            self._changed.wait(GIVE_WAY)
        finally:
            self._wanting.discard(me)

    def changed(self) -> None:
        """Something was queued, or has ended: wake the threads that wait for it."""
        self._changed.notify_all()

    def others_may_help(self) -> bool:
        """Wait until another thread queues something. False if all threads wait here, or none did for a while."""
        me = threading.get_ident()
        self._asleep.add(me)
        try:
            outside = [thread for thread in threading.enumerate() if thread.ident not in self._asleep]
            return bool(outside) and self._changed.wait(PATIENCE)
        finally:
            self._asleep.discard(me)

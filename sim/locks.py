"""A reentrant lock for state that all threads of a process share."""

import os
import threading
from typing import Self

__all__ = ["ProcessLock"]


class ProcessLock:
    """Like threading.RLock, but free in a child after a fork, whichever thread held it in the parent."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *unused: object) -> None:
        self._lock.release()

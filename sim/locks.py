"""A lock of a module, for what all threads of a process share."""

import os
import threading
from typing import Self

__all__ = ["ProcessLock"]


class ProcessLock:
    """Like threading.RLock; a child made by a fork begins with it free, whoever held it in the parent."""

    def __init__(self):
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *unused) -> None:
        self._lock.release()

"""External programs that belong together, such as the compilers of one build: none of them outlives its user."""

import atexit
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from .errors import BuildError

__all__ = ["Programs"]

T = TypeVar("T")
#: Seconds that programs have to end by themselves after a request to terminate.
PATIENCE = 2.0
_all: set["Programs"] = set()


class Programs:
    """Programs that are started by ``run`` and ``start`` and ended by ``end``, or at the end of a ``with``. After that
    none can be started.

    Each is a process group of its own: the processes that it started end with it, and an interrupt from the keyboard
    reaches the host program alone. Programs are started in a thread that no interrupt reaches, so that all of them are
    known.
    """

    def __init__(self) -> None:
        self._lock, self._ended, self._owner = threading.Lock(), False, os.getpid()
        self._running: set[subprocess.Popen[Any]] = set()
        _all.add(self)

    def run(
        self,
        command: Sequence[str],
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        input: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end. Raises BuildError if :meth:`end` ended all, and OSError if it cannot be
        started."""

        def work() -> subprocess.CompletedProcess[str]:
            process = self._start(
                command,
                cwd=folder,
                env=environment,
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            )
            out, err = process.communicate(input)
            with self._lock:
                self._running.discard(process)
            return subprocess.CompletedProcess(command, process.returncode, out, err)

        return _undisturbed(work)

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program; ``options`` are those of Popen."""
        return _undisturbed(lambda: self._start(command, **options))

    def _start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        with self._lock:
            if self._ended:
                raise BuildError("interrupted")
            process = subprocess.Popen(command, process_group=0, **options)
            self._running.add(process)
            return process

    def end(self) -> None:
        """End all running programs, by force if they do not end soon."""
        if os.getpid() != self._owner:
            return  # after a fork: the programs belong to the parent process
        with self._lock:
            self._ended, running = True, [process for process in self._running if process.poll() is None]
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in running:
                _tell(process, number)
            until = time.monotonic() + PATIENCE
            while (running := [process for process in running if not _has_ended(process)]) and time.monotonic() < until:
                time.sleep(0.005)
        _all.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        self.end()


def _tell(process: subprocess.Popen[Any], number: int) -> bool:
    """Send a signal to the program and the processes that it started; returns whether any of these exists."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _has_ended(process: subprocess.Popen[Any]) -> bool:
    """Whether the program and all processes that it started have ended: a compiler's second pass still writes after
    the first one has ended."""
    return process.poll() is not None and not _tell(process, 0)


def _undisturbed(work: Callable[[], T]) -> T:
    """Run ``work`` where no signal raises an exception in the middle of it: in a thread other than the main one."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    future: Future[T] = Future()

    def body() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            future.set_exception(error)

    threading.Thread(target=body, daemon=True).start()
    return future.result()


@atexit.register
def _end_all() -> None:
    for programs in list(_all):
        programs.end()

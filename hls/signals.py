"""Signals that end a command, and the cleanup they require: no process and no unfinished folder may remain.

SIGINT, SIGTERM and SIGHUP end a command with exit code 128 + n. They raise an exception in the main thread, so that
everything is cleaned up in order; what does not end within seconds is ended by force. ``sluice run`` forwards a signal
to the host program, waits, and kills what is left.

What a command prints may find no reader any more, as in ``sluice report | head -1``: it ends with 128 + SIGPIPE and
without a message, as programs do which Python did not let ignore that signal.
"""

import atexit
import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

__all__ = [
    "deferred",
    "end_descendants",
    "exit_code",
    "exit_on_signals",
    "follow_supervisor",
    "has_reader",
    "is_ending",
    "supervise",
    "temporary_folder",
    "until_nobody_reads",
    "was_interrupted",
]

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds that a process has to end by itself, and that `sluice run` allows a host program for it.
PATIENCE, GRACE = 3.0, 10.0
#: Environment variable: the process that forwards signals.
SUPERVISOR = "SLUICE_SUPERVISOR"
#: si_code of a signal from the terminal, which signals all processes of its foreground group
FROM_TERMINAL = 0x80
PR_SET_PDEATHSIG = 1


@dataclass
class _Handling:
    """The state of the handlers, which run in the main thread, between two of its bytecode instructions."""

    owner: int = 0  #: the process that installed the handlers
    interrupts: bool = False  #: whether SIGINT raises KeyboardInterrupt
    ending: int | None = None  #: the signal that ends this process
    lost: bool = False  #: whether the exception was raised where Python discards it
    depth: int = 0  #: nesting depth of sections that defer signals
    waiting: int | None = None  #: a deferred signal
    calls: list[Callable[[], object]] = field(default_factory=list)  #: callbacks of these sections


_handling = _Handling()
_folders: set[Path] = set()


def exit_on_signals(interrupts: bool = False) -> None:
    """From here on a signal ends this process with 128 + n. ``interrupts``: SIGINT raises KeyboardInterrupt, which a
    program may catch."""
    _handling.owner, _handling.interrupts = os.getpid(), interrupts
    for number in _heeded():
        signal.signal(number, _handle)
    atexit.register(_clean)
    sys.unraisablehook = _dropped
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_restore)


def _heeded() -> tuple[signal.Signals, ...]:
    """All of ``ENDING``, without SIGHUP if nohup disabled it."""
    return tuple(number for number in ENDING if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN)


def _hold() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


def _release() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _restore() -> None:
    """In a forked process, restore Python's default handling of signals, including those that arrived before this
    call."""
    for number in ENDING:
        if signal.getsignal(number) == _handle:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    _release()


def _dropped(unraisable: "sys.UnraisableHookArgs") -> None:
    """Handle an exception in a function without a caller, such as the callback of a dead weak reference; imports run
    many of them. The exception of a signal is raised again afterwards."""
    if (
        isinstance(unraisable.exc_value, (SystemExit, KeyboardInterrupt))
        and threading.current_thread() is threading.main_thread()
    ):
        _handling.lost = True
        again = threading.Timer(
            0.02, signal.pthread_kill, (threading.main_thread().ident, _handling.ending or signal.SIGINT)
        )
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def _handle(number: int, _frame: FrameType | None) -> None:
    if _handling.ending is not None and not _handling.lost:
        return  # only cleanup remains
    _handling.lost = False
    if _handling.depth:
        _handling.waiting = number
        for call in _handling.calls:
            call()
    else:
        _act(number)


def _act(number: int) -> NoReturn:
    if number == signal.SIGINT and _handling.interrupts:
        raise KeyboardInterrupt
    _handling.ending = number
    signal.signal(signal.SIGALRM, _exit_at_once)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    raise SystemExit(128 + number)


def exit_code() -> int | None:
    """128 + n if a signal ends this process: a later exception is then no error, as some libraries convert the signal's
    exception into another."""
    return None if _handling.ending is None else 128 + _handling.ending


def _exit_at_once(_number: int, _frame: FrameType | None) -> None:
    """Exits if the exception was caught, or if other threads go on."""
    _clean()


def was_interrupted() -> None:
    """An uncaught KeyboardInterrupt ends this process: its descendants must end with it."""
    _handling.ending = signal.SIGINT


def has_reader(output: TextIO) -> bool:
    """Whether what is written there may still be read: not so for a pipe whose other end is closed."""
    poll = select.poll()
    poll.register(output.fileno(), 0)
    return not any(events & select.POLLERR for _, events in poll.poll(0))


@contextlib.contextmanager
def until_nobody_reads() -> Iterator[None]:
    """Ends the program in silence where its output has no reader any more. A pipe to another process that broke is an
    error as ever, and an error of the program keeps its exit code."""
    code = None
    try:
        yield
    except SystemExit as end:
        code = end.code or 0
    except BrokenPipeError:
        if has_reader(sys.stdout):
            raise
        code = 128 + signal.SIGPIPE
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes what is left at its end
        code = code or 128 + signal.SIGPIPE
    if code is not None:
        sys.exit(code)


def is_ending() -> bool:
    """Whether a signal ends this process."""
    return _handling.ending is not None


def _clean() -> None:
    """Cleanup before the process ends; runs last."""
    if os.getpid() != _handling.owner:
        return
    # the command is over; Python would remove its handlers, and a signal would still change the exit code
    for number in _heeded():
        signal.signal(number, signal.SIG_IGN)
    if _handling.ending is not None:
        end_descendants(os.getpid())
    for folder in list(_folders):
        _remove(folder)
    if _handling.ending is not None:  # at once: destroying all objects can take seconds
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(128 + _handling.ending)


@contextlib.contextmanager
def deferred(call: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Defers signals until the end of the section, if this process has our handlers. ``call`` is called when one
    arrives, to end the section soon."""
    if threading.current_thread() is not threading.main_thread():  # signals are only handled in the main thread
        yield
        return
    _handling.calls.append(call)
    _handling.depth += 1
    try:
        yield
    finally:
        _handling.calls.remove(call)
        _handling.depth -= 1
        if not _handling.depth and _handling.waiting is not None:
            number, _handling.waiting = _handling.waiting, None
            _act(number)


@contextlib.contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that is removed at the end of the section, unless it was renamed in it. Raises OSError."""
    _folders.add(folder)  # before it is made: a signal may arrive at any time
    try:
        folder.mkdir()
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, even one that is still written to; what remains is tried again at the end of the process."""
    for _ in range(10):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            _folders.discard(folder)
            return
        time.sleep(0.02)


def descendants(process: int) -> list[int]:
    """The processes that it started, and that these started, as far as they belong to its session and have not
    ended."""
    parents: dict[int, list[int]] = {}
    sessions: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                text = Path(entry.path, "stat").read_text(errors="replace")
                state, parent, _, session = text.rpartition(")")[2].split()[:4]
                sessions[int(entry.name)] = int(session)
                if state not in "ZX":
                    parents.setdefault(int(parent), []).append(int(entry.name))
    found = [process]
    for one in found:
        found += parents.get(one, [])
    return [one for one in found[1:] if sessions[one] == sessions.get(process, os.getsid(0))]


def end_descendants(process: int) -> None:
    """End all processes that a process started; those that do not end on request are killed."""
    for number, seconds in ((signal.SIGTERM, PATIENCE - 1), (signal.SIGKILL, PATIENCE)):
        told: set[int] = set()
        until = time.monotonic() + seconds
        while (left := descendants(process)) and time.monotonic() < until:
            for one in set(left) - told:
                _send(one, number)
            told |= set(left)
            time.sleep(0.02)


def _send(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def supervise(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program that calls :func:`follow_supervisor`, and return its exit code. Signals are forwarded to it; it
    then has ``GRACE`` seconds before it is killed with all that it started, and the exit code is 128 + n."""
    heeded = _heeded()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*heeded, signal.SIGCHLD})
    try:
        program = subprocess.Popen(command, env={**environment, SUPERVISOR: str(os.getpid())})
        number = _hand_on(program, {*heeded, signal.SIGCHLD})
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if number is not None:
        return 128 + number
    return program.returncode if program.returncode >= 0 else 128 - program.returncode


def _hand_on(program: subprocess.Popen[Any], watched: set[signal.Signals]) -> int | None:
    """Wait for the end of the program; returns the first signal that arrived meanwhile."""
    first, until = None, 0.0
    while program.poll() is None:
        info = (
            signal.sigwaitinfo(watched)
            if first is None
            else signal.sigtimedwait(watched, max(0.0, until - time.monotonic()))
        )
        if info is None:
            _kill(program)
        elif info.si_signo != signal.SIGCHLD:
            if first is None:
                first, until = info.si_signo, time.monotonic() + GRACE
            if info.si_code != FROM_TERMINAL:
                program.send_signal(info.si_signo)
    return first


def _kill(program: subprocess.Popen[Any]) -> None:
    """Kill a program and all processes that it started."""
    _send(program.pid, signal.SIGSTOP)  # so that it starts no more processes
    left = descendants(program.pid)
    for one in (program.pid, *left):
        _send(one, signal.SIGKILL)
    program.wait()


def follow_supervisor() -> None:
    """For a program started by :func:`supervise`, with its handlers installed: accept signals from here on, and end
    when the supervisor is gone."""
    supervisor = os.environ.pop(SUPERVISOR, None)
    if supervisor is None:
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
    if str(os.getppid()) != supervisor:
        os.kill(os.getpid(), signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {*ENDING, signal.SIGCHLD})

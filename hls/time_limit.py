"""A time limit for commands that process untrusted input."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from .diag import Code, CompileError, Diagnostic

__all__ = ["time_limit"]


class _TimeUp(BaseException):
    """Not an Exception, so that no handler mistakes it for a failure of the code it guards."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises CompileError in the block after so many seconds; 0 is no limit. For the main thread only, as for
    signals."""
    if not seconds:
        yield
        return

    def end(*_: object) -> None:
        raise _TimeUp

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _TimeUp:
        raise CompileError(
            Diagnostic(
                f"this takes longer than the {seconds:g} s of --time-limit",
                hint="unroll less, use fewer copies, or allow more time",
                code=Code.TIME_LIMIT,
            )
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

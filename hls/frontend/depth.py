"""Room for programs that nest deeply: the parser and the checker call themselves some fifteen times for each level."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_nesting"]

#: calls inside each other; more than 400 brackets need (see guard), and what a stack of 8 MiB has room for
_CALLS = 12_000

_lock = threading.Lock()
_inside, _before = 0, 0


@contextmanager
def deep_nesting() -> Iterator[None]:
    """Python allows more calls inside each other, until the last of the threads that are in here has left."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _CALLS))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)

"""Recursion limit for deeply nested programs: syntax trees, regions and chains of operations are traversed recursively,
deeper than Python's default limit if a program nests or its loops are unrolled."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_recursion"]

#: recursion depth that fits into a stack of 8 MiB, with a margin
DEFAULT = 20_000

_lock = threading.Lock()
_asked: list[int] = []  #: limits requested by the active blocks, in all threads
_before = 0


@contextmanager
def deep_recursion(limit: int = DEFAULT) -> Iterator[None]:
    """Raise Python's recursion limit to ``limit``, or to the highest limit that another active block requests, until
    the last thread has left such a block."""
    global _before
    with _lock:
        if not _asked:
            _before = sys.getrecursionlimit()
        _asked.append(limit)
        sys.setrecursionlimit(max(_before, *_asked))
    try:
        yield
    finally:
        with _lock:
            _asked.remove(limit)
            sys.setrecursionlimit(max([_before, *_asked]))

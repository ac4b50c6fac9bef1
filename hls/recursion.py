"""Room for programs that nest deeply: syntax trees, regions and chains of operations are walked by functions that call
themselves, deeper than Python's default allows where a program nests or its loops are unrolled."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["deep_recursion"]

#: what a stack of 8 MiB has room for, with a margin
DEFAULT = 20_000

_lock = threading.Lock()
_asked: list[int] = []  #: by the blocks that are being run, in all threads
_before = 0


@contextmanager
def deep_recursion(limit: int = DEFAULT) -> Iterator[None]:
    """Python allows ``limit`` calls inside each other, or more where another block asks for more, until the last of the
    threads that are in such a block has left."""
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

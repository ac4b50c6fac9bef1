"""What the author knows of a type and a type checker does not: the same statement, checked while the program runs.

Both functions return their argument. They are for facts that hold for every input, such as that a load takes a pointer
from an operation; what a user's program can make false is a message.
"""

from typing import TypeVar

__all__ = ["instance", "present"]

T = TypeVar("T")


def instance(x: object, kind: type[T]) -> T:
    """``x``, which is a ``kind``; TypeError if it is not."""
    if not isinstance(x, kind):
        raise TypeError(f"{x!r} is no {kind.__name__}")
    return x


def present(x: T | None) -> T:
    """``x``, which is not None; TypeError if it is."""
    if x is None:
        raise TypeError("None where there must be a value")
    return x

"""Names of what the compiler adds to a program."""

import itertools
from collections.abc import Container

__all__ = ["unused_name"]


def unused_name(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if it is taken."""
    names = (f"{name}{number or ''}" for number in itertools.count())
    return next(each for each in names if each not in taken)

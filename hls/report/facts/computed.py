"""Figures that are computed from the fields of a record and shown beside them."""

from functools import cache

__all__ = ["computed", "computed_names"]


class computed(property):
    """A property that the JSON form and its schema include as if it were a field; its type is that of its result."""


@cache
def computed_names(record: type) -> tuple[str, ...]:
    """The names of the computed figures of a record's class, in the order of their definition."""
    return tuple(
        name for one in reversed(record.__mro__) for name, value in vars(one).items() if isinstance(value, computed)
    )

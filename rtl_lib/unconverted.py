"""Designs that are made, and perhaps never converted.

Amaranth warns of each part that is deleted before it was elaborated, as one that was forgotten. The compiler fills a
design for its interface, and converts it when its Verilog is first read: until then all its parts are unused, and
nobody has forgotten one.
"""

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from amaranth._unused import MustUse

__all__ = ["perhaps_unconverted"]

_active = threading.local()  #: ``made``: the parts of the design that this thread makes
_stock = MustUse.__new__


def _new(cls: type, *args: Any, src_loc_at: int = 0, **options: Any) -> Any:
    part = _stock(cls, *args, src_loc_at=1 + src_loc_at, **options)
    made = getattr(_active, "made", None)
    if made is not None:
        part._MustUse__silence = True
        made.append(weakref.ref(part))
    return part


setattr(MustUse, "__new__", _new)  # noqa: B010 - a method, for the checker of types


@contextmanager
def perhaps_unconverted() -> Iterator[Callable[[], None]]:
    """Of the parts that this thread makes in the block, no warning says that they are unused, unless the function that
    this yields is called: when the design is converted, Amaranth warns of what is in no design, as ever."""
    made, before = list[weakref.ref[Any]](), getattr(_active, "made", None)

    def converted() -> None:
        for one in made:
            part = one()
            if part is not None:
                part._MustUse__silence = False

    _active.made = made
    try:
        yield converted
    finally:
        _active.made = before

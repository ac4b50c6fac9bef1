"""The sentences of loops, which the page shows as they are: those of report.txt."""

from dataclasses import replace

from .causes import say_cause
from .loop_text import say_conflict, say_loop
from .model import Bottleneck, Loop

__all__ = ["worded"]


def worded(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops with the sentences of their records. Locations are those of the reader of
    :func:`hls.report.phrasing.reader_of`."""
    return tuple(
        replace(
            loop,
            sentence=say_loop(loop),
            bottleneck=_cause(loop.bottleneck) if loop.bottleneck else None,
            serial=tuple(replace(region, cause=_cause(region.cause)) for region in loop.serial),
            additional=tuple(map(_cause, loop.additional)),
            conflicts=tuple(replace(one, sentence=say_conflict(one)) for one in loop.conflicts),
            children=worded(loop.children),
        )
        for loop in loops
    )


def _cause(cause: Bottleneck) -> Bottleneck:
    return replace(cause, sentence=say_cause(cause))

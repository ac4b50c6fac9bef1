"""What loops are called where people read of them."""

from collections import defaultdict
from collections.abc import Iterable

from ..diag import Span
from .nodes import Op

__all__ = ["Place", "loop_names", "place_of"]

Place = tuple[Span | None, str]  #: where a loop stands in the source, and its label


def place_of(loop: Op) -> Place:
    """The place of a loop, which all its copies share."""
    return loop.span, loop.attrs.get("label", "")


def loop_names(places: Iterable[Place]) -> dict[Place, str]:
    """What each loop is called among those of its kernel: its label, with the line where several have that."""
    spans: defaultdict[str, set[Span | None]] = defaultdict(set)
    places = list(places)
    for span, label in places:
        spans[label].add(span)
    return {
        (span, label): label if len(spans[label]) == 1 or span is None else f"{label}@{span.line}"
        for span, label in places
    }

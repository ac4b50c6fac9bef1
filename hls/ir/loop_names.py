"""Names of loops in reports and messages."""

from collections import defaultdict
from collections.abc import Iterable

from ..diag import Span
from .attributes import Attr
from .nodes import Op

__all__ = ["RESTART", "Place", "loop_names", "place_of"]

#: the ``form`` of the loop that restarts an autorun kernel
RESTART = "restart"
Place = tuple[Span | None, str]  #: source location of a loop, and its label


def place_of(loop: Op) -> Place:
    """The place of a loop, which all its copies share."""
    return loop.span, loop.attrs.get(Attr.LABEL, "")


def loop_names(places: Iterable[Place]) -> dict[Place, str]:
    """The name of each loop among those of its kernel: its label, with the line if several loops have that label."""
    spans: defaultdict[str, set[Span | None]] = defaultdict(set)
    places = list(places)
    for span, label in places:
        spans[label].add(span)
    return {
        (span, label): label if len(spans[label]) == 1 or span is None else f"{label}@{span.line}"
        for span, label in places
    }

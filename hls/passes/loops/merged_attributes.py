"""Attributes of loops that are coalesced or fused, and a record of it."""

from dataclasses import dataclass

from ...diag import Span
from ...ir import Attr, Op, is_access, memory_name, walk

__all__ = ["CONTROLS", "Merged", "common_promises", "declared_anew", "own_promises", "take_over"]

#: attributes by which the source controls a loop's hardware
CONTROLS = (
    Attr.II,
    Attr.MAX_CONCURRENCY,
    Attr.MAX_INTERLEAVING,
    Attr.SPECULATED_ITERATIONS,
    Attr.DISABLE_LOOP_PIPELINING,
    Attr.FEED_FORWARD,
)


@dataclass(frozen=True)
class Merged:
    """The loop of the source at ``span`` is part of the one at ``into``: ``how`` is "coalesced" (it was inside) or
    "fused" (it followed). Or "split": the loop at ``span`` is none of the source, and does a part of each iteration of
    the one at ``into``. ``by_test``: an iteration of the coalesced loop is one of either, not one of the inner loop.
    ``flattened``: planning chose it for a nest whose inner loop may run seldom."""

    kernel: str
    span: Span | None
    into: Span | None
    how: str
    by_test: bool = False
    flattened: bool = False


def take_over(loop: Op, other: Op) -> list[str]:
    """Copy the attributes of ``other`` to ``loop`` if it has none of its own; returns those that are lost because it
    has a different value."""
    lost = []
    for name in CONTROLS:
        if name in other.attrs and loop.attrs.setdefault(name, other.attrs[name]) != other.attrs[name]:
            lost.append(name)
    return lost


def common_promises(first: Op, second: Op) -> tuple[tuple[str, int], ...]:
    """The ``ivdep`` of one loop for both: (memory or "" for all, safelen or 0), as far as both assert it."""
    found: dict[str, int] = {}
    for memory, safelen in first.attrs.get(Attr.IVDEP, ()):
        for other, least in second.attrs.get(Attr.IVDEP, ()):
            if memory == other or "" in (memory, other):
                known = found.get(memory or other, 1)
                found[memory or other] = (
                    _weaker(safelen, least) if known == 1 else _stronger(known, _weaker(safelen, least))
                )
    return tuple(found.items())


def declared_anew(first: Op, second: Op) -> tuple[str, ...]:
    """The memories that iterations of one loop for both declare, as far as that matters for ``ivdep``."""
    return tuple(sorted({*first.attrs.get(Attr.ANEW, ()), *second.attrs.get(Attr.ANEW, ())}))


def own_promises(first: Op, second: Op) -> tuple[tuple[str, int], ...]:
    """The ``ivdep`` of two fused loops: what one of them asserts of memories that the other does not access."""
    found: dict[str, int] = {}
    for loop, other in ((first, second), (second, first)):
        mine, others = ({memory_name(op) for op in walk(each.regions[0]) if is_access(op)} for each in (loop, other))
        for memory, safelen in loop.attrs.get(Attr.IVDEP, ()):
            for name in (mine if not memory else {memory}) - others:
                found[name] = _stronger(found.get(name, safelen), safelen)
    return tuple(sorted(found.items()))


def _weaker(a: int, b: int) -> int:
    """The safelen that holds where both hold; 0 is unlimited."""
    return min(a or b, b or a)


def _stronger(a: int, b: int) -> int:
    return 0 if not a or not b else max(a, b)

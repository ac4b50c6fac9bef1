"""Reports what became of source loops that are no loops in hardware, by observing the passes."""

from collections import Counter

from ..diag import Span
from ..ir import Function, walk
from ..ir.loop_names import Place, place_of
from ..passes.inspection import Inspection

__all__ = ["NEVER", "ONCE", "REMOVED", "REPLACED", "LoopWatch"]

NEVER, ONCE, REMOVED, REPLACED = "never runs", "runs once", "removed", "replaced"
#: passes that remove unused operations, and those that evaluate trip counts
UNUSED = frozenset({"dead-code-elimination", "dead-store-elimination"})
COUNTING = frozenset({"constant-folding", "unroll", "simplify-single-work-item", "conditional-specialization"})


class LoopWatch(Inspection):
    """Observes the passes of one kernel; ``gone`` says for each location whose last loop was removed what became of
    it."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: dict[Place, str] = {}
        self._seen: dict[Place, frozenset[Span]] = {}

    def before(self, function: Function) -> None:
        """Remember the loops of a kernel before the passes."""
        if function.kind == "kernel":
            self._seen |= _loops(function)

    def after(self, stage: str, name: str, function: Function, changed: bool | None) -> None:
        """Record for each location whose last loop the pass ``name`` removed what became of it."""
        if changed is False or function.kind != "kernel":
            return
        now = _loops(function)
        for place in self._seen.keys() - now.keys():
            self.gone[place] = _why(name, self._seen[place], function)
        self._seen = now


def _why(name: str, inside: frozenset[Span], function: Function) -> str:
    """Why a loop was removed; ``inside`` are the locations of the operations it contained."""
    if name in UNUSED:
        return REMOVED
    if name not in COUNTING:
        return REPLACED
    return ONCE if any(op.span in inside for op in walk(function.body)) else NEVER


def _loops(function: Function) -> dict[Place, frozenset[Span]]:
    """The locations of all loops, each with those of the operations directly in it."""
    loops = [op for op in walk(function.body) if op.opcode == "loop"]
    everywhere = Counter(op.span for op in walk(function.body))
    found = {}
    for loop in loops:
        inside = Counter(op.span for op in walk(loop.regions[0]) if op.span)
        found[place_of(loop)] = frozenset(span for span, count in inside.items() if count == everywhere[span])
    return found

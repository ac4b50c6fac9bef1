"""What became of loops of the source that are no loops in hardware, found out by looking at the passes."""

from collections import Counter

from ..diag import Span
from ..ir import Function, walk
from ..ir.loop_names import Place, place_of
from ..passes.inspection import Inspection

__all__ = ["NEVER", "ONCE", "REMOVED", "REPLACED", "LoopWatch"]

NEVER, ONCE, REMOVED, REPLACED = "never runs", "runs once", "removed", "replaced"
#: passes that take away what nobody needs, and those that know how often a loop runs
UNUSED = frozenset({"dead-code-elimination", "dead-store-elimination"})
COUNTING = frozenset({"constant-folding", "unroll", "simplify-single-work-item", "conditional-specialization"})


class LoopWatch(Inspection):
    """Looks at the passes of one kernel; ``gone`` says of each place whose last loop went what became of it."""

    def __init__(self):
        super().__init__()
        self.gone: dict[Place, str] = {}
        self._seen: dict[Place, frozenset[Span]] = {}

    def before(self, function: Function) -> None:
        if function.kind == "kernel":
            self._seen |= _loops(function)

    def after(self, stage: str, name: str, function: Function, changed: bool | None) -> None:
        if changed is False or function.kind != "kernel":
            return
        now = _loops(function)
        for place in self._seen.keys() - now.keys():
            self.gone[place] = _why(name, self._seen[place], function)
        self._seen = now


def _why(name: str, inside: frozenset[Span], function: Function) -> str:
    """``inside``: the places of what the loop did."""
    if name in UNUSED:
        return REMOVED
    if name not in COUNTING:
        return REPLACED
    return ONCE if any(op.span in inside for op in walk(function.body)) else NEVER


def _loops(function: Function) -> dict[Place, frozenset[Span]]:
    """The places of all loops, each with those of what is in it alone."""
    loops = [op for op in walk(function.body) if op.opcode == "loop"]
    everywhere = Counter(op.span for op in walk(function.body))
    found = {}
    for loop in loops:
        inside = Counter(op.span for op in walk(loop.regions[0]) if op.span)
        found[place_of(loop)] = frozenset(span for span, count in inside.items() if count == everywhere[span])
    return found

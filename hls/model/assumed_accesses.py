"""Where accesses to global memory go if no run has told: as far as the strides of their addresses say."""

from ..analysis.memory.strides import AccessPattern, access_patterns
from ..diag import Span, at_line
from ..ir import Op
from .estimate import Planned
from .moved_words import moved_words, runs_of
from .runs import RunCounts
from .workload import AccessRuns, Place

__all__ = ["AssumedAccesses"]


class AssumedAccesses:
    """The accesses to global memory of one planned kernel; ``assumed`` says what is taken for granted of them."""

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        patterns = access_patterns(planned.function)
        self._patterns: dict[Op, AccessPattern] = {op: patterns[op] for op in planned.memory.outside}

    @property
    def assumed(self) -> tuple[str, ...]:
        """A sentence for each access whose addresses are not known, and for loads that may meet stores."""
        found = []
        for op, access in self.planned.memory.outside.items():
            steps = [step for _, step in self._patterns[op].steps]
            what = f"{access.direction} of {access.memory}{at_line(access.span)}"
            if any(not step.regular for step in steps):
                found.append(f"{what}: its addresses depend on data; each is in another word of memory")
            elif any(step.amount is None for step in steps):
                found.append(f"{what}: a stride that is known only at run time is a word of memory or more")
        if any(op in self._patterns for hazard in self.planned.memory.hazards.values() for op in hazard.loads):
            found.append("no load meets a store to its own address that is under way")
        return tuple(dict.fromkeys(found))

    def runs(self, counts: RunCounts, row_bytes: int) -> tuple[AccessRuns, ...]:
        """What the accesses of each place do with those counts of the loops."""
        places: dict[tuple[str, Span], list[Op]] = {}
        for op in self.planned.memory.outside:
            if op.span is not None and op.opcode in ("load", "store", "atomic"):
                places.setdefault((op.opcode, op.span), []).append(op)
        return tuple(self._of_place(*key, ops, counts, row_bytes) for key, ops in places.items())

    def _of_place(self, kind: str, span: Span, ops: list[Op], counts: RunCounts, row_bytes: int) -> AccessRuns:
        """What all accesses of the schedule at one place of the source do together."""
        access = self.planned.memory.accesses[ops[0]]
        place = Place("" if span.file == self.planned.main else span.file, span.line, span.column)
        moved = [moved_words(self._patterns[op], counts, access.word_bytes, row_bytes) for op in ops]
        return runs_of(place, kind, access, moved)

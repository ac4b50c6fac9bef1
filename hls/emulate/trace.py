"""Writes the hooks by which a planned program records what every iteration does (``trace.h``)."""

from collections.abc import Collection
from dataclasses import dataclass, field

from ..ir import Attr, Op, lane_mask
from .observe import COUNTERS, NotObserved

__all__ = ["LAST_COLUMN", "TRACE_BYTES", "TraceTables", "Tracer"]

#: most bytes of the record of one loop
TRACE_BYTES = 1 << 32
#: where a token is a work-item that meets others, the column that says whether it is the last of its group
LAST_COLUMN = 1
#: columns before those of operations in the rows of such a loop over work-items, and of a barrier loop (see trace_turn)
GROUP_COLUMNS, RING_COLUMNS = 2, 4


@dataclass
class TraceTables:
    """Where the record of a launch has what: ``tops`` are the numbers of the kernels' bodies among the loops,
    ``loops`` those of loops, ``columns`` the first column of each operation in the rows of the loop it stands in,
    ``outcomes`` the places of calls that do not block, ``units`` those of the compute units of kernels that ask for
    them, and ``widths`` the columns of each loop. Column 0 says whether an iteration is the last; the rows of
    work-items that meet have more of that kind (``trace.h``)."""

    tops: dict[str, int] = field(default_factory=dict)
    loops: dict[Op, int] = field(default_factory=dict)
    columns: dict[Op, int] = field(default_factory=dict)
    outcomes: dict[Op, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    widths: list[int] = field(default_factory=list)

    @property
    def timed(self) -> int:
        """The number of places where what happens depends on the cycle."""
        return len(self.outcomes) + len(self.units)


class Tracer(NotObserved):
    """Records the operations that are ``wanted``, and all loops."""

    headers, late_headers = ("trace.h",), ("rewind.h",)
    checks_promises = False  # the kernels are planned ones, which show less of it than the source

    def __init__(self, wanted: Collection[Op]) -> None:
        self.wanted = frozenset(wanted)
        self.trace = TraceTables()
        self._inside: list[int] = []

    def head(self) -> list[str]:
        """The definitions before the runtime: the size of the trace buffer in bytes."""
        return ["#define OBSERVED", f"#define TRACE_BYTES {TRACE_BYTES}ull"]

    def tail(self, buffers: list[bool]) -> list[str]:
        """The constants after the program: the number of loops, the columns that each records, and whether it is a
        barrier loop."""
        widths = ", ".join(map(str, self.trace.widths)) or "0"
        count = len(self.trace.widths)
        rings = {number for loop, number in self.trace.loops.items() if loop.attrs.get(Attr.RING)}
        turns = ", ".join(str(int(k in rings)) for k in range(count)) or "0"
        return [
            f"const u32 trace_loops = {count}, trace_width[] = {{{widths}}};",
            f"const bool trace_turns[] = {{{turns}}};",
            f"const u32 trace_outcomes = {self.trace.timed};",
        ]

    def start(self, function: str) -> str:
        """Number the function itself as a loop, and return the C statement that begins its only row."""
        self._inside = [self._new_loop()]
        self.trace.tops[function] = self._inside[0]
        top = self._inside[0]
        return f"{self._row(top)} trace_mark({COUNTERS}, {top}, 0, 1);"

    def enter(self, function: str, loop: Op, last: str = "") -> str:
        """Number the loop, and return the C statement that begins a row for an iteration. In a loop whose tokens are
        work-items that meet, ``last`` says which is the last of its group."""
        if not self._inside:
            return ""  # in the model of a module of the user
        self._column(loop)
        turns = bool(loop.attrs.get(Attr.RING))
        number = self.trace.loops[loop] = self._new_loop(RING_COLUMNS if turns else GROUP_COLUMNS if last else 1)
        self._inside.append(number)
        if turns:
            return f"trace_turn({COUNTERS}, {number}, trace_width[{number}], {last});"
        mark = f" trace_mark({COUNTERS}, {number}, {LAST_COLUMN}, {last});" if last else ""
        return self._row(number) + mark

    def leave(self, trips: str) -> str:
        """The C statement that records ``trips`` in the row of the loop around the innermost one."""
        if not self._inside:
            return ""
        *_, outer, number = self._inside
        loop = next(op for op, found in self.trace.loops.items() if found == number)
        column = self.trace.columns[loop]
        if loop.attrs.get(Attr.RING):
            return f"trace_leave_turns({COUNTERS}, {number}, {outer}, {column});"
        return f"trace_leave({COUNTERS}, {number}, {trips}, {outer}, {column});"

    def skipped(self) -> str:
        """Close the innermost loop; an invocation without iterations records nothing more."""
        if not self._inside:
            return ""
        self._inside.pop()
        return ";"

    def access(self, function: str, op: Op, pointer: str, bytes: int, last: str | None = None) -> str:
        """The C expression that records ``pointer`` and has its value; only ``pointer`` if the operation is not
        wanted."""
        if op not in self.wanted:
            return pointer
        if lane_mask(op) is not None:
            return f"traced_lane({COUNTERS}, {self._inside[-1]}, {self._column(op, 3)}, {pointer})"
        place = f"{COUNTERS}, {self._inside[-1]}, {self._column(op, 2)}, {pointer}"
        return f"traced({place})" if last is None else f"traced_run({place}, {last})"

    def lanes(self, op: Op, predicate: str, pointer: str) -> list[str]:
        """The C statements that record where lane 0 of an access lies, before those of its enabled lanes."""
        if op not in self.wanted:
            return []
        place = f"{COUNTERS}, {self._inside[-1]}, {self._column(op, 3)}, {pointer}"
        return [f"if ({predicate}) trace_lanes({place});"]

    def event(self, op: Op, facts: list[tuple[str, str]]) -> list[str]:
        """The C statements that record the number of each of ``facts`` (condition, number) that holds; none if the
        operation is not wanted."""
        if op not in self.wanted:
            return []
        first, loop = self._column(op, len(facts)), self._inside[-1]
        return [
            f"if ({condition}) trace_mark({COUNTERS}, {loop}, {first + k}, {number});"
            for k, (condition, number) in enumerate(facts)
        ]

    def call(self, function: str, op: Op, done: str) -> str:
        """The C statement after a call on a channel: it was made, or, of a call that does not block, the number of its
        outcome plus 1; none if it is not wanted."""
        if op not in self.wanted:
            return ""
        number = self.trace.outcomes.get(op)
        made = "1" if number is None else f"{COUNTERS}->outcomes[{number}].next"
        return f"trace_mark({COUNTERS}, {self._inside[-1]}, {self._column(op)}, {made});"

    def outcome(self, op: Op, queue: str, writes: str, site: int) -> str:
        """The C expression that decides whether a call that does not block transfers a value: as hardware, where the
        replay knows it, else by an assumption."""
        number = self.trace.outcomes.setdefault(op, self.trace.timed)
        return f"outcome(item, {number}, {queue}, {writes}, {site})"

    def unit(self, function: str, units: int) -> str:
        """The C expression for the compute unit, one of ``units``, that runs a group."""
        number = self.trace.units.setdefault(function, self.trace.timed)
        return f"unit_of(item, {number}, {units})"

    def _new_loop(self, columns: int = 1) -> int:
        self.trace.widths.append(columns)
        return len(self.trace.widths) - 1

    def _row(self, loop: int) -> str:
        # the width is only known when the whole text is written
        return f"trace_row({COUNTERS}, {loop}, trace_width[{loop}]);"

    def _column(self, op: Op, count: int = 1) -> int:
        """The first of the operation's ``count`` columns in the rows of the innermost loop."""
        if op not in self.trace.columns:
            loop = self._inside[-1]
            self.trace.columns[op] = self.trace.widths[loop]
            self.trace.widths[loop] += count
        return self.trace.columns[op]

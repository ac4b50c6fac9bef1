"""Launches that have not ended: autorun kernels, which wait for more when the others have.

Their record is made whole for a replay: the row of a loop says where the invocation inside it began that is still
running. The next replay goes on with the iterations in which this one left off.
"""

import ctypes
from dataclasses import dataclass, field

import numpy as np

from hls.ir import Op
from hls.model.estimate import Planned
from hls.model.replay import NotReplayed
from hls.model.replay.machine import Columns

__all__ = ["Endless"]


@dataclass
class _Left:
    """An iteration that has begun: its loop, the number of its row, and what it had done when the replay ended."""

    loop: Op
    row: int
    done: np.ndarray


@dataclass
class Endless:
    """The record of a kernel that has not ended, for one replay after the other."""

    planned: Planned
    columns: Columns
    widths: list[int]
    _left: list[_Left] = field(default_factory=list)  #: outermost first

    def complete(self, records: list[tuple[int, int]]) -> int:
        """Complete the record, and leave out what was replayed before, whenever it was written. Returns the number of
        the record whose newest row is not complete, plus 1; 0 if there is none. Raises NotReplayed."""
        if len(self._loops(None)) != 1:
            raise NotReplayed("an autorun kernel that is not one endless loop", self.planned.function.span)
        self._note_open(records, None)
        around: Op | None = None
        at = 0  # the row around
        for left in self._left:
            outer, row = self._rows(records, around)[at], self._rows(records, left.loop)[left.row]
            row[np.nonzero(left.done)] = 0
            outer[self.columns.columns[left.loop]] = left.row + 1
            around, at = left.loop, left.row
        running = self._open(records)
        return self.columns.loops[running[-1][0]] + 1 if running else 0

    def leave(self, records: list[tuple[int, int]]) -> None:
        """The replay has ended: what was done until now will be left out of the next one."""
        self._left = [_Left(loop, row, self._rows(records, loop)[row].copy()) for loop, row in self._open(records)]

    def _open(self, records: list[tuple[int, int]]) -> list[tuple[Op, int]]:
        """The loops that have not ended, outermost first, and their newest rows."""
        found: list[tuple[Op, int]] = []
        around: Op | None = None
        while True:
            inner = [loop for loop in self._loops(around) if self._first_open(records, loop) is not None]
            if not inner:
                return found
            around = inner[0]
            found.append((around, len(self._rows(records, around)) - 1))

    def _note_open(self, records: list[tuple[int, int]], around: Op | None) -> None:
        """Note in the newest row of a loop which invocation inside has not ended."""
        for loop in self._loops(around):
            first = self._first_open(records, loop)
            if first is not None:
                self._rows(records, around)[-1][self.columns.columns[loop]] = first + 1
                self._note_open(records, loop)

    def _first_open(self, records: list[tuple[int, int]], loop: Op) -> int | None:
        """The first row of the invocation of a loop that has not ended."""
        rows = self._rows(records, loop)
        ends = np.nonzero(rows[:, 0])[0]
        first = int(ends[-1]) + 1 if len(ends) else 0
        return first if first < len(rows) else None

    def _loops(self, around: Op | None) -> list[Op]:
        """The loops directly inside of one, or of the kernel."""
        region = self.planned.plan.top if around is None else self.planned.plan.loops[around]
        return [row.op for level in region.levels for row in level.row if row.op.opcode == "loop"]

    def _rows(self, records: list[tuple[int, int]], loop: Op | None) -> np.ndarray:
        number = self.columns.top if loop is None else self.columns.loops[loop]
        (place, count), width = records[number], self.widths[number]
        if not count:
            return np.zeros((0, width), np.uint64)
        memory = (ctypes.c_uint64 * (count * width)).from_address(place)
        return np.ctypeslib.as_array(memory).reshape(count, width)

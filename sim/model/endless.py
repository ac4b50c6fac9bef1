"""Launches that have not ended: autorun kernels, which wait for more when the others have.

Their record is made whole for a replay: the row of a loop says where the invocation inside it began that is still
running. The next replay goes on with the iteration in which this one left off.
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
class Endless:
    """The record of a kernel that has not ended, for one replay after the other."""

    planned: Planned
    columns: Columns
    widths: list[int]
    _replayed: int = 0  #: iterations of the endless loop that were replayed to their end
    _done: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))  #: what the one after them has done
    _inside: bool = False  #: whether it had begun a loop

    def continue_with(self, records: list[tuple[int, int]]) -> None:
        """Complete the record, and leave out what was replayed before. Raises NotReplayed."""
        loops = self._loops(None)
        if len(loops) != 1:
            raise NotReplayed("an autorun kernel that is not one endless loop", self.planned.function.span)
        (outer,) = loops
        rows = self._rows(records, outer)
        if not len(rows):
            return
        if self._inside:
            raise NotReplayed("an autorun kernel that continues in the middle of an inner loop", outer.span)
        row = rows[self._replayed]
        row[np.nonzero(self._done)] = 0  # was done in the replay before
        self._rows(records, None)[0][self.columns.columns[outer]] = self._replayed + 1
        self._replayed, self._inside = len(rows) - 1, self._note_open(records, outer)
        self._done = rows[-1].copy()

    def _note_open(self, records: list[tuple[int, int]], around: Op) -> bool:
        """Note in the last row of a loop which invocations inside have not ended; returns whether any has not."""
        found = False
        for loop in self._loops(around):
            rows = self._rows(records, loop)
            ends = np.nonzero(rows[:, 0])[0]
            first = int(ends[-1]) + 1 if len(ends) else 0
            if first < len(rows):
                self._rows(records, around)[-1][self.columns.columns[loop]] = first + 1
                self._note_open(records, loop)
                found = True
        return found

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

"""The host's copy of a board's memory: what of it the board does not have yet, and what the board has changed."""

from collections.abc import Iterator

import numpy as np

from hls.export.soc_map import SOC_MAP
from sim.shared import SharedMemory

from .bus import Bus, Words

__all__ = ["MirroredMemory"]

WORD = 4
#: words that are the same and lie between others are sent with them, if there are no more: a command costs as much
GAP = 4


class MirroredMemory:
    """``memory`` is what host programs read and write; ``bridge`` leads to the board's own."""

    def __init__(self, bridge: Bus, memory: SharedMemory) -> None:
        self._bridge, self._memory = bridge, memory
        self._host: Words = memory.contents.view(np.uint32)
        self._board: Words = np.zeros(len(self._host), np.uint32)  #: what the board has, where that is known
        self._known = np.zeros(len(self._host), bool)

    def upload(self, address: int) -> None:
        """Write the buffer around this address to the board, where they differ. Raises DeviceError."""
        for part in self._buffer(address):
            wanted = self._host[part]
            for run in _runs(~self._known[part] | (self._board[part] != wanted)):
                words = wanted[run].copy()
                place = slice(part.start + run.start, part.start + run.stop)
                self._known[place] = False  # if the line fails meanwhile
                self._bridge.fill(SOC_MAP.memory + WORD * place.start, words)
                self._board[place], self._known[place] = words, True

    def download(self, address: int) -> None:
        """Read the buffer around this address; what the board has changed is what the host reads from then on. Raises
        DeviceError, after which the host's bytes are as before."""
        for part in self._buffer(address):
            found = self._bridge.read(SOC_MAP.memory + WORD * part.start, part.stop - part.start)
            changed = found != self._board[part]
            self._host[part][changed] = found[changed]
            self._board[part] = found

    def _buffer(self, address: int) -> Iterator[slice]:
        """The words of the allocation that holds the address."""
        for begin, end in self._memory.published:
            if begin <= address < end:
                yield slice(begin // WORD, -(-end // WORD))


def _runs(wanted: np.ndarray) -> Iterator[slice]:
    """The stretches of words that are wanted, with small gaps between them filled."""
    places = np.flatnonzero(wanted)
    if not len(places):
        return
    cuts = np.flatnonzero(np.diff(places) > GAP + 1)
    for first, last in zip([0, *(cuts + 1)], [*cuts, len(places) - 1], strict=True):
        yield slice(int(places[first]), int(places[last]) + 1)

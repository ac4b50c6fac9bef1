"""How load and store units combine consecutive words into bursts."""

from dataclasses import dataclass

__all__ = ["Burst", "BurstBuilder"]

MAX_BURST = 16  #: words
ALIGN = 1024  #: bytes; no burst crosses a multiple of it


@dataclass(frozen=True)
class Burst:
    """``words`` consecutive words from number ``first`` on."""

    first: int
    words: int


class BurstBuilder:
    """One open burst. It goes when it is full, when it is told to close, or when a word comes that does not continue
    it."""

    def __init__(self, word_bytes):
        self.align = ALIGN // word_bytes
        self.first = self.words = 0  # no words: nothing is open

    @property
    def open(self):
        return self.words > 0

    def step(self, word, close, urgent, room):
        """One cycle with ``word`` on offer (None: none). Returns (whether it was taken, the burst that goes or None).

        ``urgent``: a word that comes while nothing is open goes at once. ``room``: a burst can go.
        """
        if not self.open:
            return self._begin(word, urgent, room)
        following = self.first + self.words
        ends = close or self.words == MAX_BURST or following % self.align == 0
        if word is not None and word == following and not ends:
            self.words += 1
            return True, None
        if not room or not (ends or word is not None):
            return False, None
        burst = Burst(self.first, self.words)
        self.first, self.words = (word, 1) if word is not None else (0, 0)
        return word is not None, burst

    def _begin(self, word, urgent, room):
        if word is None or urgent and not room:
            return False, None
        if urgent:
            return True, Burst(word, 1)
        self.first, self.words = word, 1
        return True, None

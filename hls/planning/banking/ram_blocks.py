"""How many block RAMs a bank takes."""

from dataclasses import dataclass, replace

__all__ = ["Blocks"]

#: words of a block at its full width; twice as many at half of that, and so on
SHALLOWEST = 512
#: logic cells that a block RAM stands for: as many as there are for each on the larger devices
CELLS_OF_BLOCK = 92
#: words that a logic cell holds a bit of
WORDS_OF_CELL = 32
#: memories up to this size are kept in tables
SMALL_BITS = 640


@dataclass(frozen=True)
class Blocks:
    """Blocks of the device: so many ``bits`` each (the Stratix family's M20K unless given). Memories of up to ``small``
    bits are kept in tables; with None all are."""

    bits: int = 20480
    small: int | None = SMALL_BITS

    def of_kind(self, kind: str | bool | None) -> "Blocks":
        """For a memory whose declaration names a kind of RAM."""
        if kind in ("BLOCK_RAM", "M20K"):
            return replace(self, small=0)
        return replace(self, small=None) if kind == "MLAB" else self

    def count(self, words: int, width: int, dual: bool | None = None) -> int:
        """Blocks for ``words`` of ``width`` bits, in the shape that takes the fewest; 0 where tables are cheaper. They
        are no choice if it is said whether the blocks are ``dual``: of those both ports read, and the widest words are
        half as wide."""
        if not self.bits or dual is None and (self.small is None or words * width <= self.small):
            return 0
        widest = self.bits // SHALLOWEST
        shapes = ((SHALLOWEST << k, widest >> k) for k in range(int(bool(dual)), widest.bit_length()))
        return min(-(-words // depth) * -(-width // bits) for depth, bits in shapes)

    def area(self, words: int, width: int) -> int:
        """Logic cells that the memory stands for, in blocks or in tables."""
        blocks = self.count(words, width)
        return CELLS_OF_BLOCK * blocks if blocks else -(-words // WORDS_OF_CELL) * width

"""How many block RAMs a bank takes."""

from dataclasses import dataclass

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
    """Blocks of the device: so many ``bits`` each. (The Stratix family's M20K unless given.)"""

    bits: int = 20480

    def count(self, words: int, width: int, dual: bool | None = None) -> int:
        """Blocks for ``words`` of ``width`` bits, in the shape that takes the fewest; 0 where tables are cheaper. They are no choice if
        it is said whether the blocks are ``dual``: of those both ports read, and the widest words are half as wide."""
        if not self.bits or words * width <= SMALL_BITS and dual is None:
            return 0
        widest = self.bits // SHALLOWEST
        shapes = ((SHALLOWEST << k, widest >> k) for k in range(int(bool(dual)), widest.bit_length()))
        return min(-(-words // depth) * -(-width // bits) for depth, bits in shapes)

    def area(self, words: int, width: int) -> int:
        """Logic cells that the memory stands for, in blocks or in tables."""
        blocks = self.count(words, width)
        return CELLS_OF_BLOCK * blocks if blocks else -(-words // WORDS_OF_CELL) * width

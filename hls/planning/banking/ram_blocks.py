"""How many block RAMs a bank takes."""

from dataclasses import dataclass, replace

__all__ = ["Blocks"]

#: words of a block at its full width; twice as many at half the width, and so on
SHALLOWEST = 512
#: area of a block RAM in logic cells: their ratio on the larger devices
CELLS_OF_BLOCK = 92
#: one bit of so many words fits into a logic cell
WORDS_OF_CELL = 32
#: memories up to this size are built of lookup tables
SMALL_BITS = 640


@dataclass(frozen=True)
class Blocks:
    """Block RAMs of the device, of ``bits`` bits each (the Stratix family's M20K unless given). Memories of up to
    ``small`` bits are built of lookup tables; with None all are."""

    bits: int = 20480
    small: int | None = SMALL_BITS

    def of_kind(self, kind: str | bool | None) -> "Blocks":
        """The blocks for a memory whose declaration names a kind of RAM."""
        if kind in ("BLOCK_RAM", "M20K"):
            return replace(self, small=0)
        return replace(self, small=None) if kind == "MLAB" else self

    def count(self, words: int, width: int, dual: bool | None = None) -> int:
        """Blocks for ``words`` of ``width`` bits, in the shape that takes the fewest; 0 where tables are cheaper.
        Tables are not considered if ``dual`` is given: a true dual-port block reads at both ports, and its widest words
        are half as wide."""
        if not self.bits or dual is None and (self.small is None or words * width <= self.small):
            return 0
        widest = self.bits // SHALLOWEST
        shapes = ((SHALLOWEST << k, widest >> k) for k in range(int(bool(dual)), widest.bit_length()))
        return min(-(-words // depth) * -(-width // bits) for depth, bits in shapes)

    def area(self, words: int, width: int) -> int:
        """Area of the memory in logic cells, built of blocks or tables."""
        blocks = self.count(words, width)
        return CELLS_OF_BLOCK * blocks if blocks else -(-words // WORDS_OF_CELL) * width

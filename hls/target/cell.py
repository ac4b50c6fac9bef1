"""Logic cells of devices, as data: what a cell holds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from .table import Table, read_toml

__all__ = ["LogicCell", "logic_cells"]

#: tables for a bit of the multiplexer between two rows of a memory
ROW_TABLES = 2 / 3
#: Memories up to this size are cheaper in tables than in a block, where ``block_worth`` does not say so.
SMALL_MEMORY_BITS = 640
#: of a bit of that multiplexer, in the bits of ``block_worth``
ROW_WORTH = 1 / 2


@dataclass(frozen=True)
class LogicCell:
    """The capacity of a logic cell; ``plural`` is its name in reports. Memories of ``ram_words`` words take
    ``ram_tables`` tables for each bit of a word, in blocks of ``ram_bits`` bits; ``block_worth`` is what a block RAM
    costs in synthesis, in such bits, or 0."""

    name: str
    plural: str
    tables: int
    registers: int
    ram_words: int
    ram_tables: float
    ram_bits: int
    block_worth: int = 0

    def small(self, depth: int, width: int, blocks: int) -> bool:
        """Whether synthesis keeps a memory in tables that would take so many block RAMs."""
        if not self.block_worth:
            return depth * width <= SMALL_MEMORY_BITS
        rows = math.ceil(depth / self.ram_words)
        bits = rows * math.ceil(width / self.ram_bits) * self.ram_bits
        return bits + (rows - 1) * width * ROW_WORTH < self.block_worth * blocks

    def memory_tables(self, depth: int, width: float) -> float:
        """Tables of a memory of ``depth`` words outside block RAM, with the multiplexers between its rows."""
        rows = math.ceil(depth / self.ram_words)
        return width * (rows * self.ram_tables + (rows - 1) * ROW_TABLES)

    def memory_delays(self, cycles: int, widths: Sequence[int]) -> bool:
        """Whether values of these widths, all delayed by ``cycles``, belong into memories with common addresses rather
        than into registers.

        They do where registers take a multiple of the cells: three times as many with one register for each table.
        Logic leaves registers of its cells over, and the more, the more registers a cell has.
        """
        blocks = sum(math.ceil(width / self.ram_bits) * self.ram_bits for width in widths)
        address = (cycles - 1).bit_length()
        tables = self.memory_tables(cycles, blocks) + address
        registers = sum(widths) + 2 * address  # of the memory's output, and the two addresses
        worth = 2 + self.registers / self.tables
        return worth * (tables / self.tables + registers / self.registers) <= cycles * sum(widths) / self.registers


@cache
def logic_cells() -> Mapping[str, LogicCell]:
    """All cells by the name that board files use. Raises BoardError for an invalid file of cells."""
    root = read_toml(resources.files(__package__).joinpath("cells.toml"))
    cells = [_read(table) for table in root.tables("cell")]
    root.close()
    return MappingProxyType({cell.name: cell for cell in cells})


def _read(table: Table) -> LogicCell:
    cell = LogicCell(
        name=table.text("name"),
        plural=table.text("plural"),
        tables=table.integer("tables", 1),
        registers=table.integer("registers", 1),
        ram_words=table.integer("ram_words", 1),
        ram_tables=table.number("ram_tables", 0),
        ram_bits=table.integer("ram_bits", 1),
        block_worth=table.integer("block_worth", 0, default=0),
    )
    table.close()
    return cell

"""Logic cells of devices, as data: what a cell holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from .table import Table, read_toml

__all__ = ["LogicCell", "logic_cells"]


@dataclass(frozen=True)
class LogicCell:
    """The capacity of a logic cell; ``plural`` is its name in reports. Memories of ``ram_words`` words take
    ``ram_tables`` tables for each bit of a word."""

    name: str
    plural: str
    tables: int
    registers: int
    ram_words: int
    ram_tables: float


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
    )
    table.close()
    return cell

"""Counts the cells of a synthesized netlist by the places of the source that they belong to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hls.report.facts.synthesis import Place

from .places import Places
from .wrapper import TOP

__all__ = ["Used", "count_cells", "total", "total_of"]


@dataclass(frozen=True)
class Used:
    """Mapped resources. ``luts`` are those of logic; ``carries`` cells of carry chains, ``lut_rams`` LUT RAMs of 16
    words of 4 bits. All three take ``places`` of LUTs."""

    places: int = 0
    luts: int = 0
    carries: int = 0
    lut_rams: int = 0
    registers: int = 0
    rams: int = 0
    dsps: int = 0

    def __add__(self, other: "Used") -> "Used":
        return Used(
            places=self.places + other.places,
            luts=self.luts + other.luts,
            carries=self.carries + other.carries,
            lut_rams=self.lut_rams + other.lut_rams,
            registers=self.registers + other.registers,
            rams=self.rams + other.rams,
            dsps=self.dsps + other.dsps,
        )

    @property
    def logic(self) -> int:
        """Logic cells as the report's estimate counts them: LUT places, or registers where these are more."""
        return max(self.places, self.registers)


def count_cells(cells: Mapping[str, Mapping[str, Any]], places: Places, kinds: Mapping[str, Used]) -> dict[Place, Used]:
    """The cells of the design by place, without those of its surroundings."""
    found: dict[Place, Used] = {}
    for name, cell in cells.items():
        used, place = kinds.get(cell["type"]), places.of(name)
        if used is None or place is None or _is_of_wrapper(cell):
            continue
        found[place] = found.get(place, Used()) + used
    return found


def _is_of_wrapper(cell: Mapping[str, Any]) -> bool:
    """Whether a cell, which may have the name of a port beside it, is the wrapper's: its source says so."""
    return any(one.startswith(f"{TOP}.v:") for one in _sources(cell))


def _sources(cell: Mapping[str, Any]) -> Iterator[str]:
    yield from cell.get("attributes", {}).get("src", "").split("|")


def total(found: Mapping[Place, Used]) -> Used:
    """All together."""
    return sum(found.values(), Used())


def total_of(cells: Mapping[str, Mapping[str, Any]], kinds: Mapping[str, Used]) -> Used:
    """All cells of a module of a netlist together."""
    return sum((kinds.get(cell["type"], Used()) for cell in cells.values()), Used())

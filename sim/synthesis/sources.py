"""Where cells of a netlist come from by the lines of Verilog that synthesis keeps with them.

Synthesis names a cell without a name of its own after one that it drives, or that drives it: a comparison in a loop is
named after the queue behind it. Registers, carry chains, memories and multipliers have the line of Verilog they were
made of as well, which leads to the instance and the signal. Lookup tables have none, but are named after cells that do.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["NO_NAMES", "Names", "source_names"]

#: file, first and last line
_SOURCE = re.compile(r"([^:|]+):(\d+)\.\d+-(\d+)\.\d+")
#: the signal that a line of our Verilog drives
_DRIVEN = re.compile(r"^\s*(?:assign |(?:wire|reg) (?:signed )?(?:\[[^\]]*\] )?)?([A-Za-z_][\w$]*)(?:\[[^\]]*\])* <?= ")
#: what place and route adds to a cell of which it makes several
_DIVIDED = re.compile(r"\$[A-Z]\w*$")


@dataclass(frozen=True)
class _Scope:
    """An instance and the lines of its module."""

    instance: str
    first: int
    last: int


@dataclass(frozen=True)
class Names:
    """Better names of cells: instance and signal."""

    found: Mapping[str, str]

    def of(self, cell: str) -> str:
        """The name by the source of a cell, or of the nearest one that it is named after; else its own."""
        name = _DIVIDED.sub("", cell)
        if name in self.found:
            return self.found[name]
        while (cut := name.rfind("_")) > name.rfind("."):
            name = name[:cut]
            if name in self.found:
                return self.found[name]
        return cell


NO_NAMES = Names({})


def source_names(cells: Mapping[str, Mapping[str, Any]], texts: Mapping[str, str]) -> Names:
    """The names of cells by their sources; ``texts`` are the Verilog files by name."""
    lines = {name: text.splitlines() for name, text in texts.items()}
    scopes: dict[str, list[_Scope]] = {}
    for name, cell in cells.items():
        if cell["type"] == "$scopeinfo":
            for file, first, last in _sources(cell, "module_src"):
                scopes.setdefault(file, []).append(_Scope(name, first, last))
    found = {}
    for name, cell in cells.items():
        if cell["type"] != "$scopeinfo" and (better := _name(name, cell, scopes, lines)):
            found[name] = better
    return Names(found)


def _sources(cell: Mapping[str, Any], key: str) -> Iterator[tuple[str, int, int]]:
    for one in cell.get("attributes", {}).get(key, "").split("|"):
        if match := _SOURCE.fullmatch(one):
            yield match[1], int(match[2]), int(match[3])


def _name(
    cell: str, attributes: Mapping[str, Any], scopes: Mapping[str, list[_Scope]], lines: Mapping[str, list[str]]
) -> str | None:
    """Instance and signal of a cell with a source in the design's Verilog. Of several instances of a module, the one
    counts in which the cell's name is."""
    for file, line, _ in _sources(attributes, "src"):
        around = [scope.instance for scope in scopes.get(file, ()) if scope.first <= line <= scope.last]
        if len(around) > 1:
            around = [instance for instance in around if cell.startswith(f"{instance}.")]
        if around and file in lines:
            instance = max(around, key=len)
            driven = _DRIVEN.match(lines[file][line - 1])
            return f"{instance}.{driven[1] if driven else cell.rpartition('.')[2]}"
    return None

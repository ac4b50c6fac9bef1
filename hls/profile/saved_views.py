"""Saved views of a waveform: FILE.gtkw for GTKWave and FILE.sucl for Surfer.

Both show the same :class:`View`: groups by kernel, loop and access with the source line as comment, markers at the
longest stalls, and a window on the worst one.

Only names that are in the FST are written. GTKWave (3.3.118 was tried) finds a signal of several bits only with its
range, Surfer without.
"""

import math
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .stalls import HoldMeaning, Meaning, UnitMeaning
from .stalls_text import Row

__all__ = ["Group", "Marker", "View", "gtkw_text", "sucl_text", "view_file", "view_of"]

MOST_MARKERS = 5
#: cycles shown before and after the worst stall, at least
MARGIN = 32
#: characters of a source line in a title, which would else make the names' column wide
MOST_QUOTED = 40
#: signals that open a group of the scope of a loop, in their order
LOOP_SIGNALS = ("i__valid", "i__ready", "issued", "o__valid", "o__ready", "done__valid")
KERNEL_SIGNALS = ("start", "done")
_HANDSHAKE = re.compile(r"\w*(valid|ready)")


@dataclass(frozen=True)
class Group:
    """Signals under a title, then groups inside of it."""

    title: str
    signals: tuple[str, ...]
    inner: tuple["Group", ...] = ()


@dataclass(frozen=True)
class Marker:
    """A stall of so many ``cycles`` from ``cycle`` of the waveform on."""

    text: str
    cycle: int
    cycles: int


@dataclass(frozen=True)
class View:
    """What a viewer is to show: the cycles [first, end) of it, each of ``period_ps``. ``words`` are the signals whose
    values have tables of words in the waveform, with their ranges of bits. The markers are sorted by their lengths,
    longest first; those of autorun kernels come last."""

    groups: tuple[Group, ...]
    markers: tuple[Marker, ...]
    first: int
    end: int
    period_ps: float
    words: Mapping[str, str]

    def time(self, cycle: int) -> int:
        """When a cycle begins, in ps."""
        return round(cycle * self.period_ps)


def view_file(waveform: Path, suffix: str) -> Path:
    """Where the view of a waveform for one viewer is: beside it, with ``suffix`` instead of its own."""
    return waveform.with_suffix(suffix)


def view_of(meaning: Meaning, signals: Mapping[str, str], rows: Sequence[Row]) -> View:
    """The view of a waveform that has these ``signals``, with their ranges of bits, given the rows of its stalls."""
    accounts = (row for row in rows if row["kind"] == "account")
    waits = sorted(accounts, key=lambda row: (row["autorun"], -row["longest"], row["at"]))
    markers = tuple(
        Marker(f"{row['kernel']}: {row['what']}{_at(row['line'])}", row["at"], row["longest"])
        for row in waits[:MOST_MARKERS]
    )
    first, end = 0, 4 * MARGIN
    if markers:
        margin = max(MARGIN, markers[0].cycles // 2)
        first, end = max(0, markers[0].cycle - margin), markers[0].cycle + markers[0].cycles + margin
    lines = meaning["source"].splitlines()
    groups = tuple(_kernel(unit, _Scopes(unit["path"], signals), lines) for unit in meaning["units"])
    words = {unit["account_signal"] for unit in meaning["units"]}
    words |= {hold["state_signal"] for unit in meaning["units"] for hold in unit["holds"]}
    return View(
        groups, markers, first, end, 1e6 / meaning["clock_mhz"], {one: signals[one] for one in words & signals.keys()}
    )


class _Scopes:
    """The signals of a kernel by their scopes."""

    def __init__(self, path: str, signals: Collection[str]) -> None:
        self.path, self.all = path, set(signals)
        self.by_scope: dict[str, list[str]] = {}
        for name in sorted(signals):
            scope, _, last = name.rpartition(".")
            if scope == path or scope.startswith(f"{path}."):
                self.by_scope.setdefault(scope, []).append(last)

    def some(self, scope: str, wanted: Sequence[str]) -> list[str]:
        """Those of the ``wanted`` names that a scope has, with their paths."""
        has = self.by_scope.get(scope, [])
        return [f"{scope}.{name}" for name in wanted if name in has]

    def handshakes(self, scope: str) -> list[str]:
        """The signals of the handshakes of a scope itself; requests first, valid before ready."""
        has = [name for name in self.by_scope.get(scope, []) if _HANDSHAKE.fullmatch(name)]
        has.sort(key=lambda name: (not name.startswith("i__"), name.rpartition("__")[0], name.endswith("ready")))
        return [f"{scope}.{name}" for name in has]

    def of_loop(self, key: str) -> list[str]:
        """The signals of a loop, which lies anywhere in the kernel."""
        found = [scope for scope in self.by_scope if scope.endswith(f".{key}")]
        return self.some(min(found, key=len), LOOP_SIGNALS) if found else []

    def present(self, *names: str) -> list[str]:
        return [name for name in names if name in self.all]


def _kernel(unit: UnitMeaning, scopes: _Scopes, lines: Sequence[str]) -> Group:
    """The group of a compute unit: its account, then a group for each loop, and for each place outside of loops."""
    loops = {loop["key"]: loop for loop in unit["loops"]}
    inner = []
    for key, loop in loops.items():
        places = tuple(_place(hold, scopes, lines) for hold in unit["holds"] if hold["loop"] == key)
        title = f"loop {loop['name']}{_at(loop['line'])}{_quoted(loop['line'], lines)}"
        inner.append(Group(title, tuple(scopes.of_loop(key)), places))
    inner += [_place(hold, scopes, lines) for hold in unit["holds"] if hold["loop"] not in loops]
    number = f" unit {unit['number']}" if unit["number"] else ""
    signals = [*scopes.present(unit["account_signal"]), *scopes.some(unit["path"], KERNEL_SIGNALS)]
    return Group(f"kernel {unit['kernel']}{number}", tuple(signals), tuple(inner))


def _place(hold: HoldMeaning, scopes: _Scopes, lines: Sequence[str]) -> Group:
    title = f"{hold['what']}{_at(hold['line'])}{_quoted(hold['line'], lines)}"
    signals = [*scopes.present(hold["state_signal"]), *scopes.handshakes(f"{scopes.path}.{hold['key']}_unit")]
    return Group(title, tuple(signals))


def _at(line: int | None) -> str:
    return f" (line {line})" if line else ""


def _quoted(line: int | None, lines: Sequence[str]) -> str:
    """The source line, without the brace at its end: a viewer puts one behind the title of a group that is open."""
    if not line or line > len(lines):
        return ""
    return f": {textwrap.shorten(lines[line - 1].rstrip().removesuffix('{'), MOST_QUOTED)}"


#: flags of a row in GTKWave's save file: binary and aligned to the right, a comment; begin and end of a group
_BINARY, _COMMENT, _BEGIN, _END = 0x28, 0x200, 0x800000, 0x1000000
#: also: its values are words of the waveform's table
_ENUM = 0x100000000
#: the size of the window and the widths of its columns, in pixels; what is left for the waves of them
WINDOW, TREE, NAMES = (1600, 1000), 260, 480
PIXELS = 780
_FRAME = 200  #: pixels to which the zoom of a save file refers
_NAMED_MARKERS = 26  #: GTKWave has one for each letter


def gtkw_text(view: View, waveform: Path) -> str:
    """The text of FILE.gtkw. Its zoom is -log2 of the time units of 200 pixels; -1 is a marker that is not set."""
    span = max(1, view.time(view.end) - view.time(view.first))
    times = [view.time(marker.cycle) for marker in view.markers]
    at = [times[0] if times else -1, *times, *[-1] * (_NAMED_MARKERS - len(times))]
    lines = [
        "[*] the five markers A to E are at the longest stalls, the window is on the longest",
        *(f"[*] {name}: {m.text}: {m.cycles:,} cycles" for name, m in zip("ABCDE", view.markers)),
        f'[dumpfile] "{waveform.absolute()}"',
        f"[timestart] {view.time(view.first)}",
        f"[size] {WINDOW[0]} {WINDOW[1]}",
        "[pos] -1 -1",
        f"*-{math.log2(max(1.0, _FRAME * span / PIXELS)):.6f} {' '.join(map(str, at))}",
        f"[sst_width] {TREE}",
        f"[signals_width] {NAMES}",
    ]
    lines += [line for group in view.groups for line in _gtkw_group(group, view.words)]
    return "\n".join(lines) + "\n"


def _gtkw_group(group: Group, words: Mapping[str, str]) -> Iterator[str]:
    yield f"@{_BEGIN | _COMMENT:x}"
    yield f"-{group.title}"
    for name in group.signals:
        yield f"@{_ENUM | _BINARY if name in words else _BINARY:x}"
        yield f"{name}{words.get(name, '')}"
    for one in group.inner:
        yield from _gtkw_group(one, words)
    yield f"@{_END | _COMMENT:x}"
    yield "-"


def sucl_text(view: View) -> str:
    """The text of FILE.sucl, commands of Surfer: the rows, the color of those with words, markers, and the window."""
    lines = [command for group in view.groups for command in _sucl_group(group)]
    rows = len(lines)
    for number, command in enumerate(lines[:rows]):
        if command.split()[-1] in view.words:
            lines += [f"item_focus {_row_code(number, rows)}", "item_set_color Yellow", "item_unfocus"]
    lines += [f"marker_set_at {view.time(marker.cycle)} {name}" for name, marker in zip("ABCDE", view.markers)]
    if view.markers:
        lines.append(f"cursor_set {view.time(view.markers[0].cycle)}")
    return "\n".join([*lines, f"zoom_to {view.time(view.first)} {view.time(view.end)}"]) + "\n"


def _sucl_group(group: Group) -> Iterator[str]:
    yield f"divider_add {group.title}"
    for name in group.signals:
        yield f"variable_add {name}"
    for one in group.inner:
        yield from _sucl_group(one)


def _row_code(number: int, rows: int) -> str:
    """Surfer's code of row ``number`` of so many: letters as digits, as many as the number of rows has."""
    text = ""
    while rows:
        text = chr(ord("a") + number % 26) + text
        number, rows = number // 26, rows // 26
    return text

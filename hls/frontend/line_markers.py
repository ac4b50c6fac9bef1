"""``#line``, which changes ``__LINE__`` and ``__FILE__``, and line markers of preprocessors (``# 7 "file"``), by which
messages also name the file from which a line came."""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple

from ..diag import Span

__all__ = ["FileLines", "Marked", "Presumed", "marker"]

#: lines of the texts that are made of files named by line markers, in all: a marker may say any number
_MOST_SHOWN = 1_000_000
_MARKER = re.compile(r"\s*#\s*\d")


class Presumed(NamedTuple):
    """What a ``#line`` says: the number of the next line, and the name of the file in quotes, if any."""

    line: int
    file: str | None
    place: Span  #: of the directive, in the file that is read
    is_marker: bool


def marker(file: str, line: int) -> str:
    """The line marker, with its line break, before ``line`` of ``file``."""
    quoted = re.sub(r"([\"\\])", r"\\\1", file)
    return f'# {line} "{quoted}"\n'


class Marked:
    """The lines of files that line markers name, as far as they were read."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[int, str]] = {}

    @property
    def files(self) -> frozenset[str]:
        """Their names."""
        return frozenset(self._lines)

    def keep(self, file: str, line: int, text: str) -> None:
        """Of a line that is there twice with different texts, as one of a header whose macros change, nothing is
        shown. A line may be there once more without what was left out as a repetition."""
        if not text.strip():
            return
        lines = self._lines.setdefault(file, {})
        if lines.setdefault(line, text) != text:
            lines[line] = ""

    def texts(self) -> dict[str, str]:
        """A text for each file, with empty lines for those that are not known; none for files that would be too long
        with these."""
        found, left = {}, _MOST_SHOWN
        for name, lines in sorted(self._lines.items(), key=lambda one: max(one[1])):
            left -= max(lines)
            if left < 0:
                break
            found[name] = "\n".join(lines.get(k, "") for k in range(1, max(lines) + 1))
        return found


class FileLines:
    """The locations of tokens of a file that is read, which is called ``name``."""

    def __init__(self, name: str, text: str, marked: Marked) -> None:
        self.name, self.marked = name, marked
        self.lines = [line.rstrip() for line in text.splitlines()]  # as the preprocessor counts characters
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.ahead = 0  #: of the real line, as __LINE__ has it
        self.file, self.beyond = name, 0  #: as the last line marker has it: the file, and how far its lines are ahead

    def locate(self, token: Any) -> None:
        """Set the token's location in the file that is read (``real``) and the one that messages name (``place``)."""
        row = bisect_right(self.starts, token.lexpos) - 1
        column, length = token.lexpos - self.starts[row] + 1, max(1, len(token.value.rstrip()))
        token.real = Span(self.name, row + 1, column, length)
        token.place = Span(self.file, max(1, row + 1 + self.beyond), column, length)  # GCC writes `# 0 "file"`
        token.lineno += self.ahead
        if self.file != self.name and row < len(self.lines) and not _MARKER.match(self.lines[row]):
            self.marked.keep(self.file, token.place.line, self.lines[row])

    def follow(self, said: Presumed) -> None:
        """Of the lines behind a directive."""
        self.ahead = said.line - said.place.line - 1
        if said.is_marker:
            self.file, self.beyond = _unquoted(said.file) or self.file, self.ahead


def _unquoted(name: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name else ""

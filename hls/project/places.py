"""Where the keys and values of a TOML text stand: what reads it, `tomllib`, does not tell."""

import re
from collections.abc import Iterator

from ..diag import Span

__all__ = ["place_of"]

_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def _named(text: str) -> Iterator[tuple[tuple[str, ...], int, int, int]]:
    """Each header and key: its path, line, column and length."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            yield table, number, header.start(1) + 1, len(header[1])
        elif key := _KEY.match(line):
            yield (*table, *_parts(key[1])), number, key.start(1) + 1, len(key[1])


def place_of(text: str, file: str, path: tuple[str, ...], value: str = "") -> Span:
    """The place of a key, or of the text ``value`` in what it is set to; the nearest that is found, as in a table that
    is written in one line."""
    found: dict[tuple[str, ...], Span] = {}
    for named, line, column, length in _named(text):
        found.setdefault(named, Span(file, line, column, length))
    place = next((found[path[:end]] for end in range(len(path), 0, -1) if path[:end] in found), Span(file, 1))
    return _value(text, place, value) if value else place


def _value(text: str, key: Span, value: str) -> Span:
    """Where ``value`` stands in quotes behind the key, before the next one."""
    lines = text.splitlines()
    for number in range(key.line, len(lines) + 1):
        line = lines[number - 1]
        if number > key.line and (_KEY.match(line) or _HEADER.match(line)):
            break
        start = key.column + key.length - 1 if number == key.line else 0
        for quote in "\"'":
            if (column := line.find(quote + value + quote, start)) >= 0:
                return Span(key.file, number, column + 2, len(value))
    return key

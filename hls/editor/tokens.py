"""What each word of a text is, for an editor's colours. A half-written text has tokens, too."""

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..diag import Span
from ..frontend.words import ACCESS_WORDS, RESERVED_WORDS, SPELLINGS, STREAM_WORDS, TYPE_WORDS
from ..predefined import PREDEFINED
from .edits import closing
from .scan import Plain, Symbol, symbols
from .vocabulary import words_of

__all__ = ["KINDS", "MODIFIERS", "Token", "tokens"]

#: kinds and modifiers as the protocol names them
KINDS = (
    "comment",
    "string",
    "number",
    "keyword",
    "modifier",
    "type",
    "struct",
    "macro",
    "function",
    "method",
    "event",
    "property",
    "parameter",
    "variable",
    "decorator",
)
MODIFIERS = ("definition", "defaultLibrary")

_TOKEN = re.compile(
    r"(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)"
    r"|(?P<directive>^[ \t]*#[ \t]*(?P<word>[a-z]*))"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r"|(?P<name>[A-Za-z_]\w*)",
    re.DOTALL | re.MULTILINE | re.ASCII,
)
_KEYWORDS = frozenset(
    ("break", "case", "continue", "default", "do", "else", "enum", "extern", "for", "goto", "if", "inline")
    + ("register", "return", "sizeof", "static", "struct", "switch", "typedef", "union", "while")
    + ("__attribute__", "__attribute")
)
_SPACES = frozenset(word for word, (kind, _) in SPELLINGS.items() if kind in ("VOLATILE", "RESTRICT", "CONST"))
_MODIFIERS = _SPACES | RESERVED_WORDS | ACCESS_WORDS.keys() | {"const", "volatile", "__kernel"}
_TYPES = TYPE_WORDS | {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool"}
_OPERATORS = frozenset(word for word, (kind, _) in SPELLINGS.items() if kind in ("SIZEOF", "TYPEOF", "INLINE"))
_OF_SYMBOLS = {
    "kernel": "method",
    "function": "function",
    "macro": "macro",
    "channel": "event",
    "type": "type",
    "struct": "struct",
}


@dataclass(frozen=True)
class Token:
    """A word of one line: its ``kind``, one of KINDS, and its ``modifiers``, of MODIFIERS."""

    span: Span
    kind: str
    modifiers: tuple[str, ...] = ()


def tokens(text: str, file: str, elsewhere: Mapping[str, str] = MappingProxyType({})) -> tuple[Token, ...]:
    """The tokens of the text in its order; a comment of several lines has one for each of them. ``elsewhere`` has the
    kinds of names that other files define."""
    return tuple(_Classifier(text, file, elsewhere).run())


class _Extents:
    """Parts of a text that do not overlap, each with names."""

    def __init__(self, parts: Iterable[tuple[range, frozenset[str]]]) -> None:
        self._parts = sorted(parts, key=lambda one: one[0].start)
        self._starts = [extent.start for extent, _ in self._parts]

    def at(self, place: int) -> frozenset[str] | None:
        """The names of the part around a place; None where there is none."""
        extent, names = (
            self._parts[max(0, bisect.bisect_right(self._starts, place) - 1)] if self._parts else (range(0), None)
        )
        return names if place in extent else None


class _Classifier:
    def __init__(self, text: str, file: str, elsewhere: Mapping[str, str]) -> None:
        self.text, self.file, self.elsewhere = text, file, elsewhere
        self.plain = Plain(text, file)
        self.symbols = {one.name: one for one in symbols(text, file)}
        self.attributes = _Extents((one, frozenset[str]()) for one in self._attributes())
        self.parameters = _Extents(self._parameters())
        self.pragma = range(0)  #: the rest of a line with a pragma

    def run(self) -> Iterator[Token]:
        for found in _TOKEN.finditer(self.text):
            kind = str(found.lastgroup)
            if kind in ("directive", "word"):
                yield from self._directive(found)
            elif kind == "name":
                name, *modifiers = self._name(found.group(), found.start())
                yield Token(self._span(found.start(), found.end()), name, tuple(modifiers))
            else:
                yield from self._lines(found.start(), found.end(), kind)

    def _directive(self, found: re.Match[str]) -> Iterator[Token]:
        end = self.text.find("\n", found.end())
        self.pragma = range(found.end(), end if end >= 0 else len(self.text)) if found["word"] == "pragma" else range(0)
        start = self.text.index("#", found.start())
        yield Token(self._span(start, found.end()), "keyword")

    def _name(self, name: str, at: int) -> tuple[str, ...]:
        """The kind of a name, and its modifiers."""
        if at in self.pragma and name in words_of("pragma"):
            return ("decorator",)
        if name in words_of("attribute") and self.attributes.at(at) is not None:
            return ("decorator",)
        if self.text[max(0, at - 80) : at].rstrip(" \t").endswith((".", "->")):
            return ("property",)
        symbol = self.symbols.get(name)
        if symbol is not None:
            return (_OF_SYMBOLS[symbol.kind], *self._defined(symbol, at))
        if name in (self.parameters.at(at) or ()):
            return ("parameter",)
        if name in self.elsewhere:
            return (_OF_SYMBOLS[self.elsewhere[name]],)
        return _of_language(name)

    def _defined(self, symbol: Symbol, at: int) -> tuple[str, ...]:
        return ("definition",) if self.plain.offset(symbol.span) == at else ()

    def _lines(self, start: int, end: int, kind: str) -> Iterator[Token]:
        for found in re.compile(r"[^\r\n]+").finditer(self.text, start, end):
            yield Token(self._span(found.start(), found.end()), kind)

    def _span(self, start: int, end: int) -> Span:
        line = self.plain.line(start)
        return Span(self.file, line, start - self.plain.starts[line - 1] + 1, end - start)

    def _attributes(self) -> Iterator[range]:
        for found in re.finditer(r"\b__attribute(?:__)?\s*\(", self.plain.code):
            close = closing(self.plain.code, found.end() - 1)
            yield range(found.end(), close if close is not None else len(self.text))

    def _parameters(self) -> Iterator[tuple[range, frozenset[str]]]:
        """For each function, its extent and the names of its parameters: the last word of each."""
        for one in self.symbols.values():
            if one.kind not in ("kernel", "function"):
                continue
            start = self.plain.offset(one.span)
            bracket = self.plain.code.find("(", start)
            close = closing(self.plain.code, bracket)
            if close is None:
                continue
            given = self.plain.code[bracket + 1 : close]
            names = (re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$", part) for part in given.split(","))
            last = self.plain.starts[one.last_line] if one.last_line < len(self.plain.starts) else len(self.text)
            yield range(bracket, last), frozenset(found[1] for found in names if found)


def _of_language(name: str) -> tuple[str, ...]:
    if name in _KEYWORDS or name in _OPERATORS and name not in _MODIFIERS or name in STREAM_WORDS:
        return ("keyword",)
    if name in _MODIFIERS:
        return ("modifier",)
    if name in _TYPES:
        return ("type",)
    if name in PREDEFINED:
        return ("macro", "defaultLibrary")
    return ("function", "defaultLibrary") if name in words_of("builtin") else ("variable",)

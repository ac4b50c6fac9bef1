"""Names in a program's text as it is while it is written: what it defines, and where. Nothing here needs a text that
compiles: half of a function has symbols, too."""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..diag import Span

__all__ = ["Plain", "Symbol", "definitions", "symbols", "word_at"]

_BLANKED = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?', re.DOTALL)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|endif)\b", re.MULTILINE)
_FUNCTION = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\(")
_CHANNEL = re.compile(r"\b(?:channel|pipe)\b[^;(){}]*?(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?=__attribute__|;|=)")
_TYPEDEF = re.compile(r"\btypedef\b[^;]*?(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*;", re.DOTALL)
_STRUCT = re.compile(r"\b(?:struct|union|enum)\s+(?P<name>[A-Za-z_]\w*)\s*\{")
_KERNEL = re.compile(r"\b(?:__kernel|kernel)\b")
#: before a bracket, these are no functions
_WORDS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "__attribute__", "typeof", "vec_step", "do"})
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Symbol:
    """Something that the text defines. ``kind`` is "kernel", "function", "macro", "channel", "type" or "struct";
    ``span`` is that of its name, and it reaches to ``last_line``."""

    name: str
    kind: str
    span: Span
    last_line: int


class Plain:
    """A text without comments, literals and directives, of which every character keeps its place."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.starts = [0, *(one.end() for one in re.finditer("\n", text))]
        self.uncommented = _BLANKED.sub(_blank, text)
        self.code = _DIRECTIVE.sub(_blank, self.uncommented)

    def line(self, offset: int) -> int:
        """The line of a place, from 1."""
        return bisect.bisect_right(self.starts, offset)

    def offset(self, span: Span) -> int:
        """Where a place begins; the text's end for one behind it."""
        if not 0 < span.line <= len(self.starts):
            return len(self.code)
        return min(len(self.code), self.starts[span.line - 1] + max(0, span.column - 1))

    def extent(self, first: int, last: int) -> tuple[int, int]:
        """The whole text, or the function around both places if there is one."""
        top = _outside(self.code)
        begin, end = max(top.rfind(mark, 0, first) for mark in ";}") + 1, top.find("}", last)
        start = top.find("{", begin)
        inside = 0 <= start < first or top.count("(", begin, first) > top.count(")", begin, first)
        local = inside and end >= 0 and top.count("{", begin, end) == 1
        return (begin, end) if local else (0, len(self.code))

    def conditional(self, at: int) -> bool:
        """Whether the place is between ``#if`` and ``#endif``."""
        depth = 0
        for found in _CONDITION.finditer(self.uncommented, 0, at):
            depth += -1 if found["word"] == "endif" else 1
        return depth > 0

    def span(self, found: re.Match[str]) -> Span:
        """The place of the group ``name`` of a match."""
        start, line = found.start("name"), self.line(found.start("name"))
        return Span(self.file, line, start - self.starts[line - 1] + 1, len(found["name"]))

    def symbol(self, found: re.Match[str], kind: str, end: int | None = None) -> Symbol:
        """The symbol that a match names; it reaches to ``end``, else to the end of the match."""
        return Symbol(found["name"], kind, self.span(found), self.line(found.end() - 1 if end is None else end))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())


def symbols(text: str, file: str) -> tuple[Symbol, ...]:
    """What the text defines, in its order. Declarations without a body are not definitions."""
    seen = Plain(text, file)
    top = _outside(seen.code)
    found = [
        *(seen.symbol(one, "macro") for one in _MACRO.finditer(seen.uncommented)),
        *(seen.symbol(one, "channel") for one in _CHANNEL.finditer(top)),
        *(seen.symbol(one, "type") for one in _TYPEDEF.finditer(top)),
        *(seen.symbol(one, "struct", _closing(seen.code, one.end() - 1)) for one in _STRUCT.finditer(seen.code)),
        *_functions(seen, top),
    ]
    return tuple(sorted(found, key=lambda one: one.span))


def definitions(text: str, file: str, name: str) -> tuple[Span, ...]:
    """Where the text defines ``name``."""
    return tuple(one.span for one in symbols(text, file) if one.name == name)


def word_at(line: str, column: int) -> str:
    """The name that stands at ``column`` (from 0) of a line, or ends there; "" if there is none."""
    return next((one.group() for one in _NAME.finditer(line) if one.start() <= column <= one.end()), "")


def _functions(seen: Plain, top: str) -> Iterator[Symbol]:
    at = 0
    while found := _FUNCTION.search(top, at):
        close = _closing(top, found.end() - 1)
        at = close + 1
        if found["name"] in _WORDS:
            continue
        body = re.match(r"\s*\{", _without_attributes(top[at:]))
        if body:
            begin = max(top.rfind(mark, 0, found.start()) for mark in ";}") + 1  # of the declaration
            start = top.index("{", at)
            at = _closing(seen.code, start)
            kind = "kernel" if _KERNEL.search(top, begin, found.start()) else "function"
            yield seen.symbol(found, kind, min(at, len(top) - 1))


def _without_attributes(text: str) -> str:
    """The text without attributes at its beginning."""
    while found := re.match(r"\s*__attribute__\s*\(", text):
        text = text[_closing(text, found.end() - 1) + 1 :]
    return text


def _closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one at ``start``; the text's end if none does."""
    depth = 0
    for found in re.compile(r"[(){}]").finditer(text, start):
        depth += 1 if found.group() in "({" else -1
        if depth <= 0:
            return found.start()
    return len(text)


def _outside(code: str) -> str:
    """The code with everything inside of braces blank, the braces themselves left."""
    pieces, depth, last = [], 0, 0
    for found in re.finditer(r"[{}]", code):
        piece = code[last : found.start()]
        pieces.append(re.sub(r"[^\n]", " ", piece) if depth else piece)
        depth = max(0, depth + (1 if found.group() == "{" else -1))
        outer = depth == (1 if found.group() == "{" else 0)
        pieces.append(found.group() if outer else " ")
        last = found.end()
    rest = code[last:]
    return "".join([*pieces, re.sub(r"[^\n]", " ", rest) if depth else rest])

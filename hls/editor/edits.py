"""Changes of a text, and where the statements and names in it begin and end. Places are offsets into the text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Edit", "applied", "closing", "is_name", "line_start", "statement_end", "words"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OPENED = {"(": ")", "[": "]", "{": "}"}
#: statements with a head in brackets in front of their body
_HEADED = frozenset({"for", "while", "if", "switch"})


@dataclass(frozen=True, order=True)
class Edit:
    """The text from ``start`` to ``end`` becomes ``new``."""

    start: int
    end: int
    new: str


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap. Of several insertions at one place, the first comes first."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])


def is_name(text: str) -> bool:
    """Whether the text may be a name in C, keywords included."""
    return _NAME.fullmatch(text) is not None


def words(code: str, name: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where the name stands as a whole word."""
    for found in re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)", re.ASCII).finditer(code, start, end or len(code)):
        yield found.start()


def line_start(text: str, at: int) -> int:
    """Where the line of that place begins."""
    return text.rfind("\n", 0, at) + 1


def closing(code: str, start: int) -> int | None:
    """The place of the bracket that closes the one at ``start``; None if none does."""
    waiting: list[str] = []
    for found in re.compile(r"[()\[\]{}]").finditer(code, start):
        mark = found.group()
        if mark in _OPENED:
            waiting.append(_OPENED[mark])
        elif not waiting or waiting.pop() != mark:
            return None
        if not waiting:
            return found.start()
    return None


def statement_end(code: str, start: int) -> int | None:
    """The place behind the statement that begins at ``start`` of a text without comments, literals and directives; None
    where it does not end."""
    found = re.compile(r"\s*(?P<word>[A-Za-z_]\w*|\{|;|[^\s])").match(code, start)
    if found is None:
        return None
    word, at = found["word"], found.start("word")
    if word == "{":
        close = closing(code, at)
        return None if close is None else close + 1
    if word in _HEADED:
        return _behind_head(code, found.end(), word)
    if word == "do":
        body = statement_end(code, found.end())
        return None if body is None else _simple_end(code, body)
    return _simple_end(code, at)


def _behind_head(code: str, at: int, word: str) -> int | None:
    bracket = code.find("(", at)
    close = closing(code, bracket) if bracket >= 0 else None
    body = statement_end(code, close + 1) if close is not None else None
    if body is not None and word == "if" and (other := re.compile(r"\s*else\b").match(code, body)):
        return statement_end(code, other.end())
    return body


def _simple_end(code: str, at: int) -> int | None:
    """Behind the semicolon outside of brackets."""
    depth = 0
    for found in re.compile(r"[()\[\]{};]").finditer(code, at):
        mark = found.group()
        if mark == ";" and not depth:
            return found.end()
        depth += (mark in _OPENED) - (mark in _OPENED.values())
        if depth < 0:
            return None
    return None

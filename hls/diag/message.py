"""Spans, diagnostics, and how they are shown as text and as JSON."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .codes import Code

__all__ = ["CompileError", "Diagnostic", "Span", "at_line", "render", "to_json"]


@dataclass(frozen=True, order=True)
class Span:
    """A place in the user's source. Lines and columns count from 1; column 0 means the whole line."""

    file: str
    line: int
    column: int = 0
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


def at_line(span: Span | None) -> str:
    """ " at line N" for a message, and nothing where the place is not known, as in IR that somebody wrote."""
    return f" at line {span.line}" if span else ""


@dataclass(frozen=True)
class Diagnostic:
    """One message: what is wrong at ``span``, and in ``hint`` what to write instead."""

    message: str
    span: Span | None = None
    hint: str = ""
    severity: str = "error"  #: "error", "warning" or "note"
    notes: tuple["Diagnostic", ...] = field(default=())
    code: Code | None = None  #: its kind; None for notes that belong to another message


class CompileError(Exception):
    """A kernel that cannot be built, with every diagnostic found up to there.

    ``sources`` are the texts of the files the diagnostics are about, as far as they are known where it was raised;
    ``warnings`` what was warned of up to there.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources: dict[str, str] = {}
        self.warnings: tuple[Diagnostic, ...] = ()
        super().__init__("\n".join(d.message for d in diagnostics))

    @classmethod
    def at(cls, span: Span | None, message: str, hint: str = "", *, code: Code) -> "CompileError":
        """The error of a single diagnostic. ``span`` is None where no place in the source is known."""
        return cls(Diagnostic(message, span, hint, code=code))


#: columns of a source line that are shown
_WIDEST = 240


def render(diagnostic: Diagnostic, sources: dict[str, str]) -> str:
    """The diagnostic as text, with the source line and a caret under the place where the file is in ``sources``."""
    span = diagnostic.span
    place = f"{span}: " if span else ""
    number = f"[{diagnostic.code.number}]" if diagnostic.code else ""
    lines = [f"{place}{diagnostic.severity}{number}: {_plain(diagnostic.message)}", *_excerpt(span, sources)]
    if diagnostic.hint:
        lines.append(f"  hint: {_plain(diagnostic.hint)}")
    lines += [render(note, sources) for note in diagnostic.notes]
    return "\n".join(lines)


def _excerpt(span: Span | None, sources: dict[str, str]) -> list[str]:
    text = sources.get(span.file, "").splitlines() if span else []
    if not span or not 0 < span.line <= len(text):
        return []
    source = text[span.line - 1]
    if not span.column:
        return [f"    {_plain(source.strip()[:_WIDEST])}"]
    place = span.column - 1
    gone = max(0, min(place - _WIDEST // 2, len(source) - _WIDEST))  # columns left out before what is shown
    shown = _plain(source[gone : gone + _WIDEST])
    # tabs stay tabs, so that the caret stands under the character in any terminal
    pad = "".join("\t" if c == "\t" else " " for c in shown[: place - gone])
    width = max(1, min(span.length, len(shown) - (place - gone)))
    return [f"    {shown}", f"    {pad}^{'~' * (width - 1)}"]


def _plain(text: str) -> str:
    """The text without characters that would command a terminal, and without bytes that are no UTF-8."""
    return "".join(c if c.isprintable() or c in "\t\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def to_json(diagnostics: Iterable[Diagnostic]) -> str:
    """The diagnostics as a JSON array, for editors and other tools."""
    return json.dumps([_record(d) for d in diagnostics], indent=2)


def _record(d: Diagnostic) -> dict[str, Any]:
    span = d.span
    return {
        "severity": d.severity,
        "code": d.code.number if d.code else None,
        "message": d.message,
        "hint": d.hint,
        "file": span.file if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "length": span.length if span else None,
        "notes": [_record(note) for note in d.notes],
    }

"""The difference between two reports as text, as a table in Markdown, and as data for JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from .diff import Change, Difference, Figure

__all__ = ["diff_data", "diff_markdown", "diff_text"]

NOTHING = "no difference in intervals, latencies, units, memories, area and warnings"


def diff_text(found: Difference, old: str, new: str) -> str:
    """The difference in lines: the design, then each kernel with what changed of it; ``old`` and ``new`` name the
    reports. What is worse is marked with an exclamation mark."""
    if not found:
        return f"{old} -> {new}: {NOTHING}\n"
    lines = [f"{old} -> {new}"]
    kernel = ""
    for change in found.changes:
        if change.kernel != kernel:
            kernel = change.kernel
            if change.kind != "kernel":
                lines.append(f"kernel {kernel}")
        indent = "" if change.kind in ("design", "kernel") else "  "
        lines.append(f"{indent}{_what(change)}: {_said(change)}")
    lines += [f"! new warning {code}{_at(line)}: {text}" for code, line, text in found.warnings]
    lines += [f"gone: warning {code}{_at(line)}: {text}" for code, line, text in found.gone]
    return "\n".join(lines) + "\n"


def diff_markdown(found: Difference, old: str, new: str) -> str:
    """The difference as a table, for a comment on a change."""
    head = f"**{'Worse' if found.worse else 'Not worse'}**: `{old}` → `{new}`\n\n"
    if not found:
        return f"{head}{NOTHING}\n"
    rows = [*_rows(found)]
    table = ["| kernel | what | figure | before | after | change |", "| --- | --- | --- | --- | --- | --- |"]
    table += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    for title, warnings in (("New warnings", found.warnings), ("Warnings that are gone", found.gone)):
        if warnings:
            table += ["", f"{title}:", "", *(f"- {code}{_at(line)}: {text}" for code, line, text in warnings)]
    return head + "\n".join(table) + "\n"


def diff_data(found: Difference) -> dict[str, Any]:
    """The difference in plain form; ``worse`` as ``--fail-on-worse`` takes it."""
    warnings = {
        name: [{"code": code, "line": line, "message": text} for code, line, text in some]
        for name, some in (("warnings", found.warnings), ("gone", found.gone))
    }
    changes = [asdict(one) | {"worse": one.worse, "lines": list(one.lines)} for one in found.changes]
    return {"worse": found.worse, "changes": changes, **warnings}


def _rows(found: Difference) -> Iterator[tuple[str, ...]]:
    for change in found.changes:
        what = _what(change)
        if not change.figures:
            yield change.kernel, what, "", "", "", change.state
        for figure in change.figures:
            mark = " ⚠" if figure.worse else ""
            yield (
                change.kernel,
                what,
                figure.name,
                _value(figure.before),
                _value(figure.after),
                _percent(figure).strip(" ()") + mark,
            )


def _what(change: Change) -> str:
    if change.kind == "design":
        return "whole design"
    before, after = change.lines
    moved = f"{before} -> {after}" if None not in (before, after) and before != after else f"{after or before or ''}"
    name = change.name if change.kind == "access" else f"{change.kind} {change.name}"
    return f"{name} (line {moved})" if moved else name


def _said(change: Change) -> str:
    return "; ".join(map(_figure, change.figures)) if change.figures else change.state


def _figure(figure: Figure) -> str:
    mark = "! " if figure.worse else ""
    return f"{mark}{figure.name} {_value(figure.before)} -> {_value(figure.after)}{_percent(figure)}"


def _value(value: float | str | None) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else f"{value:,.10g}"


def _percent(figure: Figure) -> str:
    return "" if figure.ratio is None else f" ({figure.ratio:+.1%})"


def _at(line: int | None) -> str:
    return f" (line {line})" if line else ""

"""Messages of one kind that come in thousands: a table of double constants in a file of some thousand lines."""

from collections import Counter
from collections.abc import Iterable

from .codes import Code
from .message import Diagnostic

__all__ = ["MOST_ALIKE", "first_of_each"]

#: messages of one number that are shown, before the rest of them is counted
MOST_ALIKE = 20


def first_of_each(diagnostics: Iterable[Diagnostic], where_all: str = "") -> list[Diagnostic]:
    """The diagnostics without what comes after the first ``MOST_ALIKE`` warnings, or notes, of one number; a note tells
    at the end how many are left out of which number. ``where_all`` is a hint where all of them are. Errors remain."""
    shown: list[Diagnostic] = []
    found = Counter[tuple[Code, str]]()
    for one in diagnostics:
        if one.code is not None and one.severity != "error":
            found[one.code, one.severity] += 1
            if found[one.code, one.severity] > MOST_ALIKE:
                continue
        shown.append(one)
    for (code, severity), count in found.items():
        if count > MOST_ALIKE:
            more = f"{count - MOST_ALIKE:,} more {severity}s {code.number} are not shown"
            shown.append(Diagnostic(more, hint=where_all, severity="note"))
    return shown

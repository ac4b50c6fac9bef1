"""A design as text: attributes and pragmas written into a source where the design sets them.

No line is added or removed, so that places in messages and workloads stay valid.
"""

import difflib
import re
from collections.abc import Mapping

from .design import KINDS, Design, DesignError, Setting

__all__ = ["patch", "patched"]

#: how an attribute is written
_WRITTEN = {
    "unroll": "__attribute__((opencl_unroll_hint{}))",
    "num_simd_work_items": "__attribute__((num_simd_work_items{}))",
    "num_compute_units": "__attribute__((num_compute_units{}))",
}


def patched(text: str, settings: list[Setting]) -> str:
    """The text of one file with its settings. Raises DesignError for a place inside a macro, which has no text of its
    own."""
    lines = text.splitlines(keepends=True)
    for setting in sorted(settings, key=lambda one: (one.line, one.column, one.kind), reverse=True):
        _set(lines, setting)
    return "".join(lines)


def patch(sources: Mapping[str, str], main: str, design: Design) -> str:
    """The unified diff that writes the settings of the design into the program's files; empty if there are none."""
    found: list[str] = []
    for name, text in sources.items():
        settings = [one for one in design.settings if (one.file or main) == name]
        if settings:
            new = patched(text, settings)
            found += difflib.unified_diff(
                text.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}"
            )
    return "".join(found)


def _set(lines: list[str], setting: Setting) -> None:
    """Write one setting, in place of one that the text already has."""
    row, column = setting.line - 1, setting.column - 1
    word = r"(for|while|do)\b" if KINDS[setting.kind] == "loop" else r"[A-Za-z_]\w*"
    if not 0 <= row < len(lines) or not re.match(word, lines[row][column:]):
        raise DesignError(
            f"line {setting.line} does not show the {KINDS[setting.kind]} of {setting.kind}, as a macro makes it: "
            "write the attribute there by hand, or use --design"
        )
    value = f"({setting.value})" if setting.value != -1 else ""
    if setting.kind == "unroll":
        before = None if lines[row][:column].strip() else _pragma_before(lines, row)
        if before is not None:
            number = f" {setting.value}" if value else ""
            lines[before] = re.sub(r"(#\s*pragma\s+unroll\b)[^\r\n]*", rf"\g<1>{number}", lines[before])
            return
    else:
        pattern = re.compile(rf"(\b_*{setting.kind}_*\s*\()[^()]*(\))")
        for k in range(row, max(row - 40, -1), -1):
            head = lines[k][:column] if k == row else lines[k]
            if pattern.search(head):
                lines[k] = pattern.sub(rf"\g<1>{setting.value}\g<2>", head, count=1) + lines[k][len(head) :]
                return
            if re.search(r"[;}]", head):
                break
    lines[row] = f"{lines[row][:column]}{_WRITTEN[setting.kind].format(value)} {lines[row][column:]}"


def _pragma_before(lines: list[str], row: int) -> int | None:
    """The line with the ``unroll`` pragma of the loop on line ``row``, among the pragmas right above it."""
    for k in range(row - 1, -1, -1):
        text = lines[k].strip()
        if re.match(r"#\s*pragma\s+unroll\b", text):
            return k
        if text and not text.startswith(("#", "//")):
            return None
    return None

"""A design as text: attributes and pragmas written into a source where the design sets them.

No line is added or removed, so that places in messages and workloads stay valid.
"""

import difflib
import re
from collections.abc import Mapping

from .design import KINDS, Design, DesignError, Setting

__all__ = ["patch", "patched"]

#: how a setting is written: before the loop's keyword or the name, of arrays behind the dimensions
_WRITTEN = {
    "unroll": "__attribute__((opencl_unroll_hint{}))",
    "ivdep": '_Pragma("ivdep")',
    "loop_coalesce": '_Pragma("loop_coalesce {}")',
    "loads_ahead": '_Pragma("feed_forward")',
    "num_simd_work_items": "__attribute__((num_simd_work_items({})))",
    "num_compute_units": "__attribute__((num_compute_units({})))",
    "reqd_work_group_size": "__attribute__((reqd_work_group_size({})))",
    "feed_forward": "__attribute__((feed_forward{}))",
    "restrict": "restrict",
    "numbanks": "__attribute__((numbanks({})))",
}
#: an array's name with its dimensions
_ARRAY = r"[A-Za-z_]\w*(\s*\[[^\[\]]*\])+"
#: settings whose attribute may be there with another value, which they replace
_REPLACED = ("num_simd_work_items", "num_compute_units")


def patched(text: str, settings: list[Setting]) -> str:
    """The text of one file with its settings. Raises DesignError for a place inside a macro, which has no text of its
    own."""
    lines = text.splitlines(keepends=True)
    for setting in settings:
        _check(lines, setting)
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


def _check(lines: list[str], setting: Setting) -> None:
    """Raises DesignError where the text does not show what the setting stands at."""
    row, column = setting.line - 1, setting.column - 1
    word = r"(for|while|do)\b" if KINDS[setting.kind] == "loop" else r"[A-Za-z_]\w*"
    if not 0 <= row < len(lines) or not re.match(word, lines[row][column:]) or not _may_hold(setting, lines[row]):
        raise DesignError(
            f"line {setting.line} does not show the {KINDS[setting.kind]} of {setting.kind}, as a macro makes it, or "
            "not in a form that has a place for it: write it by hand, or use --design"
        )


def _set(lines: list[str], setting: Setting) -> None:
    """Write one setting, in place of one that the text already has."""
    row, column = setting.line - 1, setting.column - 1
    if setting.kind == "unroll" and _in_pragma(lines, row, column, setting.value):
        return
    if setting.kind in _REPLACED and _in_attribute(lines, row, column, setting):
        return
    head, rest = lines[row][:column], lines[row][column:]
    if found := re.match(_ARRAY, rest) if KINDS[setting.kind] == "array" else None:
        # before the name, it would also be of those that are declared behind it
        lines[row] = f"{head}{found[0]} {_text(setting)}{rest[found.end() :]}"
    else:
        lines[row] = f"{head}{_text(setting)} {rest}"


def _text(setting: Setting) -> str:
    """The setting as it is written in the source."""
    value = str(setting.value)
    if setting.kind == "unroll":
        value = "" if setting.value == -1 else f"({value})"
    elif setting.kind == "feed_forward":
        value = "" if setting.value == 1 else f"(memory(0), compute({value}))"
    return _WRITTEN[setting.kind].format(value)


def _may_hold(setting: Setting, line: str) -> bool:
    """Whether the text around the name takes the setting: ``restrict`` stands between the ``*`` of a pointer, or
    qualifiers behind it, and its name; what is asked of an array behind its dimensions."""
    if KINDS[setting.kind] == "array":
        return re.match(_ARRAY, line[setting.column - 1 :]) is not None
    before = line[: setting.column - 1]
    return setting.kind != "restrict" or bool(re.search(r"\*\s*((const|volatile)\s+)*$", before))


def _in_pragma(lines: list[str], row: int, column: int, value: int | str) -> bool:
    """Write the factor into the pragma of a loop that has one on a line above it; whether there was one."""
    before = None if lines[row][:column].strip() else _pragma_before(lines, row)
    if before is None:
        return False
    number = f" {value}" if value != -1 else ""
    lines[before] = re.sub(r"(#\s*pragma\s+unroll\b)[^\r\n]*", rf"\g<1>{number}", lines[before])
    return True


def _in_attribute(lines: list[str], row: int, column: int, setting: Setting) -> bool:
    """Write the value into the attribute of that name before a name; whether there was one."""
    pattern = re.compile(rf"(\b_*{setting.kind}_*\s*\()[^()]*(\))")
    for k in range(row, max(row - 40, -1), -1):
        head = lines[k][:column] if k == row else lines[k]
        begin = max((head.rfind(mark) for mark in ";}"), default=-1) + 1
        if pattern.search(head, begin):
            new = pattern.sub(rf"\g<1>{setting.value}\g<2>", head[begin:], count=1)
            lines[k] = head[:begin] + new + lines[k][len(head) :]
            return True
        if begin:
            return False
    return False


def _pragma_before(lines: list[str], row: int) -> int | None:
    """The line with the ``unroll`` pragma of the loop on line ``row``, among the pragmas right above it."""
    for k in range(row - 1, -1, -1):
        text = lines[k].strip()
        if re.match(r"#\s*pragma\s+unroll\b", text):
            return k
        if text and not text.startswith(("#", "//")):
            return None
    return None

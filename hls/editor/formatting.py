"""Formatting by clang-format, where it is installed."""

import difflib
import shutil
import subprocess
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from .edits import Edit

__all__ = ["FormattingError", "formatted"]

#: seconds that it may take
LIMIT = 10.0


class FormattingError(Exception):
    """The text cannot be formatted; the text says why, and what to do."""


def formatted(text: str, file: str, lines: tuple[int, int] | None = None) -> tuple[Edit, ...]:
    """The edits that format the text, or its lines from the first to the second of ``lines`` (from 1). The style is
    that of the nearest ``.clang-format`` above ``file``, else LLVM's. Raises FormattingError."""
    program = shutil.which("clang-format")
    if program is None:
        raise FormattingError(
            "formatting needs clang-format, which is not installed: install the package clang-format of your system, "
            "or run pip install clang-format"
        )
    command = [program, f"--assume-filename={file}", "--style=file", "--fallback-style=LLVM"]
    if lines is not None:
        command.append(f"--lines={lines[0]}:{lines[1]}")
    folder = Path(file).parent
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-8", "surrogatepass"),
            capture_output=True,
            timeout=LIMIT,
            cwd=folder if folder.is_dir() else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FormattingError(f"clang-format takes longer than {LIMIT:g} seconds") from None
    except OSError as error:
        raise FormattingError(f"cannot start {program}: {error.strerror}") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise FormattingError(f"clang-format failed: {told[0] if told else f'exit code {done.returncode}'}")
    return tuple(_differences(text, done.stdout.decode("utf-8", "surrogatepass")))


def _differences(old: str, new: str) -> Iterator[Edit]:
    """The lines that differ, so that an editor keeps its marks in the others."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, before))]
    for what, first, last, begin, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what != "equal":
            yield Edit(starts[first], starts[last], "".join(after[begin:end]))

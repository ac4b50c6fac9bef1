"""Reading TOML that users write: every text that is not valid gives a `tomllib.TOMLDecodeError` with its place."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["parse", "read_text"]


def read_text(file: "Path | Traversable") -> str:
    """The text of a file, without the byte order mark of editors on Windows. Raises OSError and UnicodeDecodeError."""
    return file.read_text(encoding="utf-8").removeprefix("\ufeff")


def parse(text: str) -> dict[str, Any]:
    """The tables of a text. Raises `tomllib.TOMLDecodeError`, also for what `tomllib` itself fails on: a number of
    thousands of digits and tables or lists that are nested as deeply. Their place is the longest line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        what = "a number is too long"
    except RecursionError:
        what = "tables or lists are nested too deeply"
    lines = text.splitlines()
    line = 1 + max(range(len(lines)), key=lambda number: len(lines[number]))
    raise tomllib.TOMLDecodeError(f"{what} (at line {line}, column 1)")

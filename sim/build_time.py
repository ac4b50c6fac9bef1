"""Estimates the duration of a build from the pace of the last one of its kind on this machine, stored in the cache."""

import contextlib
import json
import os
import uuid
from pathlib import Path
from typing import Any

from .cache import cache_folder

__all__ = ["estimate", "in_words", "remember"]

#: Microseconds per byte of source, as measured on an otherwise idle machine with two processors; the last word of a
#: kind selects one.
PACES = {"runtime": 250.0, "hasty": 12.0, "quick": 35.0}


def estimate(kind: str, bytes: int) -> float:
    """Estimated seconds of a build of so many bytes of source."""
    measured = _paces().get(kind)
    if not isinstance(measured, (int, float)) or not 0 < measured < 1e6:
        measured = PACES[kind.split()[-1]]
    return measured * bytes / 1e6


def remember(kind: str, bytes: int, seconds: float) -> None:
    """Record the duration of a build."""
    paces = {**_paces(), kind: round(seconds * 1e6 / max(1, bytes), 3)}
    path = _file()
    beside = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}")
    with contextlib.suppress(OSError):  # a failure only makes the next estimate worse
        try:
            beside.write_text(json.dumps(paces))
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def in_words(seconds: float) -> str:
    """An estimated time, rounded."""
    if seconds < 60:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{seconds / 60:.0f} min"


def _file() -> Path:
    return cache_folder() / "paces.json"


def _paces() -> dict[str, Any]:
    try:
        found = json.loads(_file().read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

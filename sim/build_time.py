"""How long a build will take: at the pace of the last one of its kind on this machine, which is kept in the cache."""

import contextlib
import json
import os
import uuid
from pathlib import Path

from .cache import cache_folder

__all__ = ["estimate", "in_words", "remember"]

#: Microseconds a byte of source, as measured on a machine of two processors with nothing else to do; of builds that are
#: none of these: the last.
PACES = {"runtime": 250.0, "hasty": 12.0, "quick": 35.0}


def estimate(kind: str, bytes: int) -> float:
    """Seconds that a build of so many bytes of source may take."""
    measured = _paces().get(kind)
    if not isinstance(measured, (int, float)) or not 0 < measured < 1e6:
        measured = PACES[kind.split()[-1]]
    return measured * bytes / 1e6


def remember(kind: str, bytes: int, seconds: float) -> None:
    """Keep what a build took."""
    paces = {**_paces(), kind: round(seconds * 1e6 / max(1, bytes), 3)}
    path = _file()
    beside = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}")
    with contextlib.suppress(OSError):  # the next estimate is worse, and nothing else
        try:
            beside.write_text(json.dumps(paces))
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def in_words(seconds: float) -> str:
    """A time of which no more than its size is known."""
    if seconds < 60:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{seconds / 60:.0f} min"


def _file() -> Path:
    return cache_folder() / "paces.json"


def _paces() -> dict:
    try:
        found = json.loads(_file().read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

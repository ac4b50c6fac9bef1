"""A folder of finished builds, each named by what went into it."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from .errors import BuildError

__all__ = ["cache_folder", "cached", "content_key"]


def cache_folder() -> Path:
    """``$SLUICE_CACHE``, or ``.sluice-cache`` in the working folder. Raises BuildError when it cannot be made."""
    folder = Path(os.environ.get("SLUICE_CACHE") or ".sluice-cache").absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"cannot make the build cache {folder}: {error.strerror}; "
                         "set SLUICE_CACHE to a folder that can be written") from error
    return folder


def content_key(parts: Iterable[str]) -> str:
    """A name for the sequence of texts: equal when all of them are equal."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()[:24]


def cached(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """The folder of the finished build ``kind``/``key``; ``make`` fills a new one where there is none.

    Two processes that want the same build at once make it once; a failed one leaves nothing behind.
    """
    parent = cache_folder() / kind
    folder = parent / key
    if folder.is_dir():
        return folder
    parent.mkdir(parents=True, exist_ok=True)
    with open(parent / f"{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _make_whole(parent, folder, make)
    return folder


def _make_whole(parent: Path, folder: Path, make: Callable[[Path], None]) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=parent))
    try:
        make(unfinished)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise

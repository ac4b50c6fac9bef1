"""A folder of finished builds, each named by a digest of its inputs.

An entry is a folder with one product, and a seal file next to it that holds the size and the digest of the product. It
is made in a temporary folder and renamed when it is finished. An entry without a seal, or whose product does not match
it, is made again: a cache that was cut off, damaged or partly deleted only costs time.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hls.signals import temporary_folder

from .errors import BuildError

__all__ = ["cache_folder", "cached", "content_key"]

SEAL = "seal"
#: errors that another folder would not avoid
NOT_OF_FOLDERS = (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE)
#: name of a folder in which an entry is being made: key, host, process, any suffix
_UNFINISHED = re.compile(r"[0-9a-f]+\.(?P<host>[\w-]+)\.(?P<process>\d+)\.[0-9a-f]+")
HOST = re.sub(r"[^\w-]", "-", socket.gethostname()) or "host"


def cache_folder() -> Path:
    """``$SLUICE_CACHE``, or ``.sluice-cache`` in the working folder. Raises BuildError when it cannot be created."""
    folder = Path(os.environ.get("SLUICE_CACHE") or ".sluice-cache").absolute()
    with _refused(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def content_key(parts: Iterable[str]) -> str:
    """A name for the sequence of texts: equal when all of them are equal."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()[:24]


def cached(kind: str, key: str, product: str, make: Callable[[Path], None]) -> Path:
    """The file ``product`` of the finished build ``kind``/``key``; ``make`` makes it in a new folder if there is
    none, or a damaged one.

    If two processes need the same build at once, it is made once; a failed one leaves nothing behind. Folders and files
    have the mode that the umask specifies, so that a team can share a cache. Raises BuildError if the cache cannot be
    written, and any exception of ``make``.
    """
    parent = cache_folder() / kind
    folder = parent / key
    if _is_whole(folder, product):
        return folder / product
    with _refused(parent):
        parent.mkdir(parents=True, exist_ok=True)
        _sweep(parent)
    with _locked(parent / f"{key}.lock"):
        if not _is_whole(folder, product):
            _make_whole(folder, product, make)
    return folder / product


def _is_whole(folder: Path, product: str) -> bool:
    """Whether the entry exists and matches its seal."""
    try:
        return (folder / SEAL).read_text() == _seal_of(folder / product)
    except (OSError, UnicodeDecodeError):
        return False


def _seal_of(product: Path) -> str:
    """Size, digest and whether it is executable."""
    with product.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{product.stat().st_size} {digest} {int(os.access(product, os.X_OK))}\n"


def _make_whole(folder: Path, product: str, make: Callable[[Path], None]) -> None:
    name = folder.with_name(f"{folder.name}.{HOST}.{os.getpid()}.{uuid.uuid4().hex[:8]}")
    with contextlib.ExitStack() as stack:
        with _refused(folder.parent):
            unfinished = stack.enter_context(temporary_folder(name))
        with _refused(folder.parent):
            make(unfinished)
            (unfinished / SEAL).write_text(_seal_of(unfinished / product))
            _remove(folder)
            unfinished.rename(folder)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock the entry against other processes. A user who may only read another user's lock file waits for it, too."""
    with _refused(path.parent):
        if path.is_dir():
            _remove(path)
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except PermissionError:
            lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove unfinished folders of processes of this machine that no longer exist."""
    for path in parent.iterdir():
        found = _UNFINISHED.fullmatch(path.name)
        if found and found["host"] == HOST and not _is_alive(int(found["process"])):
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _refused(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NOT_OF_FOLDERS:
            raise
        raise BuildError(
            f"cannot use the build cache {folder}: {error.strerror}; set SLUICE_CACHE to a folder that can be "
            "written, with room "
            "for some hundred megabytes"
        ) from error

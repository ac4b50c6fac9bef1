"""RTL libraries in one file: a ZIP archive of the description, the Verilog files, the models and what they include.

An archive is unpacked once, into a folder of the cache that is named by its digest.
"""

import hashlib
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rtl_lib.user_cache import user_cache

from .diag import Code, CompileError, Span

__all__ = ["DESCRIPTION", "is_package", "pack", "unpacked"]

#: the description in an archive
DESCRIPTION = "library.toml"
#: most files of an archive, and most bytes of all of them
MOST_FILES, MOST_BYTES = 1000, 64 << 20
_SIGNATURE = b"PK\x03\x04"
#: the same archive for the same files: no file has a time of its own
_TIME = (1980, 1, 1, 0, 0, 0)


def is_package(path: Path) -> bool:
    """Whether a file is a packed library."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError:
        return False


def pack(target: Path, texts: Mapping[str, str]) -> None:
    """Write an archive of texts by their names in it. Raises OSError."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(texts.items()):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, text)


def unpacked(path: Path) -> Path:
    """The description of a packed library, beside its files. Raises CompileError for an archive that is damaged, or
    that is no library, and for a folder that cannot be written."""
    try:
        data = path.read_bytes()
        root = user_cache("libraries")
        if root is None:
            raise _error(path, "there is no folder to unpack the library in", "set SLUICE_CACHE to one")
        folder = root / hashlib.sha256(data).hexdigest()[:32]
        if not folder.is_dir():
            _unpack(path, folder)
    except OSError as error:
        raise _error(path, f"the library cannot be unpacked: {error.strerror}", "set SLUICE_CACHE to another folder")
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError, KeyError):
        raise _error(path, "the packed library is damaged", "pack it again: sluice library pack") from None
    return folder / DESCRIPTION


def _unpack(path: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path) as archive:
        _check(path, archive)
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            for entry in archive.infolist():
                file = made / entry.filename
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(entry))
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():  # no other process was faster
                    raise
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _check(path: Path, archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if DESCRIPTION not in archive.namelist():
        raise _error(path, f"the archive is no library: it has no file {DESCRIPTION}", "sluice library pack makes one")
    for entry in entries:
        name = PurePosixPath(entry.filename)
        if name.is_absolute() or ".." in name.parts or entry.is_dir() or "\\" in entry.filename:
            hint = "pack the library again: sluice library pack"
            raise _error(path, f"the archive has a file of another folder: {entry.filename!r}", hint)
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_BYTES:
        message = f"the archive has more than {MOST_FILES:,} files, or {MOST_BYTES >> 20} MiB"
        raise _error(path, message, "leave out what the library does not need")


def _error(path: Path, message: str, hint: str) -> CompileError:
    return CompileError.at(Span(str(path), 1), message, hint, code=Code.RTL_LIBRARY)

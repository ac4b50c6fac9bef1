"""Which files a program may read, and their texts."""

import codecs
import io
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from .guard import MOST_BYTES

__all__ = ["Files", "NotRegular", "decoded", "escapes", "in_lines", "readable"]


class NotRegular(Exception):
    """A path that names a device, a pipe, or something else that is not a regular file."""


def decoded(data: bytes) -> str:
    """The text of a file without a byte order mark: UTF-8, or UTF-16 if its mark says so. Each byte that is not UTF-8
    becomes one character, which is harmless in a comment."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "surrogateescape")


#: the characters that stand for bytes which are not UTF-8, as Latin-1 reads these bytes
_AS_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


#: characters at which ``str.splitlines`` begins a line and C does not: white space, such as the form feed between the
#: pages of a listing, and others, which C knows in comments and literals only
_IN_LINES = {ord(c): " " for c in "\v\f"} | {
    ord(c): "\N{REPLACEMENT CHARACTER}" for c in "\x1c\x1d\x1e\x85\u2028\u2029"
}


def in_lines(text: str) -> str:
    """A text whose lines are those of C for ``str.splitlines``, too. It has as many characters, so that columns
    stay."""
    return text.translate(_IN_LINES)


def readable(text: str) -> str:
    """A text of :func:`decoded` to quote and to write, :func:`in_lines`: bytes that are not UTF-8 are read as Latin-1,
    as far as that has a character to print. It has as many characters, so that columns stay."""
    return in_lines(text.translate(_AS_LATIN_1) if not text.isascii() else text)


def escapes(path: Path, roots: Iterable[Path]) -> bool:
    """Whether ``path`` is a link that leads out of its own folder and out of all ``roots``."""
    real = path.resolve()
    return not any(real.is_relative_to(folder.resolve()) for folder in (path.absolute().parent, *roots))


class Files:
    """The files that ``#include`` may read: all files, or with ``roots`` those in these folders, also when reached by
    ``..`` and links."""

    def __init__(self, roots: Iterable[Path | str] = ()) -> None:
        self.roots = [Path(root).resolve() for root in roots]

    def open(self, path: str) -> io.StringIO:
        """The text of a file, cut just beyond the length limit so that the excess is noticed. Raises OSError if there
        is no such file that may be read, and :class:`NotRegular`."""
        real = os.path.realpath(path)
        if self.roots and not any(Path(real).is_relative_to(root) for root in self.roots):
            raise FileNotFoundError(path)  # whether the file exists must not be revealed
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe without a writer must not block
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(path)
            if not stat.S_ISREG(status.st_mode):
                raise NotRegular
            data = file.read(min(status.st_size, MOST_BYTES) + 1)
        if len(data) > status.st_size:  # as in /proc, whose files are generated on reading
            raise NotRegular
        return io.StringIO(decoded(data))

"""Errors that say nothing about a kernel or the compiler, but about the machine: memory that is used up, files that
cannot be written."""

import errno
import os

from .codes import Code
from .message import Diagnostic

__all__ = ["machine_trouble"]

NO_MEMORY = (
    "use a machine or a container with more memory, raise `ulimit -v`, or make the kernel smaller (less "
    "unrolling, fewer copies)"
)
_FOLDERS = "(SLUICE_CACHE for builds, TMPDIR for temporary files, -o for results)"
_NOT_WRITABLE = f"choose a folder that can be written {_FOLDERS}"
#: remedies for errors of files
OF_FILES = {
    errno.ENOSPC: f"make room on that disk, or choose another folder {_FOLDERS}",
    errno.EDQUOT: f"make room in your quota, or choose another folder {_FOLDERS}",
    errno.EROFS: _NOT_WRITABLE,
    errno.EACCES: _NOT_WRITABLE,
    errno.EFBIG: "raise the limit of file sizes (`ulimit -f`)",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "the machine has too many open files",
    errno.EAGAIN: "raise the limit of processes (`ulimit -u`), or set SLUICE_JOBS=1",
}
#: what libraries and programs call it
_WORDS = (
    "cannot allocate memory",
    "out of memory",
    "bad_alloc",
    "can't start new thread",
    "memory exhausted",
    "killed signal",
    "failed to map segment",  # of a library that is loaded
    "memory allocation of",  # of the translator to Verilog, as Rust's run time says it
)


#: errors of files that programs started by ours report in words of the system
_REPORTED = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EMFILE, errno.ENFILE)


def machine_trouble(error: BaseException) -> Diagnostic | None:
    """What the machine lacks, as a message; None where the error, and those that led to it, are of another kind."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        found = _of_memory(one) or _of_files(one)
        if found is not None:
            return found
        one = one.__cause__ or one.__context__
    return None


def _of_memory(error: BaseException) -> Diagnostic | None:
    lines = str(error).strip().splitlines()
    telling = [line for line in lines if any(word in line.lower() for word in _WORDS)]
    if isinstance(error, MemoryError) or isinstance(error, OSError) and error.errno == errno.ENOMEM or telling:
        details = (telling or lines)[-1:]
        return Diagnostic(
            f"out of memory{': ' if details else ''}{''.join(details)}", hint=NO_MEMORY, code=Code.OUT_OF_MEMORY
        )
    return None


def _of_files(error: BaseException) -> Diagnostic | None:
    if not isinstance(error, OSError):
        return _of_reported_files(str(error))
    if error.errno not in OF_FILES:
        return None
    place = f"{error.filename}: " if error.filename is not None else ""
    return Diagnostic(f"{place}{error.strerror}", hint=OF_FILES[error.errno], code=Code.FILE_SYSTEM)


def _of_reported_files(text: str) -> Diagnostic | None:
    for line in reversed(text.splitlines()):
        for number in _REPORTED:
            if os.strerror(number).lower() in line.lower():
                return Diagnostic(line.strip(), hint=OF_FILES[number], code=Code.FILE_SYSTEM)
    return None

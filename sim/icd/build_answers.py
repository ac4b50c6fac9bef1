"""Answers to builds that were made before, in this or another process: a host learns at once of the kernels of a
program that it builds again, and the program is compiled when the first of them is launched.

So programs that only ask, such as clinfo, which builds a kernel for each device, need no compiler.
"""

import functools
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from sim import cl
from sim.cache import cached, content_key
from sim.cl.options import MORE_OPTIONS
from sim.errors import BuildError

__all__ = ["answer_to_build", "key_of_build"]

ROOT = Path(__file__).parents[2]
#: of ours, where all that decides about an answer lies
PACKAGES = ("boards", "hls", "rtl_lib", "sim")
#: options that name no file
_ALONE = re.compile(
    r"-D\w+(=.*)?|-cl-[a-z-]+(=[\w.]+)?|-w|-Werror|-(max-work-group-size|local-mem-size)=\d+", re.DOTALL
)
#: what makes a source depend on other files
_OTHERS = re.compile(r"include")
#: variables that decide about no answer
_OF_RUNS = (
    *("SLUICE_CACHE", "SLUICE_PYTHON", "SLUICE_VERBOSE", "SLUICE_STATS", "SLUICE_PROFILE", "SLUICE_TRACE"),
    "SLUICE_SHORT_RUNS",
)


class _NotKept(Exception):
    """The answer is that of a build that failed."""


def key_of_build(device: cl.Device, place: int, source: str, options: str) -> str | None:
    """The name under which the answer for a device at this place of a context is kept; None where other files may
    decide about it."""
    try:
        words = _without_folders([*shlex.split(options), *shlex.split(os.environ.get(MORE_OPTIONS) or "")])
    except ValueError:
        return None
    if device.link or os.environ.get("SLUICE_DESIGN"):
        return None
    if any(_OTHERS.search(text) for text in (source, *words)) or not all(_ALONE.fullmatch(word) for word in words):
        return None
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if _decides(name)]
    return content_key([_compiler(), repr(device.board), device.kind, str(place), options, source, *settings])


def _without_folders(words: list[str]) -> list[str]:
    """The options but those that name folders, which decide about nothing where nothing is included."""
    left = iter(words)
    return [word for word in left if not word.startswith("-I") or (word == "-I" and next(left, None) is None)]


def _decides(variable: str) -> bool:
    return variable.startswith("SLUICE_") and not variable.startswith(_OF_RUNS)


@functools.cache
def _compiler() -> str:
    """A name for the state of the compiler that this process runs."""
    return content_key([sys.version, *_files()])


def _files() -> Iterator[str]:
    """Name, time and size of all files of the compiler."""
    for package in PACKAGES:
        for folder, folders, files in os.walk(ROOT / package):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                facts = os.stat(os.path.join(folder, name))
                yield f"{folder}/{name} {facts.st_mtime_ns} {facts.st_size}"


def answer_to_build(key: str, build: Callable[[], tuple[bool, bytes]]) -> bytes:
    """The answer that is kept under the key; else that of ``build``, which says whether the program was built: others
    are not kept. Where the cache cannot be written, nothing is."""
    made: list[bytes] = []

    def make(folder: Path) -> None:
        good, data = build()
        made.append(data)
        if not good:
            raise _NotKept
        (folder / "answer").write_bytes(data)

    try:
        return cached("answers", key, "answer", make).read_bytes()
    except (_NotKept, BuildError, OSError):
        return made[0] if made else build()[1]

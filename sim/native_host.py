"""What ``sluice run`` may be given besides a host in Python: a compiled program (``.aocx``) first, and a host in any
other language, which runs with the OpenCL driver."""

import os
import shlex
from pathlib import Path
from typing import NoReturn

from hls.target.board import known_boards
from sim import cl
from sim.cl.aocx import Aocx
from sim.cl.constants import status_code
from sim.icd.__main__ import setting
from sim.icd.build import build_driver

__all__ = ["is_native", "run_native", "use_compiled", "use_driver"]

SUFFIX = ".aocx"
#: how files begin that the system runs by itself
PROGRAMS = (b"\x7fELF", b"#!")


def use_compiled(arguments: list[str]) -> list[str]:
    """Let the devices be those that the ``.aocx`` in front of the arguments was compiled for, if there is one; returns
    the rest. Raises cl.Error for a damaged one, for another board than $SLUICE_BOARD, and without a host."""
    if not arguments[0].endswith(SUFFIX):
        return arguments
    file, rest = Path(arguments[0]), arguments[1:]
    found = Aocx.of(file.read_bytes())
    if not rest:
        raise _wrong(f"{file}: a host program is missing: sluice run {file} HOST ARGUMENTS")
    if not Path(rest[0]).is_file():
        raise _wrong(f"{rest[0]}: there is no such host program")
    board = os.environ.get("SLUICE_BOARD") or found.board
    if board == found.board and board not in known_boards():
        raise _wrong(f"{file}: it was compiled for board {board}, which is a file of yours: name it with --board FILE")
    if board == found.board and found.clock_mhz is not None:
        board = f"{board}@{found.clock_mhz:g}"
    os.environ["SLUICE_BOARD"] = board
    if found.march == "emulator":
        os.environ.setdefault("SLUICE_DEVICE", "emulator")
    first = cl.get_platforms()[0].get_devices()[0]
    found.for_device(first.board.name, first.kind, first.board.clock.kernel_mhz)
    return rest


def is_native(host: str) -> bool:
    """Whether the system runs the file itself: a compiled program, or a script that is not for Python."""
    if host.endswith(".py"):
        return False
    with open(host, "rb") as file:
        head = file.readline(200)
    return head.startswith(PROGRAMS) and not (head.startswith(b"#!") and b"python" in head)


def run_native(arguments: list[str]) -> NoReturn:
    """Become the host program, with the driver as the only one that it finds. Raises ToolMissing and BuildError where
    the driver cannot be built, cl.Error if the program cannot be started."""
    use_driver()
    host = os.path.abspath(arguments[0])
    try:
        os.execv(host, [arguments[0], *arguments[1:]])
    except OSError as error:
        raise _wrong(f"{arguments[0]} cannot be started: {error.strerror}; is it executable?") from None


def use_driver() -> None:
    """Let the loaders of this process, and of those that it starts, find the driver alone. Raises ToolMissing and
    BuildError where it cannot be built."""
    for word in shlex.split(setting(build_driver())):
        name, _, value = word.partition("=")
        os.environ[name] = value


def _wrong(what: str) -> cl.LogicError:
    return cl.LogicError("sluice run", status_code.INVALID_VALUE, what)

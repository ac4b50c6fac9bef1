"""Runs a host program as ``python FILE ARGUMENTS`` would; what the OpenCL calls refuse is a message, not a traceback."""

import functools
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

from hls.signals import exit_on_signals, follow_supervisor, was_interrupted
from sim import cl
from sluice import PACKAGES, share

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Run the program ``arguments[0]`` with the rest as its own arguments."""
    exit_on_signals(interrupts=True)
    follow_supervisor()
    path = Path(arguments[0])
    sys.argv[:] = arguments
    sys.path.insert(0, str(path.resolve().parent))  # python -P puts nothing there
    for package in PACKAGES:
        share(package)
    if os.environ.get("SLUICE_DEBUG") != "1":
        sys.excepthook = functools.partial(_report, path)
    runpy.run_path(str(path), run_name="__main__")


def _report(path: Path, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say what ended the program: a refused call in a few lines, anything else as Python does, from the program on."""
    if isinstance(error, KeyboardInterrupt):
        was_interrupted()
    if isinstance(error, cl.Error):
        print(_message(error, path, trace), file=sys.stderr)
    elif isinstance(error, KeyboardInterrupt):
        print(f"interrupted{': ' if error.args else ''}{error}", file=sys.stderr)
    else:
        while trace is not None and not _is(trace.tb_frame.f_code.co_filename, path):
            trace = trace.tb_next
        traceback.print_exception(kind, error, trace)


def _message(error: Exception, path: Path, trace: TracebackType | None) -> str:
    """The error at the last line of the program that led to it."""
    frames = [frame for frame in traceback.extract_tb(trace) if _is(frame.filename, path)]
    if not frames:
        return f"{path}: error: {error}"
    head, newline, more = str(error).partition("\n")
    return f"{path}:{frames[-1].lineno}: error: {head}\n    {frames[-1].line}{newline}{more}"


def _is(filename: str, path: Path) -> bool:
    return os.path.realpath(filename) == os.path.realpath(path)


if __name__ == "__main__":
    main(sys.argv[1:])

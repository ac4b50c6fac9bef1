"""Runs a host program as ``python FILE ARGUMENTS`` would; an error of an OpenCL call is a message, not a traceback."""

import functools
import os
import runpy
import sys
import traceback
import warnings
from pathlib import Path
from types import TracebackType

from hls.diag import machine_trouble
from hls.signals import exit_on_signals, follow_supervisor, until_nobody_reads, was_interrupted
from sim import cl
from sim.cl.profile_files import write_files
from sim.cl.refusals import tell_end
from sim.cl.schedule import finish_all
from sim.errors import BuildError, SimulationError, ToolMissing
from sim.waveform import finish_waveforms
from sluice import PACKAGES, share

from .pyopencl_host import DriverForPyopencl

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Run the program ``arguments[0]`` with the rest as its own arguments."""
    exit_on_signals(interrupts=True)
    warnings.filterwarnings("ignore", ".*created but never used")  # parts of designs that were given up
    if not arguments[0].endswith(".py"):
        arguments = _prepared(arguments)
    path = Path(arguments[0])
    sys.argv[:] = arguments
    sys.path.insert(0, str(path.resolve().parent))  # python -P does not do this
    for package in PACKAGES:
        share(package)
    driver = DriverForPyopencl()
    sys.meta_path.insert(0, driver)
    if os.environ.get("SLUICE_DEBUG") != "1":
        sys.excepthook = functools.partial(_report, path)
    follow_supervisor()
    with until_nobody_reads():
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as error:
            if error.code not in (None, 0):
                tell_end(error)
            _finish(arguments, driver)
            raise
        except BrokenPipeError:
            finish_waveforms()
            raise
        _finish(arguments, driver)


def _finish(arguments: list[str], driver: DriverForPyopencl) -> None:
    finish_all()  # launches that were not waited for
    finish_waveforms()
    if not driver.used:
        write_files(arguments)


def _prepared(arguments: list[str]) -> list[str]:
    """The host in Python and its arguments, without a compiled program in front of them; a host in another language is
    run at once, and this does not return."""
    from .native_host import is_native, run_native, use_compiled

    try:
        arguments = use_compiled(arguments)
        if is_native(arguments[0]):
            follow_supervisor()
            run_native(arguments)
    except cl.Error as error:
        sys.exit(f"error: {error.what}")
    except (BuildError, ToolMissing, OSError) as error:
        sys.exit(f"error: {error}")
    return arguments


def _report(path: Path, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report the error that ended the program: a refused call in a few lines, anything else as Python does, from the
    program on."""
    if isinstance(error, KeyboardInterrupt):
        was_interrupted()
    tell_end(error)
    finish_waveforms()
    if isinstance(error, cl.Error) or trace is not None and _says_it(error, trace, path):
        print(_message(error, path, trace), file=sys.stderr)
    elif isinstance(error, KeyboardInterrupt):
        print(f"interrupted{': ' if error.args else ''}{error}", file=sys.stderr)
    else:
        while trace is not None and not _is(trace.tb_frame.f_code.co_filename, path):
            trace = trace.tb_next
        traceback.print_exception(kind, error, trace)


def _says_it(error: BaseException, trace: TracebackType, path: Path) -> bool:
    """Whether a missing tool, or a tool's error, ended one of our own functions, or one of Python's that it called:
    then the message is complete."""
    if isinstance(error, (BuildError, SimulationError, ToolMissing)):
        return True
    return machine_trouble(error) is not None and _is_ours(trace, path)


def _is_ours(trace: TracebackType, path: Path) -> bool:
    """Whether the program had called one of our functions."""
    files = [Path(frame.filename).resolve() for frame in traceback.extract_tb(trace)]
    called = files[files.index(path.resolve()) + 1 :] if path.resolve() in files else files
    folders = [folder for package in PACKAGES for folder in sys.modules[package].__path__]
    return any(file.is_relative_to(folder) for file in called for folder in folders)


def _message(error: BaseException, path: Path, trace: TracebackType | None) -> str:
    """The error at the last line of the program that led to it."""
    trouble = (
        None if isinstance(error, (cl.Error, BuildError, SimulationError, ToolMissing)) else machine_trouble(error)
    )
    if trouble is not None:
        error = Exception(f"{trouble.message}\n  hint: {trouble.hint}")
    frames = [frame for frame in traceback.extract_tb(trace) if _is(frame.filename, path)]
    if not frames:
        return f"{path}: error: {error}"
    head, newline, more = str(error).partition("\n")
    return f"{path}:{frames[-1].lineno}: error: {head}\n    {frames[-1].line}{newline}{more}"


def _is(filename: str, path: Path) -> bool:
    return os.path.realpath(filename) == os.path.realpath(path)


if __name__ == "__main__":
    main(sys.argv[1:])

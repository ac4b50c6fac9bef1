"""Values of command line options: each function checks one, and raises click.BadParameter for one that is not valid."""

import functools
import math
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .cli_messages import OF_OPTIONS
from .cli_numbers import Numbers, Reals
from .cli_project import Merged, ProjectCommand
from .design import DesignError, read_design
from .diag import Code, CompileError, Diagnostic, render
from .limits import Limits
from .options import AXI_ADDRESS_BITS, COUNTERS, FEED_FORWARDS, MOST_CACHE_BYTES
from .rtl_library import RtlFunction, load_libraries
from .target.board import MHZ, BoardError, board_and_clock, known_boards, known_instead

__all__ = [
    "BOARD",
    "COMMAND",
    "COPY_BYTES",
    "DEFINES",
    "FEED_FORWARD",
    "FPC",
    "FP_RELAXED",
    "INCLUDE_DIRS",
    "LIBRARIES",
    "LIBRARY_FILES",
    "LIMITS",
    "PLACEMENT_SEED",
    "CompileCommand",
    "board_is_named",
    "check_address_bits",
    "check_board",
    "check_prefix",
    "check_trace",
    "design_option",
    "make_folder",
    "on_command_line",
    "output_file",
    "output_folder",
    "parse_defines",
    "results_folder",
    "workloads_option",
]

DEFAULT_BOARD = "de5net"
#: key of the context's ``meta`` for the command line
COMMAND = "sluice.command"
#: key in click's ``meta``: the files of all libraries
LIBRARY_FILES = "sluice.library_files"


PLACEMENT_SEED = click.option(
    "--seed",
    type=Numbers(1, 2**31 - 1),
    default=1,
    metavar="N",
    help="Begin the placement with another seed.  [default: 1]",
)


def output_folder(text: str) -> Callable[[Callable], Callable]:
    """The option ``-o DIR`` with this help: the folder ``output``, None by default."""
    folder = click.Path(file_okay=False, path_type=Path)
    return click.option("-o", "output", metavar="DIR", type=folder, default=None, help=text)


def output_file(text: str) -> Callable[[Callable], Callable]:
    """The option ``-o FILE`` with this help: the file ``output``, None by default."""
    file = click.Path(dir_okay=False, path_type=Path)
    return click.option("-o", "output", metavar="FILE", type=file, default=None, help=text)


class CompileCommand(ProjectCommand):
    """``--counters`` and ``-profile`` may have a value, which only ``=`` separates: a word behind them is a file."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Parse the command line after giving the options without a value their default, up to ``--``."""
        context.meta[COMMAND] = f"{context.command_path} {shlex.join(arguments)}"
        whole = {"--counters": "--counters=all", "-profile": "--counters=all"}
        end = arguments.index("--") if "--" in arguments else len(arguments)
        for option, value in pairwise(arguments[:end]):
            if option in whole and value in COUNTERS[1:] and not Path(value).exists():
                raise click.UsageError(f"a value of {option} stands behind =: {option}={value}", context)
        return super().parse_args(context, [*(whole.get(one, one) for one in arguments[:end]), *arguments[end:]])


#: the name of a macro, with its parameters if it has any
_MACRO = re.compile(r"[^\W\d]\w*(\([\w\s,.]*\))?", re.ASCII)


def parse_defines(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Macros as in OpenCL's own -D: a name without a value means 1. The name may have parameters (``TWICE(x)=2*x``)."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not _MACRO.fullmatch(name):
            raise click.BadParameter(f"{text!r} is not NAME or NAME=VALUE with a name as in C")
        found[name] = value if equals else "1"
    return found


def check_address_bits(_context: click.Context, _parameter: click.Parameter, bits: int) -> int:
    """The width of the addresses of AXI4 managers; a usage error for one that they cannot have."""
    if bits not in AXI_ADDRESS_BITS:
        raise click.BadParameter(f"addresses can have {' or '.join(map(str, AXI_ADDRESS_BITS))} bits, not {bits}")
    return bits


def check_prefix(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """The prefix of names in the Verilog; a usage error if it is no identifier."""
    if name and not (name.isidentifier() and name.isascii()):
        raise click.BadParameter(f"{name!r} is not a name as in Verilog: letters, digits and underscores")
    return name


def parse_limits(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> Limits:
    """Limits of the compiler from texts ``name=number``; a usage error for others."""
    limits = Limits()
    for text in texts:
        name, _, number = text.partition("=")
        if name not in Limits.names() or not number.isdecimal() or not int(number):
            raise click.BadParameter(
                f"{text!r} is not NAME=N with a number from 1 on and one of the names {', '.join(Limits.names())}"
            )
        limits = limits.with_limit(name, int(number))
    return limits


COPY_BYTES = click.option(
    "-copy-bytes",
    "--copy-bytes",
    "copy_bytes",
    type=Numbers(0, MOST_CACHE_BYTES),
    metavar="N",
    default=None,
    help="Copy buffers that a kernel waits for in external memory to the chip while it runs, where that gains cycles, "
    "in launches in which each has at most N bytes; 0 for none.  [default: by the board's block RAMs, 65536 at most]",
)

LIMITS = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=N",
    callback=parse_limits,
    help="Set another budget: "
    f"{', '.join(f'{name} ({getattr(Limits, name.replace(chr(45), chr(95))):,})' for name in Limits.names())}.",
)


def check_board(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str:
    """Rejects the name of an unknown board; the contents of a board file are checked later."""
    chosen = name or os.environ.get("SLUICE_BOARD") or DEFAULT_BOARD
    try:
        name, _ = board_and_clock(chosen)
    except BoardError as error:
        raise click.BadParameter(str(error)) from None
    is_file = name.endswith(".toml") or "/" in name
    if is_file and not Path(name).is_file():
        raise click.BadParameter(f"there is no board file {name}; to name a board, leave path and .toml out")
    if not is_file and name not in known_boards():
        raise click.BadParameter(f"unknown board {name!r}{known_instead(name)}")
    return chosen


def check_trace(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    """The file of a waveform; a usage error for a folder, or where its folder is missing."""
    if path is not None and (path.is_dir() or not path.resolve().parent.is_dir()):
        raise click.BadParameter(f"{path} is not a file in a folder that exists")
    return path


def check_trace_window(_context: click.Context, _parameter: click.Parameter, window: str | None) -> str | None:
    """The first cycle and the number of cycles of a waveform; a usage error for anything else."""
    if window is not None and not re.fullmatch(r"\d+:0*[1-9]\d*", window, re.ASCII):
        raise click.BadParameter(f"{window!r} is not START:CYCLES, such as 1000:20000")
    return window


def make_folder(folder: Path, option: str) -> Path:
    """Make the folder of the results before the program runs, which may take hours; returns its absolute path. Exits
    with a message, which names the ``option`` that chooses another, if nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise click.ClickException(
            f"cannot write into folder {folder}: {error.strerror}; choose another with {option}"
        ) from None
    return folder.resolve()


@contextmanager
def results_folder(folder: Path, option: str) -> Iterator[Path]:
    """The same for a program that may end without results: then the folders that were made are gone afterwards."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    path = make_folder(folder, option)
    try:
        yield path
    finally:
        for one in made:  # the innermost first
            if one.is_dir() and not any(one.iterdir()):
                one.rmdir()


def _check_clock(_context: click.Context, _parameter: click.Parameter, mhz: float | None) -> float | None:
    if mhz is not None and not math.isfinite(mhz):
        raise click.BadParameter("the kernel clock is a number of MHz")
    return mhz


#: options that several commands have
_BOARD = click.option(
    "--board", callback=check_board, help="Board name or file, also BOARD@MHZ.  [default: $SLUICE_BOARD, else de5net]"
)
_CLOCK = click.option(
    "--clock",
    metavar="MHZ",
    type=Reals(*MHZ),
    callback=_check_clock,
    help="Schedule for this kernel clock, and simulate with it.  [default: the board's]",
)


def BOARD(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options ``--board`` and ``--clock``; the command has a parameter ``board`` in the form ``BOARD@MHZ``."""

    @functools.wraps(command)
    def with_clock(*args: Any, board: str, clock: float | None, **options: Any) -> Any:
        return command(*args, board=board if clock is None else f"{board_and_clock(board)[0]}@{clock:g}", **options)

    return _BOARD(_CLOCK(with_clock))


DEFINES = click.option(
    "-D", "defines", cls=Merged, multiple=True, metavar="N[=V]", callback=parse_defines, help="Define a macro."
)


def _existing(context: click.Context, _parameter, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """The folders that exist; a message tells of each other one, as Makefiles name folders that few machines have."""
    missing = [folder for folder in folders if not folder.exists()]
    context.meta.setdefault(OF_OPTIONS, []).extend(
        Diagnostic(
            f"-I names the folder {folder}, which does not exist",
            hint="correct the name, or leave the option out",
            severity="warning",
            code=Code.NO_INCLUDE_FOLDER,
        )
        for folder in missing
    )
    return tuple(folder for folder in folders if folder not in missing)


INCLUDE_DIRS = click.option(
    "-I",
    "include_dirs",
    cls=Merged,
    own_first=True,
    multiple=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    callback=_existing,
    help="Search a folder for includes.",
)


def _load_libraries(context, _parameter, paths: tuple[Path, ...]) -> tuple[RtlFunction, ...]:
    """The functions of all libraries. Exits with a message for one that is malformed."""
    paths = tuple(dict.fromkeys(paths))
    try:
        found = load_libraries(paths)
    except CompileError as error:
        text = "\n".join(render(each, {}) for each in error.diagnostics)
        raise _Refused(text) from None
    context.meta[LIBRARY_FILES] = (*paths, *(file for one in found for file in (one.model, *one.files)))
    return found


class _Refused(click.ClickException):
    """A message that is complete, with its place and number."""

    def show(self, file: Any = None) -> None:
        click.echo(self.message, err=True, file=file)


LIBRARIES = click.option(
    "-l",
    "--library",
    "libraries",
    cls=Merged,
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_load_libraries,
    help="Build calls of the functions that a library describes with its Verilog modules.",
)
FP_RELAXED = click.option(
    "-fp-relaxed", "fp_relaxed", is_flag=True, help="Allow other orders of floating-point additions."
)
FEED_FORWARD = click.option(
    "--feed-forward",
    "feed_forward",
    type=click.Choice(FEED_FORWARDS),
    default="never",
    help="Split kernels into a part that loads ahead and one that computes: only those with the attribute feed_forward "
    "(never), all that can be split (always), or those that the schedules predict to be faster (auto); auto also makes "
    "copies of kernels that share their iterations.  "
    "[default: never]",
)
FPC = click.option("-fpc", "fpc", is_flag=True, help="Round a sum of products once, at its end.")


def _check_design(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    """The path of a design that can be read; a usage error for another file."""
    if path is not None:
        try:
            read_design(path)
        except DesignError as error:
            raise click.BadParameter(str(error)) from None
    return path


#: ``--design FILE`` of the commands that compile
design_option = click.option(
    "--design",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_check_design,
    help="Compile with the design that `sluice tune` wrote to FILE.",
)


def workloads_option(help: str) -> Callable[[Callable], Callable]:
    """``--workload FILE``, a file or a folder, of the commands that predict launches; parameter ``workloads``."""
    return click.option(
        "--workload",
        "workloads",
        multiple=True,
        metavar="FILE",
        type=click.Path(exists=True, path_type=Path),
        help=help,
    )


def on_command_line(*names: str) -> bool:
    """Whether one of these parameters of the command that runs is given on the command line."""
    source = click.get_current_context().get_parameter_source
    return any(source(name) is ParameterSource.COMMANDLINE for name in names)


def board_is_named() -> bool:
    """Whether the command line names a board or a clock, or $SLUICE_BOARD a board."""
    return on_command_line("board", "clock") or bool(os.environ.get("SLUICE_BOARD"))

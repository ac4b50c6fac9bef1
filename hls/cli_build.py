"""``sluice build``: from a program to a bitstream for a board of the open tools."""

import os
import sys
from pathlib import Path

import click

from .cli_files import SOURCE, read_board
from .cli_messages import Messages
from .cli_options import BOARD, PLACEMENT_SEED, on_command_line, output_folder
from .cli_project import ProjectCommand
from .diag import Code, CompileError, Diagnostic
from .export.soc import check_board
from .export.write import ExportError
from .signals import supervise

__all__ = ["build_command"]


@click.command(
    "build",
    cls=ProjectCommand,
    context_settings={"ignore_unknown_options": True},
    short_help="Make a bitstream: compile, add memory and host link, place and route.",
)
@BOARD
@output_folder("Output folder, as that of `sluice compile`.  [default: name of the source]")
@PLACEMENT_SEED
@click.argument("source", type=SOURCE)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def build_command(board: str, output: Path | None, seed: int, source: Path, options: tuple[str, ...]) -> None:
    """Make a bitstream of a program for a board: compile it, put it into a system with the board's memory and a serial
    line to the host, place and route that, pack it.

    OPTIONS, behind SOURCE, are those of `sluice compile`. The system lies in DIR/soc: soc.py, which is a program for
    LiteX, and soc.bit, the bitstream. If its timing is not met at the clock of the design, it is built for a slower one
    that is reached, which is told.
    """
    messages = Messages("text")
    with messages.guard():
        try:
            check_board(read_board(board))
        except ExportError as error:
            raise CompileError(Diagnostic(str(error), hint=error.hint, code=Code.BITSTREAM)) from error
    folder = output or Path(source.stem)
    # a board that is named here overrides the clock of a project, too
    named = ["--board", board] if on_command_line("board", "clock") else []
    compile_it = [
        sys.executable,
        "-P",
        "-m",
        "sluice",
        "compile",
        *named,
        "-o",
        str(folder),
        *options,
        "--",
        str(source),
    ]
    if code := supervise(compile_it, os.environ):
        sys.exit(code)
    build_it = [sys.executable, "-P", "-m", "sluice.build", "--board", board, "--seed", str(seed), "--", str(folder)]
    sys.exit(supervise(build_it, os.environ))

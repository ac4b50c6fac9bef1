"""`sluice check`: diagnostics and the plan of a program, without Verilog."""

import json
import sys
from pathlib import Path

import click

from .cli_files import SOURCE, read_board, read_source
from .cli_messages import FAILED, Messages
from .cli_options import BOARD, COPY_BYTES, DEFINES, FP_RELAXED, FPC, INCLUDE_DIRS, LIBRARIES, LIMITS
from .cli_project import ProjectCommand, on_project
from .limits import Limits
from .rtl_library import RtlFunction
from .signals import deferred

__all__ = ["check_command"]


@click.command(
    cls=ProjectCommand,
    for_each=True,
    alone=("as_json",),
    short_help="Check a program and plan its loops, without Verilog.",
)
@click.argument("source", type=SOURCE)
@BOARD
@DEFINES
@INCLUDE_DIRS
@LIBRARIES
@FP_RELAXED
@FPC
@COPY_BYTES
@LIMITS
@click.option("--advice", is_flag=True, help="Also try changes of the program, for advice, which takes longer.")
@click.option("--json", "as_json", is_flag=True, help="The kernels and all messages as JSON.")
@click.option("--fail-on-warning", is_flag=True, help="Exit code 1 if there is a warning.")
def check_command(
    source: Path,
    board: str,
    defines: dict[str, str],
    include_dirs: tuple[Path, ...],
    libraries: tuple[RtlFunction, ...],
    fp_relaxed: bool,
    fpc: bool,
    copy_bytes: int | None,
    limits: Limits,
    advice: bool,
    as_json: bool,
    fail_on_warning: bool,
) -> None:
    """Check SOURCE and plan its loops: errors and warnings, and a line for each kernel with its slowest loop.

    No Verilog is made, and nothing is written.
    """
    with deferred():
        from .driver import plan_text
        from .options import Options
        from .records import plain
        from .report.checked import check_plan

    messages = Messages("json" if as_json else "text")
    folders = (source.resolve().parent, *include_dirs)
    options = on_project(
        Options(defines, folders, fp_relaxed, fpc, libraries=libraries, copy_bytes=copy_bytes, limits=limits)
    )
    with messages.guard():
        text = read_source(source, options.include_roots)
        messages.sources[str(source)] = text
        plan = plan_text(text, read_board(board), options, str(source))
        messages.sources |= plan.module.sources
        found = check_plan(plan, str(source), advice)
    if as_json:
        click.echo(json.dumps(plain(found), indent=1))
    else:
        messages.add(*found.messages)
        messages.show()
        for verdict in found.verdicts:
            click.echo(f"kernel {verdict}")
    warned = any(one.severity == "warning" for one in found.messages)
    sys.exit(FAILED if fail_on_warning and warned else 0)

"""Command line options that show what the passes do."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .target.board import Board

if TYPE_CHECKING:
    from .passes.inspection import Inspection

__all__ = ["inspection_options", "make_inspection", "show_times"]

_OPTIONS = (
    click.option(
        "--dump-ir",
        "dump",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        help="Write the IR of every kernel after every pass, DIR/KERNEL/NNNN-STAGE-PASS.ir.",
    ),
    click.option(
        "--print-after", "print_after", metavar="PASS", multiple=True, help="Print the IR after this pass.  Repeatable."
    ),
    click.option(
        "--stop-after",
        "stop_after",
        metavar="PASS",
        default=None,
        help="End after this pass, and print the IR that it leaves.",
    ),
    click.option("--verify-each", "verify_each", is_flag=True, help="Check the IR after every pass."),
    click.option("--time-passes", "time_passes", is_flag=True, help="Print the time that each pass takes."),
)


def inspection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with these options added."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def make_inspection(
    board: Board,
    dump: Path | None,
    print_after: tuple[str, ...],
    stop_after: str | None,
    verify_each: bool,
    time_passes: bool,
) -> "Inspection | None":
    """The inspection that the options request, or None if they request none. Raises CompileError for unknown pass
    names."""
    if not (dump or print_after or stop_after or verify_each or time_passes):
        return None
    from .opt import check_names
    from .passes.inspection import Inspection

    check_names(print_after, board, "--print-after")
    check_names([stop_after] if stop_after else [], board, "--stop-after")
    return Inspection(dump, frozenset(print_after), stop_after, verify_each, time_passes, click.echo)


def show_times(inspection: "Inspection | None") -> None:
    """Print the table of --time-passes to stderr."""
    if inspection is not None and inspection.time_passes:
        click.echo(inspection.time_table(), err=True, nl=False)

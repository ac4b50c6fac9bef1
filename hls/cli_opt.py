"""The command ``sluice opt``."""

from pathlib import Path
from typing import Any

import click

from .cli_files import read_board, read_source
from .cli_inspection import inspection_options, make_inspection, show_times
from .cli_messages import Messages
from .cli_options import check_board, output_file
from .diag import Code, CompileError, Diagnostic
from .narrow import present

__all__ = ["opt_command"]


@click.command("opt", short_help="Run single passes on IR text.")
@click.argument("source", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--passes",
    default="",
    metavar="A,B{X=1}",
    help="Names of passes, with commas between, and their options in braces.",
)
@click.option(
    "--board",
    callback=check_board,
    help="Board whose delays and memories passes go by.  [default: $SLUICE_BOARD, else de5net]",
)
@click.option(
    "--list-passes",
    "listed",
    is_flag=True,
    help="Show all passes in the order of the pipeline, with their options, and end.",
)
@output_file("Write the IR there.  [default: stdout]")
@inspection_options
def opt_command(
    source: Path | None, passes: str, board: str, listed: bool, output: Path | None, **inspected: Any
) -> None:
    """Run single passes on the IR text of SOURCE (a file of `compile --dump-ir`), and print the IR that they leave."""
    if source is None and not listed:
        raise click.UsageError("Missing argument 'SOURCE': a file with IR, as `sluice compile --dump-ir` writes them")
    messages = Messages("text")
    with messages.guard():
        from .opt import describe, known_passes, printed, read_module, run_passes
        from .passes.manager import Stopped

        facts = read_board(board)
        if listed:
            click.echo("\n".join(describe(one) for one in known_passes(facts).values()))
            return
        inspection = make_inspection(facts, **inspected)
        text = read_source(present(source))
        messages.sources[str(source)] = text
        try:
            module = read_module(text, str(source))
            result = printed(run_passes(module, passes, facts, inspection, messages.add))
        except Stopped as stopped:
            result = "\n".join(present(inspection).text(function) for function in stopped.functions)
        show_times(inspection)
        _write_text(result, output)
        messages.show()


def _write_text(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise CompileError(
            Diagnostic(
                f"cannot write {output}: {error.strerror}", hint="name another file with -o", code=Code.CANNOT_WRITE
            )
        ) from error

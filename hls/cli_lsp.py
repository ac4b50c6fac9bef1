"""`sluice lsp`: the language server that editors start."""

from importlib import util
from pathlib import Path

import click

from .cli_messages import Messages
from .cli_options import BOARD, DEFINES, FP_RELAXED, FPC, INCLUDE_DIRS, board_is_named
from .signals import deferred
from .version import version

__all__ = ["lsp_command"]


@click.command(short_help="Serve an editor: messages, II and memories while typing.")
@BOARD
@DEFINES
@INCLUDE_DIRS
@FP_RELAXED
@FPC
def lsp_command(
    board: str, defines: dict[str, str], include_dirs: tuple[Path, ...], fp_relaxed: bool, fpc: bool
) -> None:
    """Serve an editor on standard input and output, by the language server protocol. docs/editor.md says how editors
    start it.

    An editor's own settings come on top of the options.
    """
    if util.find_spec("pygls") is None:
        raise click.ClickException("the language server needs pygls: pip install 'sluice-hls[editor]'")
    with deferred():
        from .editor.requests import serve
        from .editor.server import Settings
        from .options import Options

    Messages("text").show()  # of the options, to stderr: stdout is the protocol's
    # the projects of the programs that are opened say the rest, see hls.editor.projects
    serve(Settings(board, Options(defines, include_dirs, fp_relaxed, fpc), board_is_named()), version())

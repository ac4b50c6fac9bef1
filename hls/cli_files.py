"""Files that commands read: sources and boards, with messages for those that cannot be read."""

from pathlib import Path

from .diag import Code, CompileError, Diagnostic, Span
from .target.board import Board, BoardError, load_board

__all__ = ["read_board", "read_source"]


def read_source(source: Path, roots: tuple[Path, ...] = ()) -> str:
    """The text of a file; with ``roots``, it must not be a link that leads out of them. Raises CompileError."""
    from .frontend.included import Files, NotRegular, escapes

    if roots and escapes(source, roots):
        raise CompileError(
            Diagnostic(
                f"{source} is a link to a file that --include-root does not allow",
                hint="name the file itself",
                code=Code.CANNOT_READ,
            )
        )
    try:
        return Files().open(str(source)).getvalue()
    except (OSError, NotRegular) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no regular file"
        raise CompileError.at(
            Span(str(source), 1), f"cannot read this file: {reason}", "name an OpenCL C file", code=Code.CANNOT_READ
        ) from error


def read_board(name: str) -> Board:
    """The facts of a board, by its name or file. Raises CompileError."""
    try:
        return load_board(name)
    except BoardError as error:
        hint = "docs/boards.md lists the keys of a board file"
        raise CompileError(Diagnostic(str(error), hint=hint, code=Code.BOARD_FILE)) from error

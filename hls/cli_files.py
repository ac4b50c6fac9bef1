"""Files that commands read: sources and boards, with messages for those that cannot be read."""

import os
from pathlib import Path

import click

from .diag import Code, CompileError, Diagnostic, Span
from .target.board import Board, BoardError, load_board

__all__ = ["HOST", "SOURCE", "SOURCE_OR_HOST", "read_board", "read_source"]


class _ProgramFile(click.Path):
    """The path of a file that exists and is no directory. ``refused`` are the endings of files that belong to another
    argument, and what to say of them."""

    def __init__(self, refused: dict[str, str]) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)
        self.refused = refused

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        path = super().convert(value, param, ctx)
        said = self.refused.get(Path(os.fsdecode(path)).suffix)
        if said:
            self.fail(f"{os.fsdecode(path)} is {said}", param, ctx)
        return path


#: a program in OpenCL C
SOURCE = _ProgramFile({".py": "a Python program, and kernels are in OpenCL C: name the .cl file that it builds"})
#: a program in OpenCL C, or the host program that builds it
SOURCE_OR_HOST = _ProgramFile({})
#: a program that launches kernels
HOST = _ProgramFile(
    {".cl": "OpenCL C: name the host program that launches its kernels; `sluice check` needs none, and reads this file"}
)


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

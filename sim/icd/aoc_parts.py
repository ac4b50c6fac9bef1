"""What ``aoc`` makes of several files, and of what it compiled before with ``-c`` or ``-rtl``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from hls.diag import CompileError
from sim.cl.aocx import Aocx, is_archive
from sim.cl.binary import Binary

from .linking import linked_source, preprocessed

__all__ = ["compiled_before", "joined"]


def compiled_before(file: Path) -> Aocx | None:
    """The content of a .aoco, .aocr or .aocx; None for a source. Raises cl.LogicError for one of another compiler, or
    that is damaged."""
    data = file.read_bytes()
    return Aocx.of(data) if is_archive(data) else None


def joined(
    files: Sequence[Path], before: Sequence[Aocx | None], options: Sequence[str], target: Path
) -> tuple[Path, tuple[str, ...]] | None:
    """One source of all files, as clLinkProgram joins programs, and the options to compile it with besides ``options``.
    ``before`` has what :func:`compiled_before` finds of each. None, and messages on stderr, if one cannot be read by
    the preprocessor.

    Each file has macros of its own; what they declare alike, as from a header, is there once. The source is written
    beside the file ``target``; its line markers are the places in the files.
    """
    parts = []
    for file, found in zip(files, before, strict=True):
        if found is None:
            program = Binary(file.read_text(errors="replace"), (*options, f"-I{file.resolve().parent}"))
        else:
            program = found.binary
        try:
            parts.append(preprocessed(program, "object", str(file)))
        except CompileError as error:
            print(error, file=sys.stderr)
            return None
    text, more = linked_source(parts)
    source = target.with_name(f"{target.stem}.joined.cl")
    source.write_text(text)
    return source, more

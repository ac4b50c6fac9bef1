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


def joined(files: Sequence[Path], options: Sequence[str], target: Path) -> tuple[Path, tuple[str, ...]] | None:
    """One source of all files, as clLinkProgram joins programs, and the options to compile it with besides ``options``.
    None, and messages on stderr, if one cannot be read by the preprocessor.

    Each file has macros of its own; what they declare alike, as from a header, is there once. The source is written
    beside the file ``target``, for messages to point to.
    """
    parts = []
    for file in files:
        found = compiled_before(file)
        text = file.read_text(errors="replace") if found is None else ""
        program = Binary(text, (*options, f"-I{file.resolve().parent}")) if found is None else found.binary
        try:
            parts.append(preprocessed(program, "object"))
        except CompileError as error:
            print(str(error).replace("<program source>", str(file)), file=sys.stderr)
            return None
    text, more = linked_source(parts)
    source = target.with_name(f"{target.stem}.joined.cl")
    source.write_text(text)
    return source, more

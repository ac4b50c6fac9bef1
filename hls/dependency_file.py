"""The files that a compilation read, as a rule for make: ``sluice compile --dep-files FILE``."""

from collections.abc import Iterable
from pathlib import Path

__all__ = ["dependency_rule", "escaped"]

_OWN = Path(__file__).parent


def dependency_rule(target: Path, files: Iterable[str | Path]) -> str:
    """A rule that makes ``target`` depend on ``files``, without those of the compiler itself. Each file but the first
    is also a target without prerequisites, so that make goes on when one is deleted."""
    own = [Path(file) for file in dict.fromkeys(map(str, files))]
    read = [file for file in own if file.is_file() and not file.resolve().is_relative_to(_OWN)]
    lines = [f"{escaped(target)}: " + " \\\n  ".join(map(escaped, read))]
    return "\n\n".join([*lines, *(f"{escaped(file)}:" for file in read[1:])]) + "\n"


def escaped(path: Path) -> str:
    """A name as make reads it."""
    text = str(path).replace("$", "$$")
    for character in " #:":
        text = text.replace(character, f"\\{character}")
    return text

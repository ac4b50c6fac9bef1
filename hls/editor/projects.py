"""The project files of the programs that an editor has open, as new as they are on the disk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..diag import CompileError, Diagnostic
from ..project.read import Project, find, read

__all__ = ["Projects", "State", "Watched", "file_state"]

#: when a file was changed last, and how long it is; None if it is not there
State = tuple[int, int] | None


def file_state(file: Path) -> State:
    """How the file is now."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@dataclass
class _Read:
    """A project file as it was read: in state ``state``, with ``errors``; ``good`` is what it said when it last had
    none."""

    state: State
    errors: tuple[Diagnostic, ...] = ()
    text: str = ""
    good: Project | None = None


class Projects:
    """Reads each project file again after it has changed. While one has errors, what it said before holds: a file that
    is saved half-way does not take the hints away."""

    def __init__(self) -> None:
        self._read: dict[Path, _Read] = {}

    def of(self, folder: Path) -> Project | None:
        """The project of the programs in a folder; None if there is none, or never was one without errors."""
        for gone in [file for file in self._read if not file.is_file()]:
            del self._read[gone]
        found = find(folder)
        return self._current(found[0]).good if found else None

    def errors(self) -> Iterator[tuple[str, str, tuple[Diagnostic, ...]]]:
        """The absolute path of each project file with errors, its text, and these."""
        for file, one in self._read.items():
            if one.errors:
                yield str(file), one.text, tuple(_at(str(file), error) for error in one.errors)

    def good(self) -> list[Project]:
        """What the project files that were asked for say."""
        return [one.good for one in self._read.values() if one.good is not None]

    def _current(self, file: Path) -> _Read:
        state, before = file_state(file), self._read.get(file)
        if before is None or before.state != state:
            self._read[file] = before = _again(file, state, before.good if before else None)
        return before


def _again(file: Path, state: State, good: Project | None) -> _Read:
    try:
        return _Read(state, good=read(file))
    except CompileError as error:
        text = next(iter(error.sources.values()), "")
        return _Read(state, error.diagnostics, text, good)


def _at(file: str, error: Diagnostic) -> Diagnostic:
    """The error with its place in the file of that path."""
    return replace(error, span=replace(error.span, file=file)) if error.span else error


class Watched:
    """Notices that files are not as they were."""

    def __init__(self) -> None:
        self._holds: dict[Path, Path | None] = {}
        self._states: dict[Path, State] = {}

    def changed(self, folders: Iterable[Path], boards: Iterable[Path]) -> bool:
        """Whether a project file of these folders, or one of the board files, has been changed, made or removed since
        the last call. A folder or board that was not asked for then has not changed."""
        holds = {folder: next(iter(find(folder)), None) for folder in folders}
        states = {file: file_state(file) for file in {*filter(None, holds.values()), *boards}}
        changed = any(self._holds.get(folder, file) != file for folder, file in holds.items())
        changed |= any(self._states.get(file, state) != state for file, state in states.items())
        self._holds, self._states = holds, states
        return changed

"""Finding and reading project files."""

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..diag import Code, CompileError, Diagnostic
from ..diag import Span as Place
from ..limits import Limits
from ..options import Options
from ..rtl_library import RtlFunction, load_libraries
from ..target.board import BoardError, board_and_clock, known_boards
from ..toml_text import parse, read_text
from .keys import KEYS, TABLES, in_toml
from .places import place_of

__all__ = ["NAME", "Project", "find", "read"]

NAME = "sluice.toml"
_HINT = "docs/project.md lists the keys"
_NAME_IN_C = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Project:
    """A project file. ``values`` are those of the keys by their path, those of files and folders from the working
    directory on; the tables are fields of their own. ``text`` is the file's."""

    file: str
    text: str
    values: dict[str, Any] = field(default_factory=dict)
    defines: dict[str, str] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    functions: tuple[RtlFunction, ...] = ()  #: those of its libraries

    @property
    def board(self) -> str | None:
        """The board with its clock, as ``--board`` takes it; None if the file names none."""
        return self.values.get("board")

    def board_or(self, usual: str) -> str:
        """The board, or ``usual``, with the file's clock."""
        clock = self.values.get("clock")  # joined to the board where there is one
        return self.board or (usual if clock is None else f"{board_and_clock(usual)[0]}@{clock:g}")

    def parameters(self) -> dict[str, Any]:
        """The values by the parameters of the command line."""
        found = {KEYS[path].parameter: value for path, value in self.values.items()}
        if self.defines:
            found["defines"] = [f"{name}={text}" for name, text in self.defines.items()]
        if self.limits:
            found["limits"] = [f"{name}={number}" for name, number in self.limits.items()]
        return found

    def applied(self, options: Options) -> Options:
        """The options with what the file says where they say nothing."""
        usual = Options()
        taken: dict[str, Any] = {}
        for path, value in self.values.items():
            name = KEYS[path].field
            if name and getattr(options, name) == getattr(usual, name):
                taken[name] = _value_of(path, value)
        folders = tuple(map(Path, self.values.get("include-dirs", ())))
        return replace(
            options,
            defines=self.defines | options.defines,
            include_dirs=tuple(dict.fromkeys((*options.include_dirs, *folders))),
            libraries=options.libraries or self.functions,
            limits=options.limits if options.limits != usual.limits else _limits(self.limits),
            **taken,
        )

    def place(self, parameter: str) -> Place:
        """Where the file gives the parameter of a command line its value."""
        paths = [path for path, key in KEYS.items() if key.parameter == parameter]
        path = next((one for one in paths if one in self.values), parameter)
        return place_of(self.text, self.file, tuple(path.split(".")))


def _value_of(path: str, value: Any) -> Any:
    if KEYS[path].type != "strings":
        return value
    return tuple(map(Path, value)) if KEYS[path].place else tuple(value)


def _limits(given: dict[str, int]) -> Limits:
    limits = Limits()
    for name, number in given.items():
        limits = limits.with_limit(name, number)
    return limits


def find(start: Path) -> tuple[Path, ...]:
    """The project files of a folder and those above it, the nearest first: that one holds. A folder or a broken link
    of that name counts, whose reading fails: without it, other options would hold than those that were meant."""
    folder = start.resolve()
    return tuple(one / NAME for one in (folder, *folder.parents) if os.path.lexists(one / NAME))


def read(path: Path) -> Project:
    """The project of a file. Raises CompileError with a message, with its place, for everything that is wrong."""
    file = _shown(path)
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not in UTF-8"
        raise CompileError.at(Place(file, 1), f"cannot read this project file: {reason}", _HINT, code=_CODE) from None
    try:
        data = parse(text)
    except tomllib.TOMLDecodeError as error:
        raise _failed([_not_toml(file, text, str(error))], file, text) from None
    reader = _Reader(file, text, path.resolve().parent)
    project = reader.project(data)
    if reader.found:
        raise _failed(sorted(reader.found, key=lambda one: one.span or Place(file, 0)), file, text)
    return project


_CODE = Code.PROJECT_FILE


def _failed(found: list[Diagnostic], file: str, text: str) -> CompileError:
    error = CompileError(*found)
    error.sources[file] = text
    return error


def _shown(path: Path) -> str:
    """The file as messages name it: from the working directory on, where it lies there or above."""
    return os.path.relpath(path)


def _not_toml(file: str, text: str, reason: str) -> Diagnostic:
    at = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$", reason)
    what = reason[: at.start()] if at else reason
    lines = text.splitlines() or [""]
    line, column = (int(at[1]), int(at[2])) if at and at[1] else (len(lines), len(lines[-1]) + 1)
    return Diagnostic(
        f"this project file is not valid TOML: {what}",
        Place(file, line, column),
        "complete the line, if the file was saved half-way; docs/project.md has an example",
        code=Code.PROJECT_FILE,
    )


class _Reader:
    """Checks what a file says. ``found`` has its errors."""

    def __init__(self, file: str, text: str, folder: Path) -> None:
        self.file, self.text, self.folder = file, text, folder
        self.found: list[Diagnostic] = []

    def project(self, data: dict[str, Any]) -> Project:
        """The project; what is wrong is left out."""
        values: dict[str, Any] = {}
        for path, value in self._keys(data):
            key = KEYS[path]
            if fault := key.fault(value):
                self._wrong(path, fault)
            elif key.place:
                values[path] = list(dict.fromkeys(self._path(path, one, key.place) for one in value))
            else:
                values[path] = value
        if "board" in values:
            values["board"] = self._board(values["board"], values.pop("clock", None))
        defines, limits = dict(self._defines(data)), dict(self._limits(data))
        return Project(self.file, self.text, values, defines, limits, self._functions(values.get("libraries", ())))

    def _functions(self, paths: Sequence[str]) -> tuple[RtlFunction, ...]:
        if self.found:  # some of the files may not be there
            return ()
        try:
            return load_libraries(map(Path, paths))
        except CompileError as error:
            place = place_of(self.text, self.file, ("libraries",))
            note = Diagnostic("as this file names it", place, severity="note")
            self.found += [replace(one, notes=(*one.notes, note)) for one in error.diagnostics]
            return ()

    def _wrong(self, path: str, message: str, hint: str = _HINT, value: str = "") -> None:
        place = place_of(self.text, self.file, tuple(path.split(".")), value)
        self.found.append(Diagnostic(f"{path} {message}", place, hint, code=Code.PROJECT_FILE))

    def _keys(self, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """The keys that there are, with their values; others are errors."""
        for name, value in data.items():
            if name in TABLES or name == "options":
                if not isinstance(value, dict):
                    self._wrong(name, f"must be a table [{name}], not {in_toml(value)}")
                elif name == "options":
                    yield from self._known((f"options.{key}", one) for key, one in value.items())
            else:
                yield from self._known([(name, value)])

    def _known(self, pairs: Any) -> Iterator[tuple[str, Any]]:
        for path, value in pairs:
            if path in KEYS:
                yield path, value
            else:
                self._unknown(path)

    def _unknown(self, path: str) -> None:
        table, _, name = path.rpartition(".")
        here = [one for one in (*KEYS, *TABLES, "options") if one.rpartition(".")[0] == table]
        last = {one.rpartition(".")[2]: one for one in (*KEYS, *TABLES, "options")}
        wanted = name.replace("_", "-")
        elsewhere = [last[one] for one in get_close_matches(wanted, last, 1)]
        beside = {one.rpartition(".")[2]: one for one in here}
        close = [beside[one] for one in get_close_matches(wanted, beside, 1)]
        near = elsewhere if wanted in last else close or elsewhere
        hint = f"write {near[0]}" if near else f"known here are {', '.join(sorted(beside))}"
        if near and table and "." not in near[0]:
            hint += ", above the first line that begins with ["
        self._wrong(path, "is not a known key", hint)

    def _path(self, path: str, given: str, kind: str) -> str:
        found = self.folder / given
        if not (found.is_file() if kind == "file" else found.is_dir()):
            hint = f"paths start at {self.folder}, the folder of this file"
            other = "folder" if found.is_dir() else "file" if found.is_file() else ""
            what = (
                f"takes a {kind}, and {given!r} is a {other}"
                if other
                else f"names a {kind} {given!r} that is not there"
            )
            self._wrong(path, what, hint, given)
        return os.path.relpath(found)

    def _board(self, name: str, clock: float | None) -> str:
        try:
            base, own = board_and_clock(name)
        except BoardError as error:
            self._wrong("board", f"is not valid: {error.message}", value=name)
            return name
        is_file = base.endswith(".toml") or "/" in base
        if is_file and not (self.folder / base).is_file():
            self._wrong("board", f"names a file {base!r} that is not there", _HINT, name)
        elif not is_file and base not in known_boards():
            near = get_close_matches(base, known_boards(), 1)
            known = f"known are {', '.join(known_boards())}, or give the path of a .toml file"
            self._wrong("board", f"names an unknown board {base!r}", f"write {near[0]}" if near else known, name)
        if is_file:
            base = os.path.join(".", os.path.relpath(self.folder / base))
        mhz = own if clock is None else clock
        return base if mhz is None else f"{base}@{mhz:g}"

    def _defines(self, data: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for name, value in self._table(data, "defines"):
            if not _NAME_IN_C.fullmatch(name):
                self._wrong(f"defines.{name}", "is not a name as in C", "use letters, digits and underscores")
            elif not isinstance(value, str | int | float):
                self._wrong(f"defines.{name}", f"must be a text, a number or true, not {in_toml(value)}")
            elif value is not False:  # a macro that is not defined
                yield name, "1" if value is True else str(value)

    def _limits(self, data: dict[str, Any]) -> Iterator[tuple[str, int]]:
        for name, value in self._table(data, "limits"):
            if name not in Limits.names():
                near = get_close_matches(name, Limits.names(), 1)
                hint = f"write {near[0]}" if near else f"known here are {', '.join(Limits.names())}"
                self._wrong(f"limits.{name}", "is not a known key", hint)
            elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
                self._wrong(f"limits.{name}", f"must be a whole number from 1 on, not {in_toml(value)}")
            else:
                yield name, value

    def _table(self, data: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
        found = data.get(name)
        yield from found.items() if isinstance(found, dict) else ()

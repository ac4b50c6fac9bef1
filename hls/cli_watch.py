"""`sluice watch`: compile again after each change, and print what it changed."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from .cli_files import SOURCE
from .cli_messages import Messages
from .cli_options import output_folder
from .cli_project import ProjectCommand
from .diag import CompileError
from .project.read import NAME, find, read
from .report.diff import compare_reports
from .report.diff_text import diff_text

__all__ = ["watch_command"]

#: seconds between looks at the files, and without a change before they are compiled: an editor may save several
LOOK, QUIET = 0.2, 0.2
_INCLUDE = re.compile(r"""^\s*#\s*include\s*["<]([^">]+)[">]""", re.MULTILINE)
_State = dict[Path, tuple[int, int] | None]


@click.command(
    "watch",
    cls=ProjectCommand,
    short_help="Compile after each change and print what it changed.",
    context_settings={"ignore_unknown_options": True},
)
@output_folder("Output folder.  [default: name of the source]")
@click.argument("source", type=SOURCE)
@click.argument("arguments", metavar="[OPTIONS OF COMPILE]...", nargs=-1, type=click.UNPROCESSED)
def watch_command(output: Path | None, source: Path, arguments: tuple[str, ...]) -> None:
    """Compile SOURCE now and after each change of it, of a file that it includes, of its board file and of sluice.toml,
    and print what changed in II, area and warnings.

    Options behind SOURCE are those of `sluice compile`. Ctrl-C ends it.
    """
    watch = _Watch(source, output or Path(source.stem), arguments)
    with Messages("text").guard():
        while True:
            before = _state(watch.files())
            watch.compile()
            # what changed while it was compiled is compiled again
            _wait({**_state(watch.files()), **before})


@dataclass
class _Watch:
    """A program that is compiled again and again. ``report`` is that of the last compilation without errors."""

    source: Path
    output: Path
    arguments: tuple[str, ...]
    report: Mapping[str, Any] | None = None

    def compile(self) -> None:
        """Compile, and print what changed since the last compilation without errors; errors are printed as they
        are."""
        words = ["compile", str(self.source), "-o", str(self.output), *self.arguments]
        first = self.report is None
        shown = None if first else subprocess.DEVNULL  # later, what changed stands in place of the verdicts
        done = subprocess.run([sys.executable, "-P", "-m", "sluice", *words], stdout=shown, check=False)
        if done.returncode == 2:
            sys.exit(2)  # the command line is wrong, which no change of a file mends
        if done.returncode:
            click.echo(f"{_now()} {self.source} has errors; waiting for a change")
            return
        report = json.loads((self.output / "report.json").read_text())
        if self.report is not None:
            click.echo(f"{_now()} {diff_text(compare_reports(self.report, report), 'before', 'now')}", nl=False)
        else:
            click.echo(f"{_now()} waiting for a change of {self.source}")
        self.report = report

    def files(self) -> set[Path]:
        """The files whose change is waited for, also one of a project that is not there yet."""
        found = (find(self.source.parent) or find(Path.cwd()))[:1]
        boards = {_file_of(word.removeprefix("--board=")) for word in self.arguments}
        folders = [self.source.parent, *_folders(self.arguments)]
        try:
            for project in map(read, found):
                boards.add(_file_of(project.board or ""))
                folders += map(Path, project.values.get("include-dirs", ()))
        except CompileError:
            pass  # which the compilation has reported
        included = _included(self.source, folders)
        return {*included, self.source.with_name(NAME), *found, *filter(None, boards)}


def _folders(arguments: Sequence[str]) -> Iterator[Path]:
    """The folders of ``-I``."""
    for word, after in pairwise((*arguments, "")):
        if word.startswith("-I"):
            yield Path(word[2:] or after)


def _included(source: Path, folders: Sequence[Path]) -> set[Path]:
    """A source and the files that its lines include, also those that a condition leaves out; a file whose name is a
    macro is not found."""
    found, left = {source}, [source]
    while left:
        file = left.pop()
        try:
            text = file.read_text(errors="replace")
        except OSError:  # it is gone, until it is saved again
            continue
        for name in _INCLUDE.findall(text):
            there = (folder / name for folder in (file.parent, *folders) if (folder / name).is_file())
            if (first := next(there, None)) and first not in found:
                found.add(first)
                left.append(first)
    return found


def _file_of(board: str) -> Path | None:
    """The file of a board that is named by its file."""
    name = board.partition("@")[0]
    return Path(name) if name.endswith(".toml") else None


def _state(files: Iterable[Path]) -> _State:
    found: _State = {}
    for file in files:
        try:
            facts = file.stat()
            found[file] = facts.st_mtime_ns, facts.st_size
        except OSError:
            found[file] = None
    return found


def _wait(before: _State) -> None:
    """Wait until a file differs from ``before``, and then until no more of them changes."""
    while (now := _state(before)) == before:
        time.sleep(LOOK)
    while True:
        time.sleep(QUIET)
        last, now = now, _state(before)
        if last == now:
            return


def _now() -> str:
    return time.strftime("%H:%M:%S")

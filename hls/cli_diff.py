"""`sluice diff`: what changed between two designs."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from .cli_options import BOARD, board_is_named, on_command_line
from .cli_project import ProjectCommand
from .report.diff import compare_reports
from .report.diff_text import diff_data, diff_markdown, diff_text
from .report.model import SCHEMA

__all__ = ["diff_command"]

#: exit code where something is worse, as of `sluice profile --compare`
WORSE = 3


@click.command(cls=ProjectCommand, short_help="Compare II, area and warnings of two designs.")
@click.argument("old")
@click.argument("new")
@click.option(
    "--kernel",
    "program",
    metavar="K.cl",
    help="The program to compile, where OLD or NEW is a git revision.  [default: that of sluice.toml]",
)
@BOARD
@click.option("--json", "form", flag_value="json", help="The changes as JSON.")
@click.option("--markdown", "form", flag_value="markdown", help="The changes as a table in Markdown.")
@click.option(
    "--fail-on-worse",
    is_flag=True,
    help="Exit code 3 if an II is larger, an area grows by more than 1 %, or a warning is new.",
)
def diff_command(old: str, new: str, program: str | None, board: str, form: str | None, fail_on_worse: bool) -> None:
    """Compare two designs: OLD and NEW are output folders of `sluice compile`, report.json files, or, with --kernel
    or in a project, git revisions."""
    if on_command_line("program") and all(Path(place).exists() for place in (old, new)):
        raise click.BadParameter(
            f"{old} and {new} are reports, and it is for git revisions: leave it out", param_hint="'--kernel'"
        )
    # where none is named, each revision has that of its own sluice.toml
    reports = [_report(place, program, board if board_is_named() else None) for place in (old, new)]
    try:
        found = compare_reports(*reports)
    except (KeyError, TypeError, AttributeError):
        raise click.ClickException(f"{old} or {new} is damaged: compile again with this version") from None
    if form == "json":
        click.echo(json.dumps(diff_data(found), indent=1))
    else:
        click.echo((diff_markdown if form == "markdown" else diff_text)(found, old, new), nl=False)
    sys.exit(WORSE if fail_on_worse and found.worse else 0)


def _report(place: str, kernel: str | None, board: str | None) -> Mapping[str, Any]:
    """The report at a place. Exits with a message for a place that has none."""
    path = Path(place)
    if path.is_dir():
        path /= "report.json"
    if path.is_file():
        return _read(path)
    if kernel is None:
        raise click.ClickException(
            f"there is no report at {place}: name a folder that `sluice compile -o` wrote, or its report.json; "
            "to compare git revisions, name the program with --kernel K.cl, or in kernels of sluice.toml"
        )
    return _of_revision(place, Path(kernel), board)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        report = json.loads(path.read_text())
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise click.ClickException(
            f"{path} is no report: name a folder that `sluice compile -o` wrote, or its report.json"
        ) from None
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise click.ClickException(f"{path} is not a report of schema {SCHEMA}: compile again with this version")
    return report


def _of_revision(revision: str, kernel: Path, board: str | None) -> Mapping[str, Any]:
    """The report of the program as it is in a revision, with all that it includes, compiled in a work tree of its
    own."""
    folder = kernel.resolve().parent
    while not folder.is_dir():
        folder = folder.parent
    try:
        top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    except click.ClickException as error:
        raise click.ClickException(
            f"there is no report at {revision}, and no git revision of that name ({error.message}): `sluice compile -o "
            f"{revision}` makes a report"
        ) from None
    commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", what=f"revision {revision}")
    with tempfile.TemporaryDirectory(prefix="sluice-diff-") as made:
        tree, out = Path(made) / "tree", Path(made) / "out"
        _git(folder, "worktree", "add", "--detach", str(tree), commit)
        try:
            file = tree / kernel.resolve().relative_to(top)
            if not file.is_file():
                raise click.ClickException(f"revision {revision} has no file {kernel}")
            command = [sys.executable, "-P", "-m", "hls.cli", "compile", str(file), "-o", str(out), "--no-html"]
            command += ["--board", board] if board is not None else []
            done = subprocess.run(command, text=True, capture_output=True, check=False)
            if done.returncode:
                raise click.ClickException(
                    f"{kernel} of revision {revision} does not compile:\n{done.stderr}"
                    "a program that needs -D or -I: compile both revisions with `compile -o`, and compare the folders"
                )
            return _read(out / "report.json")
        finally:
            _git(folder, "worktree", "remove", "--force", str(tree))


def _git(folder: Path, *words: str, what: str = "") -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise click.ClickException("git is not installed: compare output folders instead") from None
    if done.returncode:
        reason = done.stderr.strip() or f"there is no {what or 'such object'} in the repository of {folder}"
        raise click.ClickException(f"git: {reason}")
    return done.stdout.strip()

"""The command of the search: ``sluice tune``."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import click

from .cli_messages import Messages
from .cli_options import check_board, make_folder
from .diag import Code, CompileError, Diagnostic
from .options import Options
from .target.board import BoardError, load_board
from .tune import Goal, Outcome, Study, StudyError, Tuning, find_knobs, tune
from .tune.evaluate import Evaluator, Program
from .tune.search import enqueue, work
from .tune.show import table, write_results
from .tune.space import limited, read_space
from .tune.study import journal_of

__all__ = ["tune_command"]


def _check_goal(_context: click.Context, _option: click.Parameter, text: str) -> Goal:
    try:
        return Goal.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _check_share(_context: click.Context, _option: click.Parameter, text: str) -> float:
    number = text.removesuffix("%")
    if not number.isdecimal() or not 1 <= int(number) <= 100:
        raise click.BadParameter(f"{text!r}: a percentage from 1% to 100%")
    return int(number) / 100


def _split_defines(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """``TILE={4,8}`` as values, ``N=3`` as one value."""
    found = {}
    for one in given:
        name, _, text = one.partition("=")
        inside = text.startswith("{") and text.endswith("}")
        values = tuple(part.strip() for part in text[1:-1].split(",")) if inside else (text or "1",)
        if not name.isidentifier() or not all(values):
            raise click.BadParameter(f"{one!r}: write NAME=VALUE, or NAME={{4,8,16}} for values to choose from")
        found[name] = values
    return found


@click.command("tune", short_help="Search for the best design of a program.")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--host",
    required=True,
    metavar="HOST.py",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The host program that launches the kernels: run on the emulator once, and in RTL for the best designs.",
)
@click.option("--board", callback=check_board, help="Board name or file.  [default: $SLUICE_BOARD, else de5net]")
@click.option(
    "-D", "defines", multiple=True, metavar="N[=V]", callback=_split_defines, help="Define a macro; N={4,8}: a knob."
)
@click.option(
    "-I",
    "include_dirs",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Search a folder for includes.",
)
@click.option("-fp-relaxed", "relaxed", is_flag=True, help="Allow designs with other orders of float additions.")
@click.option(
    "--space",
    metavar="FILE.toml",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Values of knobs, constraints, and knobs to leave alone.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=200,
    help="Points to evaluate by plan and estimate, at most.  [default: 200]",
)
@click.option(
    "--goal", default="cycles", callback=_check_goal, help="cycles, seconds or area:cycles<N.  [default: cycles]"
)
@click.option("--fit", default="85%", callback=_check_share, help="Share of each resource to use.  [default: 85%]")
@click.option("--workers", type=click.IntRange(1, 256), default=1, help="Processes on this machine.  [default: 1]")
@click.option("--runs", type=click.IntRange(0, 20), default=3, help="Designs to run in RTL.  [default: 3]")
@click.option("--study", "place", metavar="FILE|URL", help="Where points are shared.  [default: in the output folder]")
@click.option("--join", is_flag=True, help="Evaluate points of a study that another process began, and end.")
@click.option(
    "-o",
    "output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder of results.  [default: SOURCE.tune]",
)
@click.option("--list-knobs", "listed", is_flag=True, help="Show the knobs and their values, and end.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def tune_command(
    source: Path,
    host: Path,
    board: str,
    defines: dict[str, tuple[str, ...]],
    include_dirs: tuple[Path, ...],
    relaxed: bool,
    space: Path | None,
    budget: int,
    goal: Goal,
    fit: float,
    workers: int,
    runs: int,
    place: str | None,
    join: bool,
    output: Path | None,
    listed: bool,
    arguments: tuple[str, ...],
) -> None:
    """Search for the design of the kernels in SOURCE that is best for what HOST.py does with them.

    ARGUMENTS behind -- are those of the host program. The study stays in the output folder: a second start goes on.
    """
    messages = Messages("text")
    with messages.guard():
        try:
            facts = load_board(board)
        except BoardError as error:
            hint = "docs/boards.md lists the keys of a board file"
            raise CompileError(Diagnostic(str(error), hint=hint, code=Code.BOARD_FILE)) from None
        fixed = {name: values[0] for name, values in defines.items() if len(values) == 1}
        choices = {name: values for name, values in defines.items() if len(values) > 1}
        first = {name: values[0] for name, values in choices.items()}
        options = Options(fixed | first, (source.resolve().parent, *include_dirs))
        folder = make_folder(output or source.with_suffix(".tune"), "-o")
        program = Program(source, host, arguments, facts, options)
        try:
            evaluator = Evaluator(program, folder, _version())
            workloads = evaluator.workloads(first)
            found = find_knobs(evaluator.module, workloads, evaluator.main, choices, relaxed)
            file = read_space(space) if space else None
            knobs = evaluator.knobs = limited(found, file)
            if listed:
                click.echo("\n".join(f"{one.name}: {', '.join(map(_value, one.values))}" for one in knobs))
                return
            tuning = Tuning(knobs, file.constraints if file else (), goal, budget, fit, runs)
            study = Study(place or journal_of(folder), knobs, _identity(evaluator, facts.name), tuning.sampled, workers)
            outcome = _searched(study, tuning, evaluator, workers, join)
            if outcome is None:
                return
            told = write_results(outcome, evaluator, folder)
        except StudyError as error:
            first_line, _, rest = str(error).partition("\n")
            raise CompileError(Diagnostic(first_line, hint=rest, code=Code.STUDY)) from None
    messages.show()
    click.echo(table(outcome, facts))
    click.echo("\n".join(told))


def _value(value: int | str | None) -> str:
    return "as written" if value is None else "all" if value == -1 else str(value)


def _identity(evaluator: Evaluator, board: str) -> dict[str, str]:
    runs = [one.inputs_hash for one in evaluator.workloads(_first_defines(evaluator))]
    return {
        "source": evaluator.source_hash,
        "board": board,
        "compiler version": evaluator.version,
        "workload": json.dumps(runs),
    }


def _first_defines(evaluator: Evaluator) -> dict[str, str]:
    return {knob.name.removeprefix("-D "): str(knob.values[0]) for knob in evaluator.knobs if knob.kind == "define"}


def _searched(study: Study, tuning: Tuning, evaluator: Evaluator, workers: int, join: bool) -> Outcome | None:
    """Let workers evaluate the points; the outcome, or None for a process that only joins."""
    if not join:
        enqueue(study, tuning)
    helpers = [] if join else [subprocess.Popen([*_own_command(), "--join"]) for _ in range(workers - 1)]
    try:
        work(study, tuning, evaluator)
        for one in helpers:
            one.wait()
    finally:
        for one in helpers:
            if one.poll() is None:
                one.terminate()
    # a point of a worker that was killed is taken over once its lease has run out, not waited for before that
    return None if join else tune(study, tuning, evaluator, lambda text: click.echo(text, err=True))


def _own_command() -> list[str]:
    return [sys.executable, "-P", "-m", "sluice", *sys.argv[1:]]


def _version() -> str:
    try:
        return metadata.version("sluice")
    except metadata.PackageNotFoundError:
        return "from sources"

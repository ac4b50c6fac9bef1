"""The commands that search: ``sluice tune`` and ``sluice advise``."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .cli_files import HOST, SOURCE_OR_HOST, read_board, read_source
from .cli_host_source import source_of
from .cli_messages import Messages
from .cli_numbers import Numbers
from .cli_options import BOARD, INCLUDE_DIRS, LIBRARIES, make_folder
from .cli_project import Merged, ProjectCommand, on_project
from .diag import Code, CompileError, Diagnostic
from .options import Options
from .rtl_library import RtlFunction
from .tune import Goal, Outcome, Study, StudyError, Tuning, find_knobs, tune
from .tune.advice_text import advice_text, no_knobs
from .tune.advise import Alternative, advise
from .tune.evaluate import Evaluator, Program
from .tune.knobs import FP_RELAXED, Knob, adds_floats, relaxed_knob
from .tune.offered import offered
from .tune.points import shown
from .tune.search import enqueue, work
from .tune.show import table, write_best, write_results
from .tune.space import Constraint, limited, read_space
from .tune.study import journal_of
from .tune.transformations import transformations
from .version import version

__all__ = ["advise_command", "tune_command"]


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


_PROGRAM_OPTIONS = (
    click.argument("source", metavar="SOURCE|HOST.py", type=SOURCE_OR_HOST),
    click.option(
        "--host",
        metavar="HOST.py",
        type=HOST,
        help="The host program that launches the kernels of SOURCE: run on the emulator once, and in RTL for the best "
        "designs.",
    ),
    BOARD,
    click.option(
        "-D",
        "defines",
        cls=Merged,
        multiple=True,
        metavar="N[=V]",
        callback=_split_defines,
        help="Define a macro; N={4,8}: a knob.",
    ),
    INCLUDE_DIRS,
    LIBRARIES,
    click.option("-fp-relaxed", "relaxed", is_flag=True, help="Allow designs with other orders of float additions."),
    click.option(
        "--space",
        metavar="FILE.toml",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Values of knobs, constraints, and knobs to leave alone.",
    ),
    click.option("--fit", default="85%", callback=_check_share, help="Share of each resource to use.  [default: 85%]"),
    click.option(
        "-o",
        "output",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        help="Folder of results.  [default: SOURCE.tune]",
    ),
    click.argument("arguments", nargs=-1, type=click.UNPROCESSED),
)


def _program_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options by which both commands name a program and its space."""
    for one in reversed(_PROGRAM_OPTIONS):
        command = one(command)
    return command


@dataclass(frozen=True)
class _Given:
    """What the command line says of the program and its space."""

    source: Path
    host: Path
    board: str
    defines: dict[str, tuple[str, ...]]
    include_dirs: tuple[Path, ...]
    libraries: tuple[RtlFunction, ...]
    relaxed: bool
    space: Path | None
    fit: float
    output: Path | None
    arguments: tuple[str, ...]

    @classmethod
    def resolved(cls, source: Path, host: Path | None, **more: Any) -> "_Given":
        """With both files: of a host program alone, the source is the one whose kernels it launches. Raises
        click.UsageError for a source without a host and for two hosts, CompileError, and StudyError."""
        if source.suffix != ".py":
            if host is None:
                raise click.UsageError(f"Missing option '--host': name the host program that launches {source}")
            return cls(source, host, **more)
        context = click.get_current_context()
        if host is not None and context.get_parameter_source("host") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{source} and --host {host} are both host programs: leave one out")
        folders, libraries, board = more["include_dirs"], more["libraries"], read_board(more["board"]).name
        options = on_project(Options({}, folders, libraries=libraries))
        return cls(source_of(source, more["arguments"], board, replace(options, defines={})), source, **more)

    @property
    def folder(self) -> Path:
        """The folder of results, made if it is not there."""
        return make_folder(self.output or self.source.with_suffix(".tune"), "-o")

    def evaluator(self) -> tuple[Evaluator, tuple[Constraint, ...], tuple[Alternative, ...]]:
        """The evaluator with its knobs, the constraints, and candidates that are no knobs. Raises CompileError and
        StudyError."""
        facts = read_board(self.board)
        first = {name: values[0] for name, values in self.defines.items()}
        choices = {name: values for name, values in self.defines.items() if len(values) > 1}
        folders = (self.source.resolve().parent, *self.include_dirs)
        options = on_project(Options(first, folders, libraries=self.libraries))
        made = Evaluator(
            Program(self.source, read_source(self.source), self.host, self.arguments, facts, options, self.board),
            self.folder,
            version(),
        )
        workloads = made.workloads({name: first[name] for name in choices})
        made.parse_as_built(workloads)
        file = read_space(self.space) if self.space else None
        found = find_knobs(made.module, workloads, made.main, choices, self.relaxed)
        candidates = transformations(made.module, workloads, made.main)
        knobs = limited((*found, *candidates), file)
        names = {one.name for one in candidates}
        usual = tuple(one for one in knobs if one.name not in names)
        kept, left = offered([one for one in knobs if one.name in names], usual, made, _progress)
        made.knobs = (*usual, *kept)
        return made, file.constraints if file else (), left


def _progress(text: str) -> None:
    click.echo(text, err=True)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Show errors of the search as messages."""
    messages = Messages("text")
    with messages.guard():
        try:
            yield
        except StudyError as error:
            first_line, _, rest = str(error).partition("\n")
            raise CompileError(Diagnostic(first_line, hint=rest, code=Code.STUDY)) from None
    messages.show()


@click.command("tune", cls=ProjectCommand, short_help="Search for the best design of a program.")
@_program_options
@click.option(
    "--budget", type=Numbers(1), default=200, help="Points to evaluate by plan and estimate, at most.  [default: 200]"
)
@click.option(
    "--goal", default="cycles", callback=_check_goal, help="cycles, seconds or area:cycles<N.  [default: cycles]"
)
@click.option("--workers", type=Numbers(1, 256), default=1, help="Processes on this machine.  [default: 1]")
@click.option(
    "--replays", type=Numbers(0, 1000), default=20, help="Designs to replay cycle by cycle, without RTL.  [default: 20]"
)
@click.option("--runs", type=Numbers(0, 20), default=3, help="Designs to run in RTL.  [default: 3]")
@click.option("--study", "place", metavar="FILE|URL", help="Where points are shared.  [default: in the output folder]")
@click.option("--join", is_flag=True, help="Evaluate points of a study that another process began, and end.")
@click.option("--list-knobs", "listed", is_flag=True, help="Show the knobs and their values, and end.")
def tune_command(
    budget: int,
    goal: Goal,
    workers: int,
    replays: int,
    runs: int,
    place: str | None,
    join: bool,
    listed: bool,
    **given: Any,
) -> None:
    """Search for the design of the kernels in SOURCE that is best for what HOST.py does with them. With HOST.py alone,
    SOURCE is the file in its folder whose kernels it launches.

    ARGUMENTS behind -- are those of the host program. The study stays in the output folder: a second start goes on.
    """
    text = ""
    with _told():
        program = _Given.resolved(**given)
        evaluator, constraints, left = program.evaluator()
        facts, knobs = evaluator.program.board, evaluator.knobs
        if listed:
            lines = [f"{one.name}: {', '.join(shown(one.name, value) for value in one.values)}" for one in knobs]
            text = "\n".join([*lines, *no_knobs(left)])
        else:
            tuning = Tuning(knobs, constraints, goal, budget, program.fit, runs, replays)
            where = place or journal_of(program.folder)
            study = Study(where, knobs, _identity(evaluator, facts.name), tuning.sampled, workers)
            outcome = _searched(study, tuning, evaluator, workers, join)
            if outcome is not None:
                text = "\n".join([table(outcome, facts), *write_results(outcome, evaluator, program.folder)])
    if text:
        click.echo(text)


@click.command("advise", cls=ProjectCommand, short_help="Advise changes to a program, one step at a time.")
@_program_options
@click.option("--apply", "applied", is_flag=True, help="Write all steps as a patch and a design.")
def advise_command(applied: bool, **given: Any) -> None:
    """Advise how to make the kernels in SOURCE faster for what HOST.py does with them: in each step the one change that
    the model expects to save most, found by planning with it. With HOST.py alone, SOURCE is the file in its folder
    whose kernels it launches.

    ARGUMENTS behind -- are those of the host program.
    """
    with _told():
        program = _Given.resolved(**given)
        evaluator, constraints, left = program.evaluator()
        tuning = Tuning(evaluator.knobs, constraints, Goal("cycles"), 1, program.fit, 0, withheld=_withheld(evaluator))
        evaluator.knobs += tuning.withheld
        advice = advise(tuning, evaluator, _progress)
        lines = [advice_text(advice, evaluator.program.board, {one.name: one for one in evaluator.knobs})]
        lines += no_knobs(left)
        if applied and advice.steps:
            lines += write_best(advice.last, evaluator, program.folder)
    click.echo("\n".join(lines))


def _withheld(evaluator: Evaluator) -> tuple[Knob, ...]:
    """Other orders of additions, where they are not allowed and could change something."""
    known = any(one.name == FP_RELAXED for one in evaluator.knobs) or evaluator.program.options.fp_relaxed
    return () if known or not adds_floats(evaluator.module) else (relaxed_knob(),)


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
    return None if join else tune(study, tuning, evaluator, _progress)


def _own_command() -> list[str]:
    return [sys.executable, "-P", "-m", "sluice", *sys.argv[1:]]

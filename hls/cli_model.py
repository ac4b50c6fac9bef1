"""The commands of the performance model: ``sluice estimate`` and ``sluice predict``."""

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from .cli_files import HOST, SOURCE, read_board, read_source
from .cli_messages import Messages
from .cli_options import BOARD, DEFINES, FP_RELAXED, FPC, INCLUDE_DIRS, LIBRARIES, workloads_option
from .cli_project import ProjectCommand, on_project
from .cli_workloads import ALONE, Given, not_modelled, own_launches, predictions, read_workloads, stale
from .diag import Code, CompileError, Diagnostic
from .driver import inlined_kernels, parsed_module, plan_area, plan_source, plan_text
from .ir import Function
from .model.accounts import accounts
from .model.area import Resources as Taken
from .model.area import capacity
from .model.assumed import AssumedWorkload, TripError, names_of
from .model.estimate import NotModelled, Planned, estimate
from .model.estimate_text import estimate_text
from .model.hpca16.parameters import Resources
from .model.hpca16.predict import predict as hpca16
from .model.potentials import potentials
from .model.prediction import Potential, Prediction
from .model.symbolic import REFERENCE, estimate_assumed
from .model.workload import Workload, source_hash
from .options import BuildOptions, Options
from .planning.iterate import CompiledKernel
from .planning.memory import ChannelPlan
from .records import plain
from .rtl_library import RtlFunction
from .signals import supervise
from .target.board import Board

__all__ = ["estimate_command", "predict_command"]

#: digits behind the point in JSON: seconds in nanoseconds
NANO = 9


def _parse_trips(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    """Trip counts by the name of the loop; a usage error for text of another form."""
    found: dict[str, int] = {}
    for one in given:
        name, separator, number = one.rpartition("=")
        if not (separator and name and number.isascii() and number.isdecimal()):
            raise click.BadParameter(f"{one} is not of the form LOOP=N with a number N, as in L8=64")
        if found.setdefault(name, int(number)) != int(number):
            raise click.BadParameter(f"loop {name} is given twice, with {found[name]:,} and {int(number):,} iterations")
    return found


@click.command("estimate", cls=ProjectCommand, short_help="Predict the cycles of launches, without hardware.")
@click.argument("source", type=SOURCE)
@workloads_option(
    "What a launch does, from `sluice run --workload`: a file, or a folder of them; repeatable.  "
    "[default: what the source tells, and --trip]"
)
@click.option(
    "--trip",
    "trips",
    multiple=True,
    metavar="LOOP=N",
    callback=_parse_trips,
    help="Without --workload: iterations of each invocation of a loop, by its line (L8=64), label, or file and line "
    "(part.h:8=64), or work-items=N; repeatable.  [default: a symbol in the answer]",
)
@BOARD
@DEFINES
@INCLUDE_DIRS
@LIBRARIES
@FP_RELAXED
@FPC
@click.option(
    "--model",
    "other",
    type=click.Choice(["hpca16"]),
    help="Show another model's predictions, too: hpca16, of Wang et al., as printed and as corrected; "
    "it counts the area of the design, too.",
)
@click.option("--area", is_flag=True, help="Count the resources that the design takes, too: some tenths of a second.")
@click.option("--json", "as_json", is_flag=True, help="All figures, as JSON.")
def estimate_command(
    source: Path,
    workloads: tuple[Path, ...],
    trips: dict[str, int],
    board: str,
    defines: dict[str, str],
    include_dirs: tuple[Path, ...],
    libraries: tuple[RtlFunction, ...],
    fp_relaxed: bool,
    fpc: bool,
    other: str | None,
    area: bool,
    as_json: bool,
) -> None:
    """Predict the cycles of the launches of an OpenCL C file on a board, from its schedule and what the launches do.

    Without --workload, one launch of each kernel is predicted from the trip counts of its loops.
    """
    if workloads and trips:
        raise click.UsageError("--trip is for estimates without --workload, which has the trip counts of all loops")
    messages = Messages("text")
    with messages.guard():
        text = read_source(source)
        messages.sources[str(source)] = text
        facts = read_board(board)
        folders = (source.resolve().parent, *include_dirs)
        options = on_project(Options(defines, folders, fp_relaxed, fpc, libraries=libraries))
        wanted = _Wanted(source, text, facts, bool(other), area)
        if workloads:
            found = _of_workloads(wanted, options, read_workloads(workloads), messages)
        else:
            sources = inlined_kernels(text, options, str(source))
            found = _Program.planned_with(wanted, options).of_trips(sources, trips)
    messages.show()
    shown = (
        json.dumps([plain(one, NANO) for one in found], indent=1) if as_json else "\n".join(map(estimate_text, found))
    )
    click.echo(shown)


@click.command(
    "predict",
    cls=ProjectCommand,
    short_help="Predict the cycles of a host program's launches, without hardware.",
    context_settings={"ignore_unknown_options": True},
)
@BOARD
@click.option("--json", "as_json", is_flag=True, help="All figures, as a line of JSON for each launch.")
@click.argument("host", type=HOST)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def predict_command(board: str, as_json: bool, host: Path, arguments: tuple[str, ...]) -> None:
    """Run a pyopencl-style host program on the model: kernels compute as on the emulator, and every launch is replayed
    on the schedule, cycle by cycle.

    ARGUMENTS are the program's own: everything behind -- and every option that is not one of those below.
    """
    messages = Messages("text")
    with messages.guard():
        read_board(board)
    chosen = {"SLUICE_DEVICE": "model", "SLUICE_PREDICT": "json" if as_json else "text", "SLUICE_STATS": "0"}
    env = {**os.environ, **chosen, "SLUICE_BOARD": board}
    # the host API belongs to the simulation package, which this package must not import
    sys.exit(supervise([sys.executable, "-P", "-m", "sluice.host", str(host), *arguments], env))


def _relaxed(text: str, board: Board, options: Options, file: str) -> dict[str, CompiledKernel]:
    """The kernels by name, planned with other orders of floating-point additions allowed."""
    kernels, _ = plan_source(text, board, replace(options, fp_relaxed=True), file)
    return {one.function.name: one for one in kernels}


@dataclass(frozen=True)
class _Wanted:
    """A source with its text, and what is asked of it: the other model's predictions, too, and the design's area."""

    source: Path
    text: str
    board: Board
    other: bool
    area: bool


def _of_workloads(wanted: _Wanted, options: Options, given: Sequence[Given], messages: Messages) -> list[Prediction]:
    """The predictions of the launches that workloads tell of, in their order, each for the program as its host built
    it. Raises CompileError."""
    given, left_out = own_launches(given, _hashes(wanted, options, {workload.build for _, workload in given}))
    messages.add(*left_out)
    builds: dict[BuildOptions, list[int]] = {}
    for number, (_, workload) in enumerate(given):
        builds.setdefault(workload.build, []).append(number)
    found: dict[int, Prediction] = {}
    for build, numbers in builds.items():
        program = _Program.planned_with(wanted, build.applied(options))
        found |= zip(numbers, program.of_workloads([given[number] for number in numbers], messages), strict=True)
    return [found[number] for number in sorted(found)]


def _hashes(wanted: _Wanted, options: Options, builds: set[BuildOptions]) -> dict[BuildOptions, str]:
    """The hash of the source in each of the builds that it compiles in: those of other sources may lack its macros."""
    found = {}
    for build in builds:
        used, file = build.applied(options), str(wanted.source)
        with contextlib.suppress(CompileError):
            found[build] = source_hash(file, parsed_module(wanted.text, used, file).sources, used.defines)
    return found


@dataclass(frozen=True)
class _Program:
    """The planned kernels of a source by name, also with other orders of additions, and the hash of its text."""

    wanted: _Wanted
    planned: Mapping[str, CompiledKernel]
    relaxed: Mapping[str, CompiledKernel]
    channels: Sequence[ChannelPlan]
    taken: Taken | None  #: resources of the design
    hash: str

    @classmethod
    def planned_with(cls, wanted: _Wanted, options: Options) -> "_Program":
        """The program as it is planned with those options. Raises CompileError."""
        text, board, file = wanted.text, wanted.board, str(wanted.source)
        plan = plan_text(text, board, options, file)
        return cls(
            wanted,
            {one.function.name: one for one in plan.kernels},
            {} if options.fp_relaxed else _relaxed(text, board, options, file),
            plan.channels,
            plan_area(plan).total if wanted.other or wanted.area else None,
            source_hash(file, plan.module.sources, options.defines),
        )

    @property
    def board(self) -> Board:
        """The board of the launches."""
        return self.wanted.board

    @property
    def resources(self) -> Taken | None:
        """What the design takes, if that is asked for."""
        return self.taken if self.wanted.area else None

    @property
    def source(self) -> Path:
        """The program's file."""
        return self.wanted.source

    def of_workloads(self, given: Sequence[Given], messages: Messages) -> list[Prediction]:
        """The predictions of the launches that workloads tell of, in their order. Raises CompileError."""
        messages.add(*stale(given, self.hash))
        planned = {name: self._planned(one) for name, one in self.planned.items()}
        found = predictions(given, planned, self.channels, self.board, self.source, self._estimate)
        return [replace(one, resources=self.resources) for one in found]

    def _estimate(self, planned: Planned, workload: Workload) -> Prediction:
        return self._with_potentials(estimate(planned, workload, self.board), planned, workload)

    def of_trips(self, sources: Mapping[str, Function], trips: Mapping[str, int]) -> list[Prediction]:
        """The prediction of one launch of each kernel, with those trip counts by the name of the loop. ``sources`` are
        the kernels before optimization. Raises CompileError."""
        names = set[str]().union(*(names_of(one, str(self.source)) for one in sources.values()))
        for unknown in sorted(trips.keys() - names):
            there = ", ".join(sorted(names)) or "none"
            raise CompileError(
                Diagnostic(
                    f"--trip: {self.source} has no loop {unknown}",
                    hint=f"name a loop by its line or label; there are {there}",
                    code=Code.TRIP_COUNT,
                )
            )
        found = []
        for name, function in sources.items():
            planned = self._planned(self.planned[name])
            try:
                assumed = AssumedWorkload(planned, function, trips, self.board)
                workload = assumed.workload(dict.fromkeys((one.name for one in assumed.symbols), REFERENCE))
                prediction = estimate_assumed(planned, assumed, self.board)
                found.append(self._with_potentials(prediction, planned, workload))
            except NotModelled as error:
                raise CompileError(not_modelled(f"kernel {name} has {error}", ALONE)) from None
            except TripError as error:
                raise CompileError(Diagnostic(f"--trip: {error}", hint=error.hint, code=Code.TRIP_COUNT)) from None
        return found

    def _with_potentials(self, found: Prediction, planned: Planned, workload: Workload) -> Prediction:
        relaxed = self.relaxed.get(found.kernel)
        shares = potentials(planned, workload, self.board, self._planned(relaxed) if relaxed else None)
        used = _shares(self.taken, self.board) if self.wanted.other and self.taken else None
        others = hpca16(planned, workload, self.board, used) if used else ()
        mine = tuple(Potential(name, share) for name, share in shares.items())
        causes = accounts(planned, workload, self.board)
        return replace(found, potentials=mine, others=others, accounts=causes, resources=self.resources)

    def _planned(self, kernel: CompiledKernel) -> Planned:
        return Planned(kernel.function, kernel.memory, kernel.plan, kernel.unrolled, kernel.merged, str(self.source))


def _shares(area: Taken, board: Board) -> Resources:
    """The shares of the board's device that a design takes."""
    there = capacity(board.device)
    return Resources(
        area.logic / there.logic,
        area.rams / there.rams if there.rams else 0.0,
        area.dsps / there.dsps if there.dsps else 0.0,
    )

"""The commands of the performance model: ``sluice estimate`` and ``sluice predict``."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import click

from .cli_files import read_board, read_source
from .cli_messages import Messages
from .cli_options import BOARD, DEFINES, FP_RELAXED, FPC, INCLUDE_DIRS
from .diag import Code, CompileError, Diagnostic
from .driver import compile, plan_source
from .model.area import capacity
from .model.area import estimate as count_area
from .model.estimate import NotModelled, Planned, estimate
from .model.estimate_text import estimate_text
from .model.hpca16.parameters import Resources
from .model.hpca16.predict import predict as hpca16
from .model.potentials import potentials
from .model.prediction import Potential, Prediction
from .model.workload import Workload, WorkloadError, read_workload, source_hash
from .options import Options
from .planning.iterate import CompiledKernel
from .records import plain
from .signals import supervise
from .target.board import Board

__all__ = ["estimate_command", "predict_command"]


@click.command("estimate", short_help="Predict the cycles of launches, without hardware.")
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, path_type=Path),
    help="What a launch does, from `sluice run --workload`: a file, or a folder of them; repeatable.",
)
@BOARD
@DEFINES
@INCLUDE_DIRS
@FP_RELAXED
@FPC
@click.option(
    "--model",
    "other",
    type=click.Choice(["hpca16"]),
    help="Show another model's predictions, too: hpca16, of Wang et al., as printed and as corrected; "
    "it counts the area of the program's Verilog.",
)
@click.option("--json", "as_json", is_flag=True, help="All figures, as JSON.")
def estimate_command(
    source: Path,
    workloads: tuple[Path, ...],
    board: str,
    defines: dict[str, str],
    include_dirs: tuple[Path, ...],
    fp_relaxed: bool,
    fpc: bool,
    other: str | None,
    as_json: bool,
) -> None:
    """Predict the cycles of the launches of an OpenCL C file on a board, from its schedule and what the launches do."""
    messages = Messages("text")
    with messages.guard():
        text = read_source(source)
        messages.sources[str(source)] = text
        facts = read_board(board)
        options = Options(defines, (source.resolve().parent, *include_dirs), fp_relaxed, fpc)
        kernels, sources = plan_source(text, facts, options, str(source))
        planned = {one.function.name: one for one in kernels}
        relaxed = {} if fp_relaxed else _relaxed(text, facts, options, str(source))
        used = _used(text, facts, options, str(source)) if other else None
        current = source_hash(str(source), sources, dict(defines))
        found = []
        for path in _files(workloads):
            workload = _read(path)
            if workload.source_hash != current:
                messages.add(_changed(path))
            _check_word(path, workload, facts)
            kernel = planned.get(workload.kernel)
            if kernel is None:
                raise CompileError(_no_kernel(path, workload, source))
            try:
                one = _estimate(kernel, relaxed.get(workload.kernel), str(source), workload, facts)
            except NotModelled as error:
                raise CompileError(_not_modelled(workload, error)) from None
            others = hpca16(_planned(kernel, str(source)), workload, facts, used) if used else ()
            found.append(replace(one, others=others))
    messages.show()
    shown = json.dumps([plain(one, 3) for one in found], indent=1) if as_json else "\n".join(map(estimate_text, found))
    click.echo(shown)


@click.command(
    "predict",
    short_help="Predict the cycles of a host program's launches, without hardware.",
    context_settings={"ignore_unknown_options": True},
)
@BOARD
@click.option("--json", "as_json", is_flag=True, help="All figures, as a line of JSON for each launch.")
@click.argument("host", type=click.Path(exists=True, dir_okay=False, path_type=Path))
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


def _estimate(
    kernel: CompiledKernel, relaxed: CompiledKernel | None, main: str, workload: Workload, board: Board
) -> Prediction:
    """The prediction with its potentials."""
    planned = _planned(kernel, main)
    shares = potentials(planned, workload, board, _planned(relaxed, main) if relaxed else None)
    found = estimate(planned, workload, board)
    return replace(found, potentials=tuple(Potential(name, share) for name, share in shares.items()))


def _used(text: str, board: Board, options: Options, file: str) -> Resources:
    """The shares of the board's device that the program takes, counted in its Verilog."""
    result = compile(text, board, options, file)
    area, there = count_area(result.verilog, result.top, board.device).total, capacity(board.device)
    return Resources(
        area.logic / there.logic,
        area.rams / there.rams if there.rams else 0.0,
        area.dsps / there.dsps if there.dsps else 0.0,
    )


def _check_word(path: Path, workload: Workload, board: Board) -> None:
    """An error for a workload that was counted in words of another size."""
    words = board.memory.word_bytes
    if workload.word_bytes != words:
        raise CompileError(
            Diagnostic(
                f"{path}: a workload in memory words of {workload.word_bytes} bytes, from board {workload.board}; "
                f"those of {board.name} have {words}",
                hint=f"collect it again with `sluice run --workload DIR --board {board.name}`",
                code=Code.WORKLOAD,
            )
        )


def _planned(kernel: CompiledKernel, main: str) -> Planned:
    return Planned(kernel.function, kernel.memory, kernel.plan, kernel.unrolled, kernel.merged, main)


def _files(given: tuple[Path, ...]) -> list[Path]:
    found = []
    for path in given:
        inside = sorted(path.glob("*.json.gz")) if path.is_dir() else [path]
        if not inside:
            raise click.BadParameter(f"{path} has no file of a workload; `sluice run --workload {path}` writes them")
        found += inside
    return found


def _read(path: Path) -> Workload:
    try:
        return read_workload(path)
    except WorkloadError as error:
        raise CompileError(Diagnostic(str(error), code=Code.WORKLOAD)) from None


def _changed(path: Path) -> Diagnostic:
    return Diagnostic(
        f"{path}: the source has changed since this workload was collected",
        hint="collect it again with `sluice run --workload` if lines have moved or the program does something else",
        severity="warning",
        code=Code.WORKLOAD_OLD,
    )


def _no_kernel(path: Path, workload: Workload, source: Path) -> Diagnostic:
    return Diagnostic(
        f"{path}: a workload of kernel {workload.kernel}, which {source} does not have",
        hint="give the source whose launches were collected",
        code=Code.WORKLOAD,
    )


def _not_modelled(workload: Workload, error: NotModelled) -> Diagnostic:
    return Diagnostic(
        f"kernel {workload.kernel} has {error}, which the estimate does not cover",
        hint="measure it with `sluice run`",
        code=Code.NOT_MODELLED,
    )

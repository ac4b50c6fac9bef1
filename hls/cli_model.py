"""The commands of the performance model: ``sluice estimate`` and ``sluice predict``."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from .cli_files import read_board, read_source
from .cli_messages import Messages
from .cli_options import BOARD, DEFINES, FP_RELAXED, FPC, INCLUDE_DIRS
from .diag import Code, CompileError, Diagnostic
from .driver import plan_network, plan_source
from .model.estimate import NotModelled, Planned, estimate
from .model.estimate_text import estimate_text
from .model.network import Member, estimate_together, has_calls
from .model.potentials import potentials
from .model.prediction import Potential, Prediction
from .model.workload import Workload, WorkloadError, read_workload, source_hash
from .options import Options
from .planning.iterate import CompiledKernel
from .planning.memory import ChannelPlan
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
@click.option("--json", "as_json", is_flag=True, help="All figures, as JSON.")
def estimate_command(
    source: Path,
    workloads: tuple[Path, ...],
    board: str,
    defines: dict[str, str],
    include_dirs: tuple[Path, ...],
    fp_relaxed: bool,
    fpc: bool,
    as_json: bool,
) -> None:
    """Predict the cycles of the launches of an OpenCL C file on a board, from its schedule and what the launches do."""
    messages = Messages("text")
    with messages.guard():
        text = read_source(source)
        messages.sources[str(source)] = text
        facts = read_board(board)
        options = Options(defines, (source.resolve().parent, *include_dirs), fp_relaxed, fpc)
        kernels, channels, sources = plan_network(text, facts, options, str(source))
        planned = {one.function.name: one for one in kernels}
        relaxed = {} if fp_relaxed else _relaxed(text, facts, options, str(source))
        current = source_hash(str(source), sources, dict(defines))
        found: dict[int, Prediction] = {}
        joined: dict[int, Member] = {}
        for number, path in enumerate(_files(workloads)):
            workload = _read(path)
            if workload.source_hash != current:
                messages.add(_changed(path))
            _check_word(path, workload, facts)
            kernel = planned.get(workload.kernel)
            if kernel is None:
                raise CompileError(_no_kernel(path, workload, source))
            if has_calls(one := _planned(kernel, str(source))):
                joined[number] = Member(one, workload)
            else:
                found[number] = _estimate(one, relaxed.get(workload.kernel), workload, facts)
        found |= zip(joined, _estimate_together(list(joined.values()), channels, facts), strict=True)
    messages.show()
    each = [found[number] for number in sorted(found)]
    shown = json.dumps([plain(one, 3) for one in each], indent=1) if as_json else "\n".join(map(estimate_text, each))
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


def _estimate(planned: Planned, relaxed: CompiledKernel | None, workload: Workload, board: Board) -> Prediction:
    """The prediction with its potentials."""
    shares = potentials(planned, workload, board, _planned(relaxed, planned.main) if relaxed else None)
    found = estimate(planned, workload, board)
    return replace(found, potentials=tuple(Potential(name, share) for name, share in shares.items()))


def _estimate_together(members: list[Member], channels: Sequence[ChannelPlan], board: Board) -> list[Prediction]:
    """The predictions of launches that wait for each other on channels; what one of them would gain from something
    ideal depends on the others, so they have no potentials."""
    try:
        return estimate_together(members, channels, board)
    except NotModelled as error:
        raise CompileError(_not_modelled(error)) from None


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


def _not_modelled(error: NotModelled) -> Diagnostic:
    return Diagnostic(
        f"launches with {error}, which the estimate does not cover",
        hint="give the workloads of all launches that ran together, or measure them with `sluice run`",
        code=Code.NOT_MODELLED,
    )

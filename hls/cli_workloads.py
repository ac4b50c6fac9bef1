"""Workloads on the command line: files of what launches did, and the predictions that come of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .diag import Code, CompileError, Diagnostic
from .driver import Result
from .ir.launch import is_part
from .model.estimate import NotModelled, Planned, estimate
from .model.network import Member, estimate_together, has_calls
from .model.prediction import Prediction
from .model.workload import Workload, WorkloadError, read_workload, source_hash
from .options import BuildOptions
from .planning.memory import ChannelPlan
from .target.board import Board

__all__ = ["ALONE", "Given", "not_modelled", "own_launches", "predictions", "predictions_of", "read_workloads", "stale"]

#: what to do about a kernel that is predicted alone
ALONE = "measure it with `sluice run`"

#: a workload with the file that it was read from
Given = tuple[Path, Workload]


def read_workloads(paths: Sequence[Path]) -> list[Given]:
    """The workloads of files, and of the files in folders, in their order. Raises CompileError."""
    return [(path, _read(path)) for path in _files(paths)]


def stale(given: Sequence[Given], current: str) -> list[Diagnostic]:
    """A warning for each workload of a program whose hash is not the ``current`` one."""
    return [_changed(path) for path, workload in given if workload.source_hash != current]


def own_launches(given: Sequence[Given], hashes: Mapping[BuildOptions, str]) -> tuple[list[Given], list[Diagnostic]]:
    """Of launches of several sources those of one, whose ``hashes`` are those in the builds that it compiles in, and
    a warning about the others. All of them if none is of that text: then it has changed."""
    mine = [one for one in given if hashes.get(one[1].build) == one[1].source_hash]
    others = [workload.kernel for one in given for workload in one[1:] if one not in mine]
    if not mine or not others:
        return list(given), []
    return mine, [
        Diagnostic(
            f"{len(others)} of {len(given)} launches are of other sources, or of another text of this one; they are "
            f"left out: kernels {', '.join(sorted(set(others)))}",
            hint="give the workloads of one source, or collect them again with `sluice run --workload`",
            severity="warning",
            code=Code.WORKLOAD_OLD,
        )
    ]


def predictions(
    given: Sequence[Given],
    planned: Mapping[str, Planned],
    channels: Sequence[ChannelPlan],
    board: Board,
    source: Path,
    of_one: Callable[[Planned, Workload], Prediction] | None = None,
) -> list[Prediction]:
    """The predictions of the launches that workloads tell of, in their order. Those of kernels with calls on channels
    are predicted together, each of the others by ``of_one`` (default: :func:`hls.model.estimate.estimate`). ``planned``
    are the kernels of the file ``source`` by name. Raises CompileError."""
    found: dict[int, Prediction] = {}
    joined: dict[int, Member] = {}
    for number, (path, workload) in enumerate(given):
        _check_word(path, workload, board)
        if workload.kernel not in planned:
            raise CompileError(_no_kernel(path, workload, source))
        one = planned[workload.kernel]
        if has_calls(one) and not is_part(one.function):
            joined[number] = Member(one, workload)
        else:
            found[number] = _alone(one, workload, board, of_one)
    found |= zip(joined, _together(list(joined.values()), channels, board), strict=True)
    return [found[number] for number in sorted(found)]


def not_modelled(what: str, hint: str) -> Diagnostic:
    """The error for something that the estimate does not cover; ``what`` begins the sentence."""
    return Diagnostic(f"{what}, which the estimate does not cover", hint=hint, code=Code.NOT_MODELLED)


def predictions_of(result: Result, given: Sequence[Given], source: Path) -> tuple[list[Prediction], list[Diagnostic]]:
    """The predictions of workloads for a compilation of the file ``source``, and warnings for those of another text.
    Raises CompileError."""
    if not given:
        return [], []
    planned = {
        one.function.name: Planned(one.function, one.memory, one.plan, one.unrolled, one.merged, str(source))
        for one in result.kernels
    }
    current = source_hash(str(source), result.module.sources, dict(result.options.defines))
    return predictions(given, planned, result.channels, result.board, source), stale(given, current)


def _alone(
    planned: Planned, workload: Workload, board: Board, of_one: Callable[[Planned, Workload], Prediction] | None
) -> Prediction:
    try:
        return of_one(planned, workload) if of_one else estimate(planned, workload, board)
    except NotModelled as error:
        raise CompileError(not_modelled(f"kernel {workload.kernel} has {error}", ALONE)) from None


def _together(members: list[Member], channels: Sequence[ChannelPlan], board: Board) -> list[Prediction]:
    """The predictions of launches that wait for each other on channels; what one of them would gain from something
    ideal depends on the others, so they have no potentials."""
    try:
        return estimate_together(members, channels, board)
    except NotModelled as error:
        hint = "give the workloads of all launches that ran together, or measure them with `sluice run`"
        raise CompileError(not_modelled(f"launches with {error}", hint)) from None


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


def _files(given: Sequence[Path]) -> list[Path]:
    found = []
    for path in given:
        inside = sorted(path.glob("*.json.gz")) if path.is_dir() else [path]
        if not inside:
            hint = f"`sluice run --workload {path}` writes them"
            raise CompileError(Diagnostic(f"{path} has no file of a workload", hint=hint, code=Code.WORKLOAD))
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

"""Replayed cycles of the kernels of tests/benchmarks beside the recorded ones of the board.

``python -m tests.model.replays [--board NAME] [names]``: no hardware is made; what the replay does not cover is told.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from hls.driver import CompiledKernel, network_channels, plan_module
from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from hls.model.estimate import Planned
from hls.model.replay import NotReplayed
from hls.model.replay.figures import Replayed
from hls.options import Options
from hls.passes.link.place_buffers import as_used
from hls.passes.run_stages import link_program
from hls.recursion import deep_recursion
from hls.target.board import load_board
from sim.cl.board import SimulatedBoard
from sim.model import Launched, Replayer
from tests.benchmarks.__main__ import RECORDED, mean
from tests.benchmarks.case import Case
from tests.benchmarks.suite import CASES, latencies
from tests.plans import linked, planned_alone

__all__ = ["Replay", "of_file", "replayer", "replays", "run_case"]

MAIN = "kernels.cl"
ONE_ITEM = IndexSpace.of((1,))


@dataclass(frozen=True)
class Replay:
    """A case on the replay beside its recorded cycles; ``found`` is None where the replay does not cover it, because of
    ``refused``."""

    case: Case
    found: Replayed | None
    refused: str
    recorded: int

    @property
    def error(self) -> float:
        """Of the replayed cycles, as a share of the recorded ones."""
        assert self.found is not None, self.refused
        return self.found.cycles / self.recorded - 1


@cache
def replayer(source: str, board_name: str) -> Replayer:
    """The kernels of a source text, planned for a board. The same object for the same arguments."""
    board = load_board(board_name)
    with deep_recursion():
        module = link_program(parse_source(source, MAIN, {}, []).module)
        used = as_used(module, board)
        kernels, _ = plan_module(module, used, Options())
    channels = network_channels(module, kernels, used, Options())
    return Replayer(_named(kernels), module, used, channels, Options().const_cache_bytes, hasty=True)


@cache
def of_file(source: str, kernels: frozenset[str], board_name: str, copy_bytes: int | None = None) -> Replayer:
    """These kernels of a file of tests/benchmarks, planned for a board, with copies of buffers of up to ``copy_bytes``
    bytes. The same object for the same arguments."""
    module = linked(source)
    used = as_used(module, load_board(board_name))
    planned = [
        one
        for name in module.functions
        if name in kernels
        for one in _named(planned_alone(source, name, board_name, copy_bytes))
    ]
    return Replayer(planned, module, used, (), Options().const_cache_bytes, hasty=True)


def _named(kernels: Iterable[CompiledKernel]) -> list[Planned]:
    return [Planned(one.function, one.memory, one.plan, one.unrolled, one.merged, MAIN) for one in kernels]


def run_case(case: Case, made: Replayer, cycle: int | None = 0) -> Replayed:
    """The case on a replay with its kernel; its bytes are compared with the reference. It begins in that ``cycle`` of
    the board, or (None) after the case before. Raises NotReplayed."""
    names = [parameter.name for parameter in made.kernels[case.kernel].function.params]
    given = dict(zip(names, case.arguments(), strict=True))
    arrays = {name: np.ascontiguousarray(a) for name, a in given.items() if isinstance(a, np.ndarray)}
    buffers = {name: array.view(np.uint8).reshape(-1).copy() for name, array in arrays.items()}
    scalars = {name: value.item() for name, value in given.items() if not isinstance(value, np.ndarray)}
    memory = SimulatedBoard(made.board)
    kept = {name: memory.allocate(len(buffer)) for name, buffer in buffers.items()}
    addresses = {name: one.address for name, one in kept.items()}
    made.machine(case.kernel, addresses)  # refuses before anything runs
    started = made.emulator.start(case.kernel, buffers, scalars, ONE_ITEM)
    made.emulator.advance(last=True)
    for name, wanted in zip(names, case.expected(), strict=True):
        if isinstance(wanted, np.ndarray):
            assert buffers[name].tobytes() == wanted.tobytes(), f"{case.kernel}: {name}"
    return made.replay([Launched(started, addresses)], cycle)[0]


def replays(
    board_name: str, cases: Iterable[Case], cycle: int | None = None, copy_bytes: int | None = None
) -> Iterator[Replay]:
    """The cases that have recorded cycles; they begin in that ``cycle``, or (None) one after the other, as they were
    recorded."""
    cases = list(cases)
    for case in cases:
        made = of_file(case.source, frozenset(c.kernel for c in cases if c.file == case.file), board_name, copy_bytes)
        recorded = RECORDED.get(board_name, {}).get(case.kernel)
        if recorded is None:
            continue
        try:
            yield Replay(case, run_case(case, made, cycle), "", recorded[1])
        except NotReplayed as error:
            yield Replay(case, None, error.what, recorded[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model.replays", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="parts of kernel names; default: all")
    parser.add_argument("--board", default="ecp5_onchip")
    parser.add_argument("--copy-bytes", type=int, help="copy buffers of up to so many bytes to the chip")
    arguments = parser.parse_args()
    cases = [c for c in CASES if not arguments.kernels or any(part in c.kernel for part in arguments.kernels)]
    errors, ratios, part_latencies = [], [], latencies(arguments.board)
    for one in replays(arguments.board, cases, copy_bytes=arguments.copy_bytes):
        if one.found is None:
            print(f"{one.case.kernel:18} not replayed: {one.refused}", flush=True)
            continue
        errors.append(abs(one.error))
        ratios.append(one.found.cycles / one.case.bound(one.case.arguments(), part_latencies))
        print(
            f"{one.case.kernel:18} replayed {one.found.cycles:9,}  recorded {one.recorded:9,}  {one.error:+7.2%}"
            f"  {ratios[-1]:6.3f} times the bound",
            flush=True,
        )
    if errors:
        errors.sort()
        average, median = sum(errors) / len(errors), errors[len(errors) // 2]
        print(f"{len(errors)} kernels: mean error {average:.2%}, median {median:.2%}, worst {errors[-1]:.1%}")
        print(f"replayed cycles: {mean(ratios):.3f} times the bound in the geometric mean, {max(ratios):.2f} at most")


if __name__ == "__main__":
    main()

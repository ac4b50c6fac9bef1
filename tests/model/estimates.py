"""Estimated cycles of the plain kernels of tests/benchmarks beside the recorded ones of the board.

``python -m tests.model.estimates [--board NAME] [names]``: no hardware is made; a kernel takes about half a second.
"""

import argparse
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hls.ir import Module
from hls.ir.launch import IndexSpace
from hls.model.estimate import Planned, estimate
from hls.model.prediction import Prediction
from hls.model.workload import Workload
from hls.passes.lowering.inline import Inline
from hls.recursion import deep_recursion
from hls.target.board import Board, load_board
from sim.cl.workloads import Observation, Source, memories_of
from sim.emulator import Emulator
from tests.benchmarks.__main__ import RECORDED
from tests.benchmarks.case import Case
from tests.benchmarks.suite import CASES
from tests.plans import linked, planned_alone

__all__ = ["Estimate", "collected", "estimates", "launches"]

MAIN = "kernels.cl"
ONE_ITEM = IndexSpace.of((1,))


@dataclass(frozen=True)
class Estimate:
    """A prediction beside the cycles that were measured."""

    kernel: str
    prediction: Prediction
    measured: int

    @property
    def error(self) -> float:
        """Of the likely cycles, as a share of the measured ones."""
        return self.prediction.cycles.likely / self.measured - 1


def collected(case: Case, module: Module, emulator: Emulator, board: Board) -> Workload:
    """The workload of a case, from a run on the emulator."""
    names = [parameter.name for parameter in module.functions[case.kernel].params]
    given = dict(zip(names, case.arguments(), strict=True))
    buffers = {
        name: np.ascontiguousarray(value).view(np.uint8).reshape(-1).copy()
        for name, value in given.items()
        if isinstance(value, np.ndarray)
    }
    scalars = {name: value.item() for name, value in given.items() if not isinstance(value, np.ndarray)}
    observation = Observation(case.kernel, buffers, scalars, ONE_ITEM)
    started = emulator.start(case.kernel, buffers, scalars, ONE_ITEM)
    emulator.advance(last=True)
    return observation.workload(emulator, started, board, Source(MAIN, ""))


def launches(board_name: str, cases: Iterable[Case]) -> Iterator[tuple[Planned, Workload]]:
    """Plan the kernels of the cases, and collect the workload of each case with recorded cycles."""
    board = load_board(board_name)
    for case in cases:
        if case.kernel not in RECORDED.get(board_name, {}):
            continue
        (one,) = [
            one for one in planned_alone(case.source, case.kernel, board_name) if one.function.name == case.kernel
        ]
        planned = Planned(one.function, one.memory, one.plan, one.unrolled, one.merged, MAIN)
        yield planned, collected(case, linked(case.source), _emulator(case.source, board_name), board)


@functools.lru_cache(maxsize=16)
def _emulator(source: str, board_name: str) -> Emulator:
    """The kernels of a file, watched as their memories on the board need it."""
    with deep_recursion():
        return Emulator(Inline().run(linked(source)), hasty=True, observe=memories_of(load_board(board_name)))


def estimates(board_name: str, cases: Iterable[Case]) -> Iterator[Estimate]:
    """Estimate the cases with recorded cycles."""
    board = load_board(board_name)
    for planned, workload in launches(board_name, cases):
        prediction = estimate(planned, workload, board)
        yield Estimate(workload.kernel, prediction, RECORDED[board_name][workload.kernel][1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model.estimates", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="parts of kernel names; default: all")
    parser.add_argument("--board", default="ecp5_onchip")
    arguments = parser.parse_args()
    cases = [c for c in CASES if not arguments.kernels or any(part in c.kernel for part in arguments.kernels)]
    errors, inside = [], 0
    for one in estimates(arguments.board, cases):
        cycles = one.prediction.cycles
        errors.append(abs(one.error))
        contained = cycles.least <= one.measured <= cycles.most
        inside += contained
        print(
            f"{one.kernel:18} estimated {cycles.likely:9,.0f} ({cycles.least:,.0f} to {cycles.most:,.0f})  "
            f"measured {one.measured:8,}  {one.error:+7.1%}{'' if contained else '  outside'}",
            flush=True,
        )
    if errors:
        errors.sort()
        mean, median = sum(errors) / len(errors), errors[len(errors) // 2]
        print(
            f"{len(errors)} kernels: mean error {mean:.2%}, median {median:.2%}, worst {errors[-1]:.1%}, "
            f"interval holds in {inside / len(errors):.0%}"
        )


if __name__ == "__main__":
    main()

"""Barriers and fences of every kind in loops and branches: all random kernels are planned, some run on the board
with random stalls; see tests/hls/passes/test_fence_kinds.py for all pairs and triples."""

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from hls.options import Options
from hls.passes.run_stages import link_program
from hls.target.board import load_board
from sim.emulator import Emulator
from tests.sim.emulator.both import Run, emulated, interpreted

from .fence_mixes import mixed_kernel
from .system import Launch

PLANNED, ON_BOARD, SIZE = 48, 10, 16
SOURCE = "".join(map(mixed_kernel, range(ON_BOARD)))


def launch(seed: int, groups: int, n: int) -> Launch:
    rng, items = np.random.default_rng(seed), groups * SIZE
    buffers = {name: rng.integers(-99, 99, items).astype(np.int32) for name in "op"}
    return Launch(buffers, {"n": n}, (items,), (SIZE,), shared={"t": 4 * SIZE})


@pytest.mark.parametrize("seed", range(PLANNED))
def test_all_are_planned(seed):
    plan_module(link_program(parse_source(mixed_kernel(seed)).module), load_board("de5net"), Options())


def test_emulator_and_interpreter():
    seeds = range(PLANNED)
    module = link_program(parse_source("".join(map(mixed_kernel, seeds))).module)
    emulator = Emulator(module)
    for seed in seeds:
        one = launch(seed, 3, 3)
        run = Run(f"mixed{seed}", one.buffers, one.scalars, IndexSpace.of(one.global_size, one.local_size), one.shared)
        assert emulated(emulator, run) == interpreted(module, run), mixed_kernel(seed)


@pytest.mark.verilator
@pytest.mark.parametrize("seed", range(ON_BOARD))
def test_board(system, seed):
    system.check(f"mixed{seed}", [launch(seed, 5, 3), launch(seed + 1, 2, 2)], (0, 1, 2))

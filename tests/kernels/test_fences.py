"""Barriers next to memory fences: accesses after them see those before them, with random stalls, against the
interpreter."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "fences.cl").read_text()
SEEDS = (0, 1, 2, 3)
RNG = np.random.default_rng(5)


def launch(groups: int, size: int, buffers="o", scalars=(), **shared) -> Launch:
    n = groups * size
    return Launch(
        {name: RNG.integers(-99, 99, n).astype(np.int32) for name in buffers},
        dict(scalars),
        (n,),
        (size,),
        shared=shared,
    )


@pytest.mark.parametrize("kernel", ["barrier_fence", "fence_barrier"])
def test_beside_each_other(system, kernel):
    system.check(kernel, [launch(5, 64), launch(1, 64)], SEEDS)


def test_in_a_loop(system):
    system.check("between", [launch(4, 16, scalars={"n": 3}, t=64), launch(3, 64, scalars={"n": 2}, t=256)], SEEDS)


def test_two_barriers(system):
    system.check("twice", [launch(6, 8, "op"), launch(2, 64, "op")], SEEDS)

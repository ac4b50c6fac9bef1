"""SIMD lanes, on the simulated board with random stalls, against the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "simd.cl").read_text()
SEEDS = (0, 1, 2)
RNG = np.random.default_rng(11)


def ints(n: int) -> np.ndarray:
    return RNG.integers(-100, 100, n).astype(np.int32)


def floats(n: int) -> np.ndarray:
    return RNG.standard_normal(n).astype(np.float32)


def sums(n: int, *space, misalign=0) -> Launch:
    return Launch({"a": floats(n), "b": floats(n), "c": np.zeros(n, np.float32)}, {}, *space, misalign=misalign)


def lines(size: int, groups: int, **scalars) -> Launch:
    n = size * groups
    return Launch({"in": ints(n), "out": ints(n)}, scalars, (n,), (size,))


@pytest.mark.parametrize(("kernel", "lanes"), [("add4", 4), ("add16", 16)])
def test_sums(system, kernel, lanes):
    launches = [sums(256, (256,), (32,)), sums(39, (32,), (32,), (7,)), sums(64, (64,), (32,), misalign=1)]
    found = system.check(kernel, launches, SEEDS)
    assert [loop["iterations"] for loop in found[0]["loops"]] == [256 // lanes]


def test_conditions(system):
    system.check("chosen", [lines(4, 10, n=37), lines(8, 9, n=72), lines(12, 2, n=0)], SEEDS)


def test_loops(system):
    system.check("rounds", [lines(2, 9, n=5), lines(6, 4, n=1), lines(8, 2, n=0)], SEEDS)


def test_loops_left_at_different_times(system):
    """Counters that begin side by side stay there: one access for all lanes."""
    found = system.check("strides", [lines(4, 4, n=15), lines(8, 3, n=24), lines(4, 5, n=1), lines(8, 2, n=0)], SEEDS)
    assert [loop["iterations"] for loop in found[0]["loops"] if loop["line"] == 73] == [4]


def test_groups(system):
    def launch(size, groups):
        given = lines(size, groups)
        return Launch(given.buffers | {"count": np.zeros(4, np.int32)}, {}, given.global_size, given.local_size)

    system.check("meet", [launch(*each) for each in ((4, 5), (8, 4), (64, 3))], SEEDS)


def test_private_arrays(system):
    system.check("own_array", [lines(4, 5, n=9), lines(2, 3, n=1)], SEEDS)


def planes(kernel: str, n: int, distance: int) -> Launch:
    buffers = {"out": RNG.integers(-3, 4, 4 * n).astype(np.int32)}
    if kernel == "planes":
        buffers["in"] = RNG.integers(-3, 4, n).astype(np.int32)
    return Launch(buffers, {"n": distance}, (n,), (4,))


@pytest.mark.parametrize("kernel", ["planes", "planes_in_place"])
def test_planes(system, kernel):
    system.check(
        kernel, [planes(kernel, n, distance) for n, distance in ((64, 64), (16, 16), (32, 0), (24, 27))], SEEDS
    )


def test_planes_take_a_cycle_for_all_lanes(system):
    (stats,) = system.check("planes", [planes("planes", 1024, 1024)])
    assert stats["cycles"] < 1.2 * 1024 / 4 + 300

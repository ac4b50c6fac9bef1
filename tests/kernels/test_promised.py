"""Barriers that rely on asserted convergence, on the simulated board with random stalls, against the interpreter;
every launch here is convergent."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "promised.cl").read_text()
SEEDS = (0, 1, 2)
RNG = np.random.default_rng(12)
KERNELS = ("strided", "left_early", "two_sides", "left_late", "counted_off", "looked_up", "side_by_side", "by_units")


def ints(n: int) -> np.ndarray:
    return RNG.integers(-1000, 1000, n).astype(np.int32)


def lines(groups: int, size: int, kept: int, *more: str) -> Launch:
    """So many groups, of which the first ``kept`` are below ``n``."""
    n = groups * size
    return Launch({"in": ints(n), **{name: ints(n) for name in (*more, "out")}}, {"n": kept * size}, (n,), (size,))


def test_which_promise(system):
    """All but one, which is proved."""
    assert [name for name in KERNELS if not system.kernels[name].promised] == ["counted_off"]


def test_strided(system):
    system.check("strided", [lines(5, 4, 3), lines(3, 32, 2), lines(6, 7, 0), lines(4, 1, 4)], SEEDS)


def test_left_early(system):
    system.check("left_early", [lines(9, 4, 5), lines(5, 16, 0), lines(4, 32, 4), lines(6, 8, 1)], SEEDS)


def test_two_sides(system):
    launches = [lines(7, 5, 3, "work"), lines(4, 32, 2, "work"), lines(6, 8, 6, "work"), lines(6, 8, 0, "work")]
    system.check("two_sides", launches, SEEDS)


def test_left_late(system):
    def launch(groups, size):
        n = groups * size
        last = np.repeat(RNG.integers(-1, 5, groups), size).astype(np.int32)  # some stay to the end
        return Launch({"in": ints(n), "last": last, "out": np.zeros(n, np.int32)}, {"rounds": 4}, (n,), (size,))

    system.check("left_late", [launch(*each) for each in ((9, 4), (7, 16), (12, 1))], SEEDS)


def test_counted_off(system):
    def launch(groups):
        return Launch({"in": ints(64 * groups), "out": np.zeros(16 * groups, np.int32)}, {}, (16 * groups,), (16,))

    system.check("counted_off", [launch(1), launch(5)], SEEDS)


@pytest.mark.parametrize("rounds", [(4, 0, 0, 0, 0, 1), (0, 3, 1, 7, 0, 0, 2, 5, 4), (6, *(0,) * 12, 1, 1, 1)])
def test_looked_up(system, rounds):
    """Groups that do not go round pass by, more of them than there is room for beside the one that does; the next one
    that does stands in the header only if all of it can come."""
    n = 16 * len(rounds)
    buffers = {"in": ints(n), "rounds": np.array(rounds, np.int32), "out": np.zeros(n, np.int32)}
    system.check("looked_up", [Launch(buffers, {}, (n,), (16,))], SEEDS)


def test_side_by_side(system):
    system.check("side_by_side", [lines(5, 4, 3), lines(3, 32, 2), lines(6, 8, 0), lines(4, 12, 4)], SEEDS)


def test_by_units(system):
    system.check("by_units", [lines(7, 4, 3), lines(5, 32, 2), lines(6, 9, 0), lines(9, 8, 9)], SEEDS)

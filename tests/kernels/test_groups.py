"""Kernels with barriers and local memory, on the simulated board with random stalls, against the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "groups.cl").read_text()
SEEDS = (0, 1, 2)
RNG = np.random.default_rng(7)


def ints(n: int, low=-1000, high=1000) -> np.ndarray:
    return RNG.integers(low, high, n).astype(np.int32)


def lines(groups: int, size: int, **scalars) -> Launch:
    """Groups of one dimension, for kernels with the buffers ``in`` and ``out``."""
    n = groups * size
    return Launch({"in": ints(n), "out": np.zeros(n, np.int32)}, scalars, (n,), (size,))


def test_turn(system):
    system.check("turn", [lines(groups, size) for groups, size in ((7, 1), (5, 3), (9, 16), (3, 256))], SEEDS)


def test_sum_up(system):
    def launch(groups, size):
        return Launch({"in": ints(groups * size), "out": np.zeros(groups, np.int32)}, {}, (groups * size,), (size,))

    system.check("sum_up", [launch(*each) for each in ((6, 1), (7, 4), (9, 16), (5, 64))], SEEDS)


def test_tiles(system):
    n = 12
    a, b = (RNG.integers(-8, 8, n * n).astype(np.float32) for _ in range(2))
    system.check("tiles", [Launch({"a": a, "b": b, "c": np.zeros(n * n, np.float32)}, {"n": n}, (n, n), (4, 4))], SEEDS)


def test_prefix(system):
    def launch(groups, size):
        given = lines(groups, size)
        return Launch(
            given.buffers, {}, given.global_size, given.local_size, shared={"one": 4 * size, "other": 4 * size}
        )

    system.check("prefix", [launch(*each) for each in ((5, 1), (6, 8), (3, 100))], SEEDS)


def test_sorted(system):
    system.check(
        "sorted", [Launch({"data": ints(g * n)}, {}, (g * n,), (n,)) for g, n in ((4, 2), (5, 8), (6, 32))], SEEDS
    )


def test_uneven(system):
    system.check("uneven", [lines(9, 4), lines(6, 16)], SEEDS)


def test_chosen(system):
    system.check("chosen", [lines(9, 8, twice=0), lines(7, 16, twice=1)], SEEDS)


def test_through_global(system):
    for groups, size in ((6, 8), (5, 32)):
        n = groups * size
        buffers = {"in": ints(n), "work": ints(n), "out": np.zeros(n, np.int32)}
        system.check("through_global", [Launch(buffers, {}, (n,), (size,), overlap=o) for o in (False, True)], SEEDS)


def test_global_rounds(system):
    system.check(
        "global_rounds",
        [Launch({"work": ints(g * n)}, {"rounds": 4}, (g * n,), (n,)) for g, n in ((5, 3), (4, 16))],
        SEEDS,
    )


def test_alone(system):
    system.check("alone", [lines(5, 8), lines(4, 32)], SEEDS)


def test_cubes(system):
    sizes, group = (6, 4, 9), (3, 2, 3)
    cube = ints(6 * 4 * 9).astype(np.int16)
    system.check("cubes", [Launch({"in": cube, "out": np.zeros_like(cube)}, {}, sizes, group)], SEEDS)


def test_fetched(system):
    groups = 6
    buffers = {"in": ints(40 * groups), "out": np.zeros(16 * groups, np.int32)}
    system.check("fetched", [Launch(buffers, {}, (16 * groups,), (16,))], SEEDS)


def test_nothing_shared(system):
    system.check("nothing_shared", [lines(5, 8)], SEEDS)


def test_counted(system):
    system.check("counted", [lines(7, 8), lines(4, 64)], SEEDS)


def test_all_atomics(system):
    given = ints(8 * 5 + 1)
    system.check("all_atomics", [Launch({"in": given, "out": np.zeros(8 * 5 + 5, np.int32)}, {}, (40,), (8,))], SEEDS)


def test_tickets(system):
    system.check("tickets", [lines(9, 16)], SEEDS)


def test_global_counts(system):
    n = 60
    buffers = {
        "in": ints(n, 0, 1 << 20).astype(np.uint32),
        "h": ints(32).astype(np.uint32),
        "least": ints(1),
        "out": np.zeros(n, np.uint32),
    }
    system.check("global_counts", [Launch(buffers, {}, (n,), overlap=o) for o in (False, True)], SEEDS)


def test_all_global(system):
    n = 24
    buffers = {"in": ints(n), "a": ints(64), "b": np.array([1, 1 << 40, 5, 9], np.uint64)}
    system.check("all_global", [Launch(buffers, {}, (n,))], SEEDS)


def test_pointed(system):
    def launch(groups: int) -> Launch:
        n = 16 * groups
        buffers = {"in": ints(max(n, 40)), "other": ints(max(2 * n, 60)), "out": np.zeros(n, np.int32)}
        return Launch(buffers, {}, (n,), (16,))

    system.check("pointed", [launch(2), launch(7)], SEEDS)

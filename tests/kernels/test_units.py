"""Kernels of several compute units, on the simulated board with random stalls, against the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "units.cl").read_text()
SEEDS = (0, 1, 2)
RNG = np.random.default_rng(23)


def ints(n: int, low=-1000, high=1000) -> np.ndarray:
    return RNG.integers(low, high, n).astype(np.int32)


def groups_of(stats: dict) -> list[int]:
    return [unit["groups"] for unit in stats["units"]]


def test_added(system):
    def launch(n, size, *offset):
        m = n + sum(offset)
        return Launch({"a": ints(m), "b": ints(m), "c": np.zeros(m, np.int32)}, {}, (n,), (size,), offset)

    found = system.check("added", [launch(512, 32), launch(35, 5, 4), launch(7, 7)], SEEDS)
    assert [sum(groups_of(stats)) for stats in found[:3]] == [16, 7, 1]
    assert groups_of(found[0]) == pytest.approx([8, 8], abs=1)
    assert sum(loop["iterations"] for loop in found[0]["loops"]) == 512


def test_steps(system):
    """Who is done early gets more; every unit is busy until the end."""
    n = RNG.integers(1, 30, 50 * 32).astype(np.uint32)
    n[32:64] = 77031  # 350 steps each
    found = system.check("steps", [Launch({"in": n, "out": np.zeros_like(n)}, {}, (50 * 32,), (32,))], SEEDS)[0]
    assert sum(groups_of(found)) == 50
    assert min(groups_of(found)) < 20


@pytest.mark.parametrize(
    "sizes, local, offset",
    [((6, 4, 5), (3, 2, 1), (0, 0, 0)), ((8, 3, 2), (2, 3, 2), (5, 1, 7)), ((4, 6), (1, 1), (1, 2))],
)
def test_places(system, sizes, local, offset):
    system.check(
        "places", [Launch({"out": np.zeros(int(np.prod(sizes)), np.int32)}, {"plus": 5}, sizes, local, offset)], SEEDS
    )


def test_sums(system):
    def launch(groups, size):
        return Launch(
            {"in": ints(groups * size), "out": np.zeros(groups, np.int32), "total": ints(1)},
            {},
            (groups * size,),
            (size,),
        )

    system.check("sums", [launch(*each) for each in ((9, 4), (7, 16), (5, 64), (3, 1))], SEEDS)


def test_handed(system):
    n = 24 * 6
    buffers = {"in": ints(n), "work": ints(n), "out": np.zeros(n, np.int32)}
    system.check("handed", [Launch(buffers, {}, (24, 6), (8, 2), overlap=o) for o in (False, True)], SEEDS)


def test_both(system):
    a = RNG.standard_normal(16 * 11).astype(np.float32)
    found = system.check("both", [Launch({"a": a, "b": np.zeros_like(a)}, {}, (16 * 11,), (16,))], SEEDS)[0]
    assert sum(loop["iterations"] for loop in found["loops"]) == 4 * 11


def test_counted(system):
    system.check("counted", [Launch({"count": ints(4)}, {}, (6, 5, 2), (3, 5, 1))], SEEDS)


def test_numbers(system):
    """Four units with sixty groups each run: every unit takes some."""
    stats, buffers = system.run("numbers", Launch({"seen": np.zeros(4, np.int32)}, {}, (600,), (10,)))
    assert list(buffers["seen"]) == [1] * 4 and min(groups_of(stats)) > 4


def test_the_accounts(system):
    """Each unit's accounts are its cycles, and the kernel's are their mean."""
    a = np.arange(256, dtype=np.int32)
    found = system.check("added", [Launch({"a": a, "b": a, "c": np.zeros_like(a)}, {}, (256,), (32,))])[0]
    cycles = found["cycles"]
    assert [sum(account["cycles"] for account in unit["accounts"]) for unit in found["units"]] == [cycles] * 2
    assert sum(account["cycles"] for account in found["accounts"]) == cycles
    assert found["units"][0]["occupancy"] == pytest.approx(128 / cycles)

"""Port reservation: stores to one memory at several sites, by work-items of one group or in nested loops, with
random stalls, against the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "bookings.cl").read_text()
SEEDS = (0, 1, 2, 3, 4)
RNG = np.random.default_rng(11)


def lines(groups: int, size: int, **scalars) -> Launch:
    """Groups of one dimension."""
    n = groups * size
    return Launch(
        {"in": RNG.integers(-1000, 1000, n).astype(np.int32), "out": np.zeros(n, np.int32)}, scalars, (n,), (size,)
    )


def test_around(system):
    system.check("around", [lines(9, 1), lines(6, 16), lines(5, 64)], SEEDS)


def test_cycles_in_which_tokens_wait_for_the_port_have_an_account(system):
    (stats,) = system.check("around", [lines(64, 16)])
    waiting = [
        a for a in stats["accounts"] if a["cause"] == "waiting for the write port of t, which other stores share"
    ]
    assert len(waiting) == 2 and sum(a["cycles"] for a in waiting) > 0


def test_cycles_in_which_a_group_waits_for_a_copy_of_local_memory_have_an_account(system):
    (stats,) = system.check("crowded", [lines(64, 16)])
    accounts = {a["cause"]: a["cycles"] for a in stats["accounts"]}
    assert accounts["waiting for an earlier work-group to leave its copy of t"] > stats["cycles"] // 4


def test_rounds(system):
    system.check("rounds", [lines(9, 4, n=3), lines(5, 32, n=2), lines(3, 16, n=0)], SEEDS)


def test_crosswise(system):
    system.check("crosswise", [lines(12, 16)], SEEDS)


def test_beside_atomics(system):
    system.check("beside_atomics", [lines(12, 16)], SEEDS)


def rows(kernel: str, n: int, type) -> Launch:
    size = {"decomposed": 256, "halves": 384, "triples": 256}[kernel]
    return Launch({"in": RNG.integers(1, 100, size).astype(type), "out": np.zeros(size, type)}, {"n": n})


def test_rows(system):
    system.check("decomposed", [rows("decomposed", n, np.float32) for n in (16, 3, 0)], SEEDS)
    system.check("halves", [rows("halves", n, np.int32) for n in (20, 9, 0)], SEEDS)
    system.check("triples", [rows("triples", n, np.int32) for n in (3, 1, 0)], SEEDS)


def test_rows_follow_at_once(system):
    """Elimination takes a cycle for each element, few for each row and, between its steps, once the way through the
    loops."""
    (stats,) = system.check("decomposed", [rows("decomposed", 15, np.float32)])
    inner = next(loop for loop in stats["loops"] if loop["iterations"] == sum(k * k for k in range(16)))
    assert inner["static_ii"] == 1 and inner["measured_ii"] < 1.5


def test_every_level_that_shares_a_port_asks_for_it(system):
    """And none of those whose stores other groups' barriers keep apart."""
    users = {
        kernel.function.name: [len(booking.users) for booking in kernel.plan.bookings]
        for kernel in system.result.kernels
    }
    assert users == {
        "around": [2],
        "rounds": [3],
        "crosswise": [4],
        "beside_atomics": [2],
        "decomposed": [2],
        "halves": [4],
        "triples": [3],
        "crowded": [],
    }

"""Work-items of one group that store to one local memory in several places at once, with random stalls, like the interpreter."""

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
    return Launch({"in": RNG.integers(-1000, 1000, n).astype(np.int32), "out": np.zeros(n, np.int32)}, scalars, (n,), (size,))


def test_around(system):
    system.check("around", [lines(9, 1), lines(6, 16), lines(5, 64)], SEEDS)


def test_cycles_in_which_tokens_wait_for_the_port_have_an_account(system):
    (stats,) = system.check("around", [lines(64, 16)])
    waiting = [a for a in stats["accounts"] if a["cause"] == "waiting for the write port of t, which stores elsewhere use, too"]
    assert len(waiting) == 2 and sum(a["cycles"] for a in waiting) > 0


def test_rounds(system):
    system.check("rounds", [lines(9, 4, n=3), lines(5, 32, n=2), lines(3, 16, n=0)], SEEDS)


def test_crosswise(system):
    system.check("crosswise", [lines(12, 16)], SEEDS)


def test_beside_atomics(system):
    system.check("beside_atomics", [lines(12, 16)], SEEDS)


def test_every_level_that_shares_a_port_asks_for_it(system):
    """And none of those whose stores other groups' barriers keep apart."""
    users = {kernel.function.name: [len(booking.users) for booking in kernel.plan.bookings] for kernel in system.result.kernels}
    assert users == {"around": [2], "rounds": [3], "crosswise": [5], "beside_atomics": [2]}

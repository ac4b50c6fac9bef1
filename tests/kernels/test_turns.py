"""Loads made once for a loop, and stores serialized at memory or at a port: the bytes under random stalls, and the
rates."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "turns.cl").read_text()


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    return Launch({name: rng.integers(0, 64, 96).astype(np.int32) for name in ("a", "b", "out", "more")}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (0, 1, 5, 40)], (0, 1, 2))


def test_a_bound_in_memory_costs_no_rate(system):
    data = np.full(600, 512, np.int32)
    (stats,) = system.check("one_bound", [Launch({name: data for name in ("a", "b", "out", "more")}, {"n": 0})])
    (loop,) = stats["loops"]
    assert loop["static_ii"] == 1
    assert loop["measured_ii"] < 1.3


def test_an_iteration_takes_as_many_cycles_as_it_has_stores_that_may_meet(system):
    """Fences would take over 100 cycles for each of them."""
    data = np.arange(600, dtype=np.int32)
    (stats,) = system.check(
        "scatter_in_turns", [Launch({name: data for name in ("a", "b", "out", "more")}, {"n": 512})]
    )
    assert all(loop["static_ii"] == 1 for loop in stats["loops"])
    assert 4 * 256 < stats["cycles"] < 6 * 256  # the way through the pipeline among them

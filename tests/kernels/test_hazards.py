"""Hazard units, which compare accesses with stores in flight: correct for any addresses, and no slower than these
require."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "hazards.cl").read_text()
#: Cycles between iterations at distinct places: one, and what filling the pipeline and memory's refresh take of a short
#: run.
MOST_II = {
    "indirect": 1.5,
    "sometimes": 1.5,
    "two_loads": 1.5,
    "scattered_twice": 2.5,
    "either_end": 1.5,
    "relaxed_edges": 1.5,
}


def launch(n: int, kind: str) -> Launch:
    rng = np.random.default_rng(n)
    at = {"distinct": rng.permutation(64), "random": rng.integers(0, 64, 64), "same": np.full(64, 7)}[kind]
    return Launch({"a": rng.integers(0, 62, 160).astype(np.int32), "at": at.astype(np.int32)}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    launches = [
        launch(n, kind) for n, kind in ((0, "same"), (1, "random"), (17, "same"), (64, "random"), (64, "distinct"))
    ]
    system.check(kernel, launches, (0, 1))


@pytest.mark.parametrize("kernel", MOST_II)
def test_distinct_places_do_not_wait_for_each_other(system, kernel):
    (stats,) = system.check(kernel, [launch(64, "distinct")])
    assert max(stats["loops"], key=lambda loop: loop["iterations"])["measured_ii"] <= MOST_II[kernel]

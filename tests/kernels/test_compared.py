"""Addresses that are compared at run time in global memory on the chip: correct for any addresses, whatever stalls, and
no slower than these require."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "compared.cl").read_text()
#: kernels whose loop starts an iteration every cycle where no two of them meet
STEADY = ("sums", "two_of_each", "known_condition", "distance_of_the_launch")


def launch(n: int, kind: str) -> Launch:
    rng = np.random.default_rng(n)
    at = {"distinct": rng.permutation(64), "random": rng.integers(0, 64, 64), "same": np.full(64, 7)}[kind]
    a, b = rng.integers(0, 62, 160).astype(np.float32), rng.integers(0, 9, 160).astype(np.float32)
    return Launch({"a": a, "b": b, "at": at.astype(np.int32)}, {"n": n})


@pytest.fixture(scope="module", params=[0, 1000], ids=["stall_free", "stall_enabled"])
def system(request):
    system = KernelSystem(SOURCE, "ecp5_onchip", elastic_depth=request.param, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    launches = [
        launch(n, kind) for n, kind in ((0, "same"), (1, "random"), (17, "same"), (64, "random"), (64, "distinct"))
    ]
    system.check(kernel, launches, (1, 2, 3, 0))


@pytest.mark.parametrize("kernel", STEADY)
def test_distinct_places_do_not_wait_for_each_other(system, kernel):
    (stats,) = system.check(kernel, [launch(64, "distinct")])
    loop = max(stats["loops"], key=lambda loop: loop["iterations"])
    assert loop["static_ii"] == 1
    assert loop["measured_ii"] <= 1.5

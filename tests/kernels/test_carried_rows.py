"""Rows that successive invocations of a loop update: an invocation follows the one before as soon as its elements are
there, and random stalls change nothing."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "carried_rows.cl").read_text()
#: cycles of a launch: 504, 1,500, 480, 480 and 504 iterations. On the board whose memory never stalls they were 796,
#: 4,085, 785, 783 and 4,553 while invocations waited for each other's end, and the loops over a window were no part of
#: its loop. External memory takes some 300 cycles until the first results are stored; there they were 2,828, 19,568
#: and 944
MOST_CYCLES = {
    "ecp5_onchip": {"outer_products": 540, "triangle": 1700, "any_length": 515, "in_an_array": 570, "smoothed": 530},
    "de5net": {"outer_products": 900, "triangle": 2250, "in_an_array": 850},
}


def launch(kernel: str, n: int, m: int) -> Launch:
    rng = np.random.default_rng(n + m)
    floats = {name: rng.standard_normal(600).astype(np.float32) for name in "abc"}
    arrays = {
        "ahead": {"length": rng.integers(0, n + 1, 64).astype(np.int32), "c": floats["c"]},
        "shortest": {"d": rng.integers(0, 1000, 144).astype(np.int32)},
        "smoothed": {name: rng.integers(-9, 99, 1000).astype(np.int32) for name in ("in", "out", "f")},
        "some": {"on": rng.integers(0, 4, 600).astype(np.int32), "c": floats["c"]},
    }
    return Launch(arrays.get(kernel, floats), {"n": n, "m": m, "scale": 0.5}, misalign=n % 5)


@pytest.fixture(scope="module", params=MOST_CYCLES)
def system(request):
    system = KernelSystem(SOURCE, request.param, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(
        kernel, [launch(kernel, n, m) for n, m in ((0, 3), (1, 5), (2, 9), (5, 6), (13, 9), (40, 4))], (0, 1, 2)
    )


def test_an_invocation_follows_the_one_before(system):
    most = MOST_CYCLES[system.board.name]
    took = {kernel: system.check(kernel, [launch(kernel, 24, 20)])[0]["cycles"] for kernel in most}
    assert not {kernel: cycles for kernel, cycles in took.items() if cycles > most[kernel]}

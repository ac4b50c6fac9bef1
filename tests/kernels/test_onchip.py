"""Arrays in block RAM, with stall-free and stall-enabled levels, against the interpreter; and their rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "onchip.cl").read_text()
SIZES = (0, 1, 5, 64)
#: initiation interval of the loop with the most iterations that is not a mere copy
RATES = {"histogram": 1, "prefix": 1, "apart": 1, "two_stores": 1, "bytes_and_words": 1, "table": 1}


def launch(kernel: str, n: int) -> Launch:
    a = np.random.default_rng(n).integers(0, 64, 64).astype(np.int32)
    items = n if kernel == "of_each_item" else 1
    return Launch({"a": a, "out": np.full(64, -77, np.int32)}, {"n": n}, (items,))


system = with_both_levels(SOURCE)


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    sizes = [n for n in SIZES if n or kernel != "of_each_item"]
    system.check(kernel, [launch(kernel, n) for n in sizes], (0, 1))


@pytest.mark.parametrize("kernel", RATES)
def test_rates(system, kernel):
    (stats,) = system.check(kernel, [launch(kernel, 64)])
    loop = next(loop for loop in stats["loops"] if loop["iterations"] == 64 and loop["static_ii"] >= RATES[kernel])
    assert loop["static_ii"] == RATES[kernel]
    assert loop["measured_ii"] <= 1.02 * RATES[kernel]

"""Recurrences of every kind, and their rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "recurrences.cl").read_text()
SIZES = (0, 1, 2, 9, 40)
#: Kernels whose accesses memory keeps up with, or that have none in their loops.
FAST = (
    "in_level_0",
    "in_later_level",
    "swap",
    "swap_in_later_level",
    "fibonacci",
    "delay_line",
    "dynamic_array",
    "read_late_written_early",
    "written_late_read_late",
    "interleaved_sums",
    "digest",
    "extremes",
    "three_wheels",
    "short_counter",
    "faster",
)


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    if f"void {kernel}(__global const float" in SOURCE:
        buffers = {"f": rng.normal(0, 9, 64).astype(np.float32), "sums": np.full(64, 0.25, np.float32)}
    else:
        buffers = {"a": rng.integers(0, 64, 64).astype(np.int32), "out": np.full(64, -77, np.int32)}
    return Launch(buffers, {"n": n}, misalign=n % 3)


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in SIZES], (0, 1, 2))


@pytest.mark.parametrize("kernel", FAST)
def test_measured_ii_is_the_scheduled_one(system, kernel):
    """Of the innermost loop: one around it takes as long as what is inside. The last invocations of interleaved ones
    leave slots empty, which is no fault of the machine."""
    (stats,) = system.check(kernel, [launch(kernel, 40)])
    loop = max(stats["loops"], key=lambda loop: loop["iterations"])
    tail = (loop["interleaving"] - 1) / loop["invocations"]
    assert 0.98 * loop["scheduled_ii"] <= loop["measured_ii"] <= (1.02 + tail) * loop["scheduled_ii"], loop

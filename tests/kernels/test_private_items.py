"""Arrays that are new for each work-item, or in each iteration: several are in flight at once, each with a copy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from .system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "private_items.cl").read_text()


def launch(items, n, kernel=""):
    data = np.random.default_rng(items).integers(0, 1 << 12, 512).astype(np.int32)
    out = np.zeros(64 * 64 if kernel == "inserted" else 64, np.int32)
    return Launch({"in": data, "out": out}, {"n": n}, (items,), (8,) if items % 8 == 0 else (1,))


TASKS = ("rows", "bordered", "kept_over", "tiled")


@pytest.mark.parametrize("kernel", [name for name in kernel_names(SOURCE) if name not in TASKS])
def test_bytes(system, kernel):
    system.check(kernel, [launch(items, n, kernel) for items, n in ((8, 5), (64, 17), (24, 64))], (0, 1, 2))


@pytest.mark.parametrize("kernel", TASKS)
def test_bytes_of_rows(system, kernel):
    system.check(kernel, [replace(launch(1, n), local_size=None) for n in (5, 17, 64)], (0, 1, 2))


@pytest.mark.parametrize("kernel, most", [("rows", 1.15), ("bordered", 1.15), ("tiled", 2.5)])
def test_a_row_is_filled_while_the_one_before_is_read(system, kernel, most):
    """Cycles for each iteration of the loop that takes the longest; a tile is multiplied when the one before is in
    memory."""
    stats = system.check(kernel, [replace(launch(1, 64), local_size=None)])[0]
    longest = max(loop["iterations"] for loop in stats["loops"])
    assert stats["cycles"] <= most * longest + 300, stats["cycles"]


@pytest.mark.parametrize(
    "kernel, most", [("climbed", 1.2), ("counted", 1.2), ("inserted", 1.4), ("of_two", 1.6), ("stacked", 2.2)]
)
def test_work_items_do_not_wait_for_each_other(system, kernel, most):
    """Cycles for each iteration of the loop that takes the longest."""
    stats = system.check(kernel, [launch(64, 64, kernel)])[0]
    longest = max(loop["iterations"] for loop in stats["loops"])
    assert stats["cycles"] <= most * longest, stats["cycles"]

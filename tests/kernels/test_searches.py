"""Loops with late exits, known some cycles after an iteration has started, with and without random stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels
from tests.plans import planned

SOURCE = (Path(__file__).parent / "searches.cl").read_text()
#: kernel -> II of its loops that issue ahead, in order
AHEAD = {
    "find": [1],
    "shift_up": [1],
    "insertion_sort": [1],
    "probe": [1],
    "count_words": [1],
    "match": [1],
    "float_steps": [7],
    "compare_global": [1],
    "search_twice": [1, 1],
}


def launch(n: int, seed: int) -> Launch:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 20, 128).astype(np.int32)
    a[rng.integers(0, 128)] = n  # every search finds something
    return Launch({"a": a, "out": np.full(160, -77, np.int32)}, {"n": n}, misalign=n % 3)


@pytest.mark.parametrize("kernel", AHEAD)
def test_the_next_iteration_does_not_wait_for_the_decision(kernel):
    assert [plan.ii for plan in planned(SOURCE)[kernel].plan.loops.values() if plan.speculative] == AHEAD[kernel]


system = with_both_levels(SOURCE)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n, n) for n in (0, 3, 7, 19)], (0, 1, 2, 3))

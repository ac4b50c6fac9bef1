"""Loops with late exits inside other loops: several invocations run at once, each ahead of its exit condition."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels
from tests.plans import planned

SOURCE = (Path(__file__).parent / "nested_searches.cl").read_text()
#: kernel -> (II, whether invocations are interleaved) of its innermost loop
SEARCHES = {
    "row_lengths": (1, True),
    "rows_until": (1, True),
    "copied_strings": (1, True),
    "one_at_a_time": (1, False),
    "two_deep": (1, True),
    "maybe_in_place": (1, True),
}


def launch(n: int, seed: int) -> Launch:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 20, 256).astype(np.int32)
    return Launch({"a": a, "out": np.full(160, -77, np.int32)}, {"n": n}, misalign=n % 3)


@pytest.mark.parametrize("kernel", SEARCHES)
def test_searches_issue_ahead_in_nests(kernel):
    ii, interleaved = SEARCHES[kernel]
    search = next(iter(planned(SOURCE)[kernel].plan.loops.values()))
    assert search.speculative and search.ii == ii and (search.slots > 1) == interleaved


system = with_both_levels(SOURCE)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n, n) for n in (0, 3, 7, 19)], (0, 1, 2, 3))

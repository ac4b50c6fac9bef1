"""The benchmark's arithmetic, and that it knows a goal for every kernel that the examples launch."""

import ast
import sys

import pytest
from hosts import EXAMPLES

sys.path.insert(0, str(EXAMPLES))
import bench
from common import Launch

LOOP = {"line": 4, "label": "i", "static_ii": 9, "interleaving": 9, "scheduled_ii": 1.0, "measured_ii": None,
        "iterations": 100, "invocations": 1}


@pytest.mark.parametrize(("invocations", "least"), [(1, 9.0), (3, 3.0), (9, 1.0), (50, 1.0)])
def test_least_ii_counts_on_every_invocation_that_can_take_turns(invocations, least):
    outer = LOOP | {"static_ii": 1, "iterations": invocations}
    assert bench.least_ii([outer, LOOP | {"invocations": invocations}]) == least


def test_a_kernel_without_loops_needs_one_cycle_a_pass():
    assert bench.least_ii([]) == 1.0


def test_a_goal_is_missed_by_a_cycle_too_many():
    launch = Launch("fir", None, trips=1000, bytes=0)
    assert bench.Run(launch, {"cycles": 1050}, bound=1000.0, seconds=1.0).met
    assert not bench.Run(launch, {"cycles": 1051}, bound=1000.0, seconds=1.0).met


#: Kernels at work inside others' launches; the last of their chain is what is measured.
WITHIN = {"fetch", "smoother", "send_rows", "send_columns", "multiplier", "fetch_samples", "transform", "fetch_keys", "network",
          "deal", "counter", "fetch_pixels", "convolve", "parser"}


def test_every_kernel_has_a_goal():
    """What the host programs launch, read from their text: the constants given to Launch, or in the table of launches."""
    words = {
        node.value
        for path in EXAMPLES.glob("*/host.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(bench.GOALS) <= words, "a goal for a kernel that no example launches"
    kernels = {
        line.split("(")[0].split()[-1]
        for path in EXAMPLES.glob("*/kernel.cl") for line in path.read_text().splitlines() if line.startswith("__kernel")
    }
    assert kernels <= set(bench.GOALS) | WITHIN

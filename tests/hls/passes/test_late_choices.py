"""Selects are reordered only where the result is available sooner, and never change it."""

from dataclasses import replace

import pytest
from merging import outcome, passes_through, without_pragmas

from hls.ir.verifier import verify
from hls.passes.recurrence.restructure_muxes import RestructureMuxes
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.plans import planned
from tests.programs.generate import launches, random_kernel

TIMING = OperatorTiming.of(load_board("de5net"))
HASTY = OperatorTiming(replace(TIMING.model, period_ns=0.5), TIMING.address_bits)


@pytest.mark.parametrize("seed", [2, 13, 19, 24, 27, 58, 71, 74])
def test_random_kernels(seed):
    """With a clock that nothing is fast enough for every choice is tried."""
    kernel = random_kernel(seed)
    text = without_pragmas(kernel.text).replace("for (", "\n#pragma loop_coalesce\nfor (")
    module, _, _, last = passes_through(text, "coalesce-loops")
    changed = RestructureMuxes(HASTY).run(last)
    verify(changed)
    for launch in launches(kernel, seed):
        assert outcome(changed, launch) == outcome(module, launch)


@pytest.mark.parametrize(
    "nest",
    [
        (
            "for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 6; k++) a[(i * 5 + j) * 6 + k] "
            "= i + j * k;"
        ),
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = i + j;",
    ],
)
def test_nests_step_in_a_cycle(nest):
    text = f"__kernel void k(__global int *restrict a, int n, int m) {{\n#pragma loop_coalesce\n{nest} }}"
    (plan,) = planned(text)["k"].plan.loops.values()
    assert plan.ii == 1

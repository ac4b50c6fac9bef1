"""Estimates of operations against the built hardware: the difference between two ways to compute a sum."""

from functools import partial

import pytest

import hls.passes.pipeline
from hls.driver import compile
from hls.model.area import estimate
from hls.model.operations import logic_cells
from hls.options import Options
from hls.passes.float.expand_float_reductions import ExpandFloatReductions
from hls.planning.schedule import OperatorTiming

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void f(__global const {t} *restrict a, __global {t} *restrict out, int n) {{
  {t} s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  out[0] = s;
}}
"""
BOARD = "ecp5_onchip"


def cells(kind: str, monkeypatch, **forms) -> tuple[int, int]:
    """Logic cells as they are foreseen, and as built."""
    monkeypatch.setattr(hls.passes.pipeline, "ExpandFloatReductions", partial(ExpandFloatReductions, **forms))
    result = compile(SOURCE.format(t=kind), BOARD, Options(fp_relaxed=True))
    timing = OperatorTiming.of(result.board)
    return (
        logic_cells(result.kernels[0].function, timing, result.board.device),
        estimate(result.verilog, result.top, result.board.device).parts["f"].logic,
    )


@pytest.mark.parametrize("kind", ["half", "float"])
def test_the_smaller_of_two_sums_is_the_one_foreseen(kind, monkeypatch):
    parts = cells(kind, monkeypatch, digits=())
    exact = cells(kind, monkeypatch, parts=False)
    foreseen, built = (ours - theirs for ours, theirs in zip(exact, parts, strict=True))
    assert (foreseen < 0) == (built < 0)
    assert abs(foreseen - built) < 0.05 * parts[1], (parts, exact)

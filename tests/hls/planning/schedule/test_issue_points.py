"""The stages at which a token lets the next one issue."""

from dataclasses import replace

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board

#: the loop around is left early, and its values come from a loop and a load of the same row
SOURCE = """__kernel void k(__global const int *restrict a, __global int *restrict out, __global int *restrict more, int n) {
  int g = get_global_id(0), v = n, w = n, j = 0;
  for (int i = 0; i < 2; i++) {
    if (a[g * 8 + (w & 7)] & 1) {
      j = 0;
      while (j++ < (i & 1)) v -= w * j;
    } else {
      w = i * j - a[g * 8];
      more[g * 8 + (v & 7)] = w + j;
    }
    if (j != a[0]) break;
    out[g * 8 + 3] = n;
  }
}"""


def test_a_level_waits_for_no_point_that_lies_before_the_decision():
    """Whether there is a next iteration is asked where it is let in: it has to be known there."""
    board = load_board("a10pac")
    (kernel,), _ = plan_module(
        parse_source(SOURCE).module, replace(board, memory=replace(board.memory, read_latency=20)), Options()
    )
    for plan in kernel.plan.loops.values():
        asked = [point for level in plan.levels for point in (level.ready, level.ready_overlap) if point is not None]
        assert plan.speculative or all(point >= plan.decide for point in asked)

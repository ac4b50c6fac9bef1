"""Triangular nests whose inner loop is a recurrence change places where that takes fewer cycles, and are reported."""

import pytest

from hls.driver import plan_text
from hls.ir import Attr
from hls.options import Options
from hls.planning import iterate
from hls.report.collect import collect_kernel
from hls.report.loop_text import loop_tree
from hls.target.board import load_board
from tests.plans import planned

BOARD = "ecp5_onchip"
HEAD = (
    "__kernel void k(__global const float *restrict l, __global float *restrict x, __global float *restrict y, int n)\n"
)
SOLVER = """{
    for (int i = 0; i < n; i++) {
        x[i] = y[i];
        for (int j = 0; j < i; j++)
            x[i] -= l[i * n + j] * x[j];
        x[i] /= l[i * n + i];
    }
}"""
_gains = iterate.interchange_gains


def intervals(body: str, board: str = BOARD) -> tuple[bool, list[int]]:
    """Whether a nest was interchanged, and the II of each loop."""
    loops = planned(HEAD + body, board)["k"].plan.loops
    return any(loop.attrs.get(Attr.INTERCHANGED) for loop in loops), [at.ii for at in loops.values()]


def test_the_terms_of_a_column_do_not_wait_for_each_other():
    done, (ahead, inner, outer) = intervals(SOLVER)
    assert done and (ahead, inner) == (1, 1) and outer > 20


@pytest.mark.parametrize(
    "body",
    [
        SOLVER.replace("        for (int j", "#pragma ii 20\n        for (int j"),  # the source has a wish
        SOLVER.replace("* x[j]", "* y[j]"),  # rows are independent, and interleaved already
        SOLVER.replace("x[j];", "x[j + 1];"),  # an element that is not complete
        SOLVER.replace("j < i; j++", "j < 2; j++"),  # not triangular
    ],
)
def test_other_nests_stay(body):
    assert not intervals(body)[0]


def test_external_memory_is_read_by_rows():
    assert not intervals(SOLVER, "de5net")[0]


def test_nests_of_a_kernel_are_tried_together(monkeypatch):
    attempts = []
    monkeypatch.setattr(iterate, "interchange_gains", lambda *plans: attempts.append(plans) or _gains(*plans))
    text = HEAD + "{\n" + SOLVER.strip()[1:-1] * 3 + "}\n"
    loops = planned(text, BOARD)["k"].plan.loops
    assert sum(bool(loop.attrs.get(Attr.INTERCHANGED)) for loop in loops) == 3 and len(attempts) == 1


def test_only_where_the_schedule_is_faster(monkeypatch):
    monkeypatch.setattr(iterate, "interchange_gains", lambda *_: False)
    assert not intervals(SOLVER.replace("n; i++", "n ; i++"))[0]


def test_the_report_says_so():
    """The two loops keep their places; the one that was split off has none of its own."""
    plan = plan_text(HEAD + SOLVER, load_board(BOARD), Options(), "k.cl")
    kernel = collect_kernel(plan.kernels[0], plan.module, plan.board.read_latency)
    (outer,) = kernel.loops
    (inner,) = outer.children
    assert (outer.label, inner.label, outer.interchanged, inner.interchanged) == ("i", "j", True, False)
    assert (outer.copies, inner.copies) == (1, 1)
    assert "Interchanged with the inner loop j (line 5)" in " ".join(" ".join(loop_tree(kernel.loops, 150)).split())

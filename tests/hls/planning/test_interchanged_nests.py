"""Triangular nests whose inner loop is a recurrence change places where that takes fewer cycles, and are reported."""

import pytest

from hls.driver import plan_text
from hls.ir import Attr
from hls.options import Options
from hls.planning import iterate
from hls.planning.interchanged_nests import accesses_by_columns, paces_by_columns
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


def on_copies(body: str, **options):
    """The kernel on external memory, and the lines of the accesses by columns that are left to it."""
    kernel = plan_text(HEAD + body, load_board("de5net"), Options(**options), "k.cl").kernels[0]
    return kernel, sorted(op.span.line for op in accesses_by_columns(kernel.function, 64))


def test_columns_are_read_from_copies_of_small_buffers():
    """Where the triangle is too large for a copy, its columns are in external memory, a row of it for each element."""
    kernel, lines = on_copies(SOLVER)
    assert kernel.copies.copied == ("x", "l") and lines == [6, 7]
    paces = paces_by_columns(kernel.function, load_board("de5net"))
    assert len(paces) == 2 and all(2 < each < 3 for each in paces.values())
    found = [at.ii for loop, at in kernel.plan.loops.items() if loop.attrs.get(Attr.INTERCHANGED)]
    small, large = found
    assert small < 60 and large > 2 * load_board("de5net").read_latency


def test_rows_stay_where_the_triangle_cannot_be_copied():
    """It may be the buffer that the solution is in, or is read as two types."""
    for text in (SOLVER.replace("= y[i]", "= y[i] + ((__global const int *)l)[i]"), SOLVER):
        kernel, lines = on_copies(text, **({"copy_bytes": 0} if text == SOLVER else {}))
        assert not lines and "l" not in kernel.copies.copied


def test_rows_stay_where_large_buffers_would_lose_more(monkeypatch):
    monkeypatch.setattr(iterate, "suits_large_buffers", lambda *_: False)
    kernel, lines = on_copies(SOLVER)
    assert "x" in kernel.copies.copied and not lines


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

"""Barriers under conditions on ids: proved convergent, known to diverge, or left to the program's assertion."""

import pytest

from hls.analysis.workgroup import barrier_convergence as barriers
from hls.analysis.workgroup import partial_execution as lockstep
from hls.analysis.workgroup.barrier_convergence import check_barriers
from hls.diag import CompileError
from hls.frontend import parse_source
from hls.ir import Attr
from hls.passes.lowering.inline import Inline
from hls.passes.order.check_barrier_convergence import CheckBarrierConvergence
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions

OF_64 = "__attribute__((reqd_work_group_size(64, 1, 1))) "
PLANE = "__attribute__((reqd_work_group_size(8, 4, 1))) "
PROVED, PARTS, PROMISE = "proved", "parts", "promise"


def flat(body: str, attribute: str = "", more: str = ""):
    """The kernel of a body as it is judged; ``l`` and ``i`` are its local and global id."""
    text = f"""{more}{attribute}__kernel void k(__global int *a, __global const int *restrict b, volatile __global int *v, int n) {{
        int l = get_local_id(0), m = get_local_id(1), i = get_global_id(0); {body} }}"""
    (function,) = Inline().run(parse_source(text, "k.cl", {}, []).module).kernels
    for each in kernel_passes(PipelineOptions()):
        if isinstance(each, CheckBarrierConvergence):
            return function
        function = each.run(function)
    raise AssertionError("no such pass")


def judged(*given: str) -> str:
    told = []
    try:
        promised = check_barriers(flat(*given), told.append)
    except CompileError as error:
        assert all(
            "not all work-items of a group may reach this barrier" in d.message and d.notes for d in error.diagnostics
        )
        return PARTS
    assert promised == bool(told)
    return PROMISE if promised else PROVED


@pytest.mark.parametrize(
    ("expected", "body", "attribute"),
    [
        # of a known size, by running a group's ids and constants
        (PROVED, "for (int k = l; k < 1024; k += 64) barrier(1);", OF_64),
        (PARTS, "for (int k = l; k < 1000; k += 64) barrier(1);", OF_64),
        (PROVED, "for (int k = l; k < 1024; k += get_local_size(0)) { if (a[k] > 3) a[k] = 1; barrier(1); }", OF_64),
        (PROVED, "for (int t = 0; t < n; t++) for (int k = l; k < 128; k += 64) barrier(1);", OF_64),
        (PARTS, "for (int t = 0; t < n; t++) for (int k = l + t; k < 128; k += 64) { if (l < 3) barrier(1); }", OF_64),
        (PROMISE, "for (int t = 0; t < n; t++) for (int k = l + t; k < 128; k += 64) barrier(1);", OF_64),
        (PROVED, "if (l < 64) barrier(1);", OF_64),
        (PROVED, "if (l / 8 + 8 * m < 32) barrier(1);", PLANE),
        (PARTS, "if (l + 8 * m < 31) barrier(1);", PLANE),
        (PROVED, "for (int k = l + 8 * m; k < 256; k += 32) barrier(1);", PLANE),
        (PARTS, "for (int k = l; k < 1024; k += 64) barrier(1);", ""),  # another size would part
        (PROMISE, "for (int k = l; k < 1024; k += get_local_size(0)) barrier(1);", ""),
        # ids that cancel
        (PROVED, "if (i - l < n) barrier(1);", ""),
        (PROVED, "if (3 * (l + n) + 5 - (l << 1) - l < n) barrier(1);", ""),
        (PROMISE, "if (i - 2 * l < n) barrier(1);", ""),
        (PROMISE, "if ((int)get_global_id(1) - l < n) barrier(1);", ""),
        (PROMISE, "int k = l; for (int t = 0; t < n; t++) k += b[k]; if (k - l < n) barrier(1);", ""),
        # what somebody else decides
        (PROMISE, "if (i >= n) return; barrier(1);", ""),
        (PROMISE, "for (int k = l; k < n; k += get_local_size(0)) barrier(1);", OF_64),
        (PROMISE, "if (b[i / 64]) barrier(1);", OF_64),
        (PROMISE, "if (i < 128) barrier(1);", OF_64),  # a global offset may cut a group
        (PARTS, "if (i < 100) barrier(1);", OF_64),
        (PARTS, "if (i < 64000 + 1) barrier(1);", OF_64),
        (PARTS, "if (n > 3 && l < 16) barrier(1);", ""),
        (PROMISE, "if (n > 3 || l < 16) barrier(1);", ""),
    ],
)
def test_judgement(expected, body, attribute):
    assert judged(body, attribute) == expected


@pytest.mark.parametrize(
    "body",
    [
        "if (atomic_inc(a) >= 0) barrier(1);",
        "int x = atomic_inc(a); for (int k = 0; k < 3; k++) x = x * 2; if (x < 1000) barrier(1);",
        "a[l] = atomic_add(a + 70, 2); if (a[l] < n) barrier(1);",
        "atomic_xchg(a + l, l); if (a[l] < n) barrier(1);",
        "if (v[l] < n) barrier(1);",
        "int s = 0; for (int k = 0; k < atomic_inc(a); k++) s++; if (s < n) barrier(1);",
    ],
)
def test_what_another_run_may_find_different_is_no_promise(body):
    """No run beforehand could tell whether it is kept."""
    assert judged(body) == PARTS


def test_nobody_could_hold_a_kernel_on_channels_against_a_promise():
    assert judged("if (i < n) barrier(1); write_channel_intel(c, l);", "", "channel int c; ") == PARTS
    assert judged("if (n < 3) barrier(1); write_channel_intel(c, l);", "", "channel int c; ") == PROVED


def test_a_proof_that_takes_too_long_is_none(monkeypatch):
    body = "for (int k = l; k < 1024; k += 64) barrier(1);"
    monkeypatch.setattr(lockstep, "MOST_STEPS", 500)
    assert judged(body, OF_64) == PROMISE


def test_barriers_of_one_condition_are_told_of_once():
    told = []
    check_barriers(
        flat("if (i >= n) return;\n barrier(1);\n a[i] = 1;\n barrier(1);\n if (b[i])\n barrier(1);"), told.append
    )
    assert [(d.span.line, d.notes[0].span.line) for d in told] == [(3, 2)]
    assert told[0].message.startswith("this barrier, and 2 more, rest on an assumption")
    told.clear()
    check_barriers(flat("if (i < n)\n barrier(1);\n if (b[i])\n barrier(1);"), told.append)
    assert [(d.span.line, d.notes[0].span.line) for d in told] == [(3, 2), (5, 4)]


def test_the_kernel_says_that_it_promises():
    assert CheckBarrierConvergence().run(flat("if (i < n) barrier(1);")).attrs[Attr.PROMISED]
    assert Attr.PROMISED not in CheckBarrierConvergence().run(flat("if (i - l < n) barrier(1);")).attrs


@pytest.mark.parametrize(
    ("attribute", "dims", "size"),
    [
        ("", {0}, (256, 1, 1)),
        ("", {1}, (1, 256, 1)),
        ("", {0, 1}, (16, 16, 1)),
        ("", {0, 1, 2}, (6, 6, 7)),
        (PLANE, {0}, (8, 4, 1)),
        ("__attribute__((max_work_group_size(8))) ", {0, 2}, (3, 1, 2)),
        ("", set(), (256, 1, 1)),
    ],
)
def test_the_group_that_is_tried(attribute, dims, size):
    assert barriers._some_size(flat("barrier(1);", attribute), dims) == size

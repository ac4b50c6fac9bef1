"""The report on loops: what was done to them, why, their names, and their initiation interval."""

import pytest
from planned import FLOATS, every, kernel, only

import hls
from hls.report import Report, loop_text, text
from hls.report.collect import collect


def said(report) -> str:
    """The tree of loops, in one line."""
    return " ".join(" ".join(loop_text.loop_tree(report.loops, 240.0)).replace("|", " ").split())


@pytest.mark.parametrize(
    ("body", "gone", "words"),
    [
        (
            "int s = 0;\nfor (int i = 0; i < n; i++) s += a[i];\no[0] = n;",
            "removed",
            "removed: its result is never used",
        ),
        (
            "int t[64];\nfor (int i = 0; i < 64; i++) t[i] = a[i];\no[0] = 4;",
            "removed",
            "removed: its result is never used",
        ),
        ("do { o[0] = a[0]; } while (0);", "runs once", "runs once"),
        ("if (0)\n for (int i = 0; i < n; i++) o[i] = a[i];\no[0] = 1;", "never runs", "never runs"),
        ("for (int i = 0; i < 0; i++) o[i] = a[i];", "never runs", "never runs"),
        (
            (
                "int w[8];\nfor (int i = 0; i < 8; i++) w[i] = 0;\nfor (int i = 0; i < n; i++) {\n"
                " for (int j = 7; j > 0; j--) w[j] = w[j - 1];\n w[0] = a[i];\n o[i] = w[7];\n}"
            ),
            "replaced",
            "replaced by hardware without a loop",
        ),
    ],
)
def test_what_became_of_a_loop(body, gone, words):
    report = kernel(body)
    assert every(report.loops)[0].gone == gone and words in said(report)


def test_a_loop_inside_that_is_gone_says_why():
    report = kernel(
        "for (int i = 0; i < n; i++) {\n int t = 0;\n for (int j = 0; j < n; j++) t += a[j];\n o[i] = 3;\n}"
    )
    outer, inner = every(report.loops)
    assert (outer.ii, outer.gone, inner.ii, inner.gone) == (1, "", 0, "removed")


def test_a_loop_of_a_mathematical_function_is_there():
    report = kernel("for (int i = 0; i < n; i++)\n o[i] = fmod(a[i], 3.0f);", FLOATS)
    outer, inner = every(report.loops)
    assert inner.ii == 1 and inner.label == "k of fmod" and inner.span.line == 4 and inner in outer.children


def test_a_pragma_is_the_reason():
    body = "for (int r = 0; r < n; r++) {{\n float s = 0;\n #pragma {}\n for (int i = 0; i < n; i++) s += a[r * n + i];\n o[r] = s;\n}}"
    for pragma, words in (
        ("max_interleaving 1", "#pragma max_interleaving 1 allows one invocation at a time"),
        ("max_interleaving 3", "#pragma max_interleaving 3 allows 3 invocations at a time"),
        ("disable_loop_pipelining", "#pragma disable_loop_pipelining allows one invocation at a time"),
    ):
        (inner,) = only(kernel(body.format(pragma), FLOATS).loops).children
        assert inner.one_at_a_time == words


def test_iterations_that_the_source_lets_in_one_at_a_time_take_the_time_of_their_loops():
    body = (
        "#pragma max_concurrency {}\nfor (int r = 0; r < n; r++) {{\n int t[32], s = 0;\n"
        " for (int i = 0; i < 32; i++) t[i] = a[r * 32 + i];\n for (int i = 0; i < 32; i++) s += t[31 - i] * t[i];\n o[r] = s;\n}}"
    )
    report = kernel(body.format(1))
    (loop,) = report.loops
    # measured: 126 cycles, as most loads find their word already there
    assert 126 <= loop.paced <= 220 and loop.at_most and loop.bottleneck.kind == "concurrency"
    assert f"starts after at most {loop.paced} cycles, earlier" in said(report)
    assert [(one.ii, one.interval) for one in loop.would_be] == [(1, 32)]
    # of the loop as it is, nothing is said to begin every 32 cycles
    assert "II 1, 32 cycles an iteration" in said(report) and "every 32 " not in said(report)
    two = only(kernel(body.format(2)).loops)
    assert two.paced == -(-loop.paced // 2)
    assert only(kernel(body.format(0)).loops).paced == 32


def test_a_recurrence_through_memory_is_an_upper_bound():
    report = kernel("int p = 0;\nfor (int i = 0; i < 50; i++)\n p = a[p];\no[0] = p;")
    (loop,) = report.loops
    assert loop.at_most and f"II up to {loop.ii}, an iteration starts after at most {loop.ii} cycles, earlier" in said(
        report
    )
    array = kernel(
        "int t[256], p = 0;\nfor (int i = 0; i < 256; i++) t[i] = a[i];\nfor (int i = 0; i < 50; i++)\n p = t[p & 255];\no[0] = p;"
    )
    assert not any(loop.at_most for loop in array.loops)


def test_conflicts_of_addresses_are_said():
    head = "__kernel void k(__global const int *restrict a, __global int *restrict o, __global int *q, __global int *r, int n)\n"
    report = kernel("for (int i = 0; i < n; i++)\n o[a[i]]++;", head)
    (loop,) = report.loops
    (one,) = loop.conflicts
    assert (loop.ii, one.memory, one.span.line, one.other.line) == (1, "o", 4, 4)
    assert one.forwarded and 4 < one.cycles < 30 and "takes the value from the store" in said(report)
    assert f"II 1, an iteration starts every cycle; up to {one.cycles} cycles after an address conflict" in said(report)
    assert only(kernel("for (int i = 0; i < n; i++)\n q[i] = r[i] + 1;", head).loops).conflicts == ()
    # nothing provides the value of a store that is not made: the load waits for memory
    waits = kernel("for (int i = 0; i < n; i++)\n if (o[a[i] ^ 1] > 3) o[a[i]] = i;", head)
    (one,) = only(waits.loops).conflicts
    assert not one.forwarded and 100 < one.cycles < 400


def test_names_of_loops():
    body = (
        "int p = 0, s = 0;\nwhile (a[p] != 0) p++;\ndo { s += p >> s; p--; } while (p > 0);\n"
        "rows: for (int i = 0; i < n; i++) o[i] = a[i];\nfor (; s < n; s++) o[s] = 1;\nfor (;;) { if (a[p++]) break; }\n"
        "for (int j = 0; j < n; j++) o[j] = a[j];\nfor (int j = 0; j < n; j++) o[j + n] = a[j + 1];\no[1] = p;"
    )
    labels = [loop.label for loop in kernel(body).loops]
    assert labels == ["while", "do", "rows", "s", "for", "j@9", "j@10"]


def test_a_loop_in_which_an_autorun_kernel_begins_again_is_none_of_the_source():
    attribute = "channel int c, d;\n__attribute__((autorun)) __attribute__((max_global_work_dim(0))) __kernel void "
    once = only(kernel("write_channel_intel(d, read_channel_intel(c) + 1);", attribute + "k()\n").loops)
    own = only(kernel("while (1) write_channel_intel(d, read_channel_intel(c) + 1);", attribute + "k()\n").loops)
    assert (once.label, own.label) == ("restart", "while") and once.ii and own.ii


def test_a_place_in_another_file_has_its_name(tmp_path):
    (tmp_path / "sum.h").write_text(
        "\n\nfloat total(__global const float *a, int n) {\n float s = 0;\n for (int i = 0; i < n; i++) s += a[i];\n return s; }\n"
    )
    source = '#include "sum.h"\n__kernel void k(__global const float *restrict a, __global float *restrict o, int n)\n{ o[0] = total(a, n); }\n'
    result = hls.compile(source, options=hls.Options(include_dirs=(tmp_path,)), file="main.cl")
    shown = text.render(collect(result, "main.cl"))
    assert (
        "Loop i (sum.h:5)" in shown
        and "loop-carried dependence on s (sum.h:5)" in shown
        and "Kernel k (line 2)" in shown
    )


def test_a_dependence_between_inner_loops_names_both_accesses():
    """No token comes from the loads of the second loop: only its end is waited for."""
    report = kernel(
        "for (int r = 0; r < n; r++) {\n int row[128], sum = 0;\n for (int c = 0; c < 128; c++)\n  row[c] = a[r * 128 + c];\n"
        " for (int c = 0; c < 128; c++)\n  sum += row[127 - c] * row[c];\n o[r] = sum;\n}"
    )
    (outer,) = report.loops
    causes = [one for one in (outer.bottleneck, *outer.additional, *(serial.cause for serial in outer.serial)) if one]
    (cause,) = [one for one in causes if one.kind == "memory"]
    assert (cause.giver, cause.other.line) == ("load of row", 8)
    assert (cause.subject, cause.span.line) == ("store to row", 6)


def test_a_stride_of_run_time_is_said():
    report = kernel("for (int i = 0; i < 64; i++) {\n o[i * n] = a[i];\n}")
    made = text.render(Report("k.cl", "de5net", 240.0, (report,)))
    assert "stride, known only at run time" in " ".join(made.split())


def test_a_load_is_not_said_to_wait_for_a_load():
    """The rows of an elimination in place: loads whose token the iteration before joins with that of its stores."""
    report = kernel(
        "for (int k = 0; k < n; k++)\n for (int i = k + 1; i < n; i++) {\n  o[i * n + k] /= o[k * n + k];\n"
        "  for (int j = k + 1; j < n; j++) o[i * n + j] -= o[i * n + k] * o[k * n + j];\n }",
        "__kernel void k(__global double *o, int n)\n",
    )
    causes = [region.cause for loop in every(report.loops) for region in loop.serial]
    assert {(one.kind, one.giver, one.subject) for one in causes} == {("memory", "store to o", "load of o")}

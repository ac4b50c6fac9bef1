"""Advice: every suggested change is made in a second kernel, which must be as fast as predicted."""

import re

import pytest
from planned import FLOATS, HEAD, every, kernel

from hls.frontend import parse_source
from hls.ir import walk

MULTIPLE = (
    "__local int h[4096]{};\n{}\nfor (int i = 0; i < n; i++) {{\n int p = a[i];\n h[p & 4095] = i;\n "
    "h[(p >> 8) & 4095] = i + 1;\n h[(p >> 16) & 4095] = i + 2;\n}}\nfor (int j = 0; j < 4096; j++) o[j] = h[j];"
)
PORTS = " __attribute__((doublepump, numwriteports(2)))"
CLEARED = "__local float h[1024];\nfor (int j = 0; j < 1024; j++) h[j] = 0;\n"
BINS = CLEARED + "{}for (int i = 0; i < n; i++) h[(int)a[i] & 1023] {};\nfor (int j = 0; j < 1024; j++) o[j] = h[j];"
SUM = "float s = 0.0f;\nfor (int i = 0; i < n; i++)\n s {} a[i];\no[0] = s;"
SHIFTED = (
    "float c[{0}];\nfor (int t = 0; t < {0}; t++) c[t] = {1};\nfor (int i = 0; i < n; i++) {{\n"
    " float x = c[{0} - 1] {2} a[i];\n #pragma unroll\n for (int t = {0} - 1; t > 0; t--) c[t] = c[t - 1];\n c[0] = x;\n}}\n"
    "float s = {1};\n#pragma unroll\nfor (int t = 0; t < {0}; t++) s = s {2} c[t];\no[0] = s;"
)
LATE = "int i = 0;\n{}\nwhile (a[i] < n) i++;\no[0] = i;"
TABLE = "int t[1024];\nfor (int j = 0; j < 1024; j++) t[j] = a[j];\n"
MERGE = "int i = 0, j = 0;\nwhile (i < n && j < n) {{\n if ({}) i++;\n else j++;\n}}\no[0] = i + j;"
ROWS = "for (int r = 0; r < n; r++) {{\n float s = 0;\n {}\n for (int i = 0; i < n; i++) s += a[r * n + i];\n o[r] = s;\n}}"
TWO = (
    "float s = 0;\nfor (int r = 0; r < 128; r++) {{\n {}\n for (int i = 0; i < 64; i++)\n  {} += a[r * 64 + i];\n"
    " s += {}a[r];\n}}\no[0] = s;"
)
NEST = (
    CLEARED + "for (int r = 0; r < n; r++)\n for (int i = 0; i < 4; i++)\n  for (int t = 0; t < 4; t++)\n"
    "   h[i * 4 + t] += a[r * 4 + t] * a[i];\nfor (int j = 0; j < 1024; j++) o[j] = h[j];"
)
TURNS = (
    "int s = 0;\nfor (int i = 0; i < n; i++) {{\n int t = s;\n {}\n for (int j = 0; j < 3; j++) {{\n"
    "#pragma unroll 1\n  for (int k = j; k < 3; k++) t += s ^ k;\n  s += t;\n }}\n o[i] = s - t;\n}}"
)
STRIDED = "{}for (int r = 0; r < n; r++) {{\n int s = 0;\n for (int i = 0; i < 80; i++) s += o[i * n];\n o[(s & 7) * n] = r;\n}}"
CHANNEL = "channel int c;\n" + HEAD
PLAIN = "for (int i = 0; i < n; i++)\n o[i] = a[i];"
#: what the advice begins with; kernels before and after it, each with head and options; the label of the loop
CASES = {
    "two write ports": (
        "Write __attr",
        MULTIPLE.format("", "#pragma ivdep array(h)"),
        MULTIPLE.format(PORTS, ""),
        HEAD,
    ),
    "two write ports where order counts": ("Write __attr", MULTIPLE.format("", ""), MULTIPLE.format(PORTS, ""), HEAD),
    "one store": (
        "Remove the conflict: use one store",
        MULTIPLE.format("", ""),
        MULTIPLE.format("", "").replace(" h[(p >> 8) & 4095] = i + 1;\n h[(p >> 16) & 4095] = i + 2;\n", ""),
        HEAD,
    ),
    "one store to memory": (
        "Remove the conflict: use one store",
        "for (int i = 0; i < n; i++) {\n o[a[i]] = i;\n o[a[i + 1]] = n;\n}",
        "for (int i = 0; i < n; i++)\n o[a[i]] = i;",
        HEAD,
    ),
    "ivdep": (
        "Remove the dependence: write #pragma ivdep",
        BINS.format("", "+= a[i + n]"),
        BINS.format("#pragma ivdep array(h)\n", "+= a[i + n]"),
        FLOATS,
    ),
    "less between load and store": (
        "Simplify the recurrence: remove operations between the load of an element of h and its store, first the floating-point add",
        BINS.format("", "+= a[i + n]"),
        BINS.format("", "= fabs(h[(int)a[i] & 1023])"),
        FLOATS,
    ),
    "copies of a sum": (
        "Relax the dependence: shift 7 partial sums of s",
        SUM.format("+="),
        SHIFTED.format(7, 0, "+"),
        FLOATS,
    ),
    "copies of a product": (
        "Relax the dependence: rotate through 5 copies of s",
        SUM.format("*="),
        SHIFTED.format(5, 1, "*"),
        FLOATS,
    ),
    "without a divider": (
        "Simplify the recurrence: remove operations between the read of h and its update, first the integer divide",
        "int h = 1;\nfor (int i = 0; i < n; i++) h = h / (i | 1) + 3;\no[0] = h;",
        "int h = 1;\nfor (int i = 0; i < n; i++) h = (h | i) + 3;\no[0] = h;",
        HEAD,
    ),
    "without an adder": (
        "Simplify the recurrence: remove operations between the read of s and its update, first the floating-point add for s",
        "float s = 0;\nfor (int i = 0; i < n; i++) s = a[i] + fmin(s, 9.0f);\no[0] = s;",
        "float s = 0;\nfor (int i = 0; i < n; i++) s = as_float(as_int(fmin(s, 9.0f)) ^ as_int(a[i]));\no[0] = s;",
        FLOATS,
    ),
    "table in the kernel": (
        "Copy the memory that h is loaded from",
        "int h = 1;\nfor (int i = 0; i < n; i++) h = a[h & 1023];\no[0] = h;",
        TABLE + "int h = 1;\nfor (int i = 0; i < n; i++) h = t[h & 1023];\no[0] = h;",
        HEAD,
    ),
    "table that decides": (
        "Copy the data of the exit condition to a private array",
        MERGE.format("a[i ^ 5] < a[j + n]"),
        TABLE + MERGE.format("t[(i ^ 5) & 1023] < t[(j + n) & 1023]"),
        HEAD,
    ),
    "counter in place of a channel's end": (
        "Simplify the exit condition: it depends on the read of channel c",
        (
            "int i = 0;\nbool more = true;\nwhile (more) {\n int v = read_channel_intel(c);\n if (v < 0) more = false;\n"
            " else o[i++] = v;\n}"
        ),
        "int m = read_channel_intel(c);\nfor (int i = 0; i < m; i++) o[i] = read_channel_intel(c);",
        CHANNEL,
    ),
    "a write that waits": (
        "Let the call wait instead of trying it again: write_channel_intel, or a pipe",
        "for (int i = 0; i < n; i++) while (!write_channel_nb_intel(c, a[i])) {}",
        "for (int i = 0; i < n; i++) write_channel_intel(c, a[i]);",
        CHANNEL,
    ),
    "no ii": ("Remove the pragma", "#pragma ii 40\n" + PLAIN, PLAIN, HEAD),
    "more at a time": ("Remove the pragma", "#pragma max_concurrency 5\n" + PLAIN, PLAIN, HEAD),
    "pipelined": ("Remove the pragma", "#pragma disable_loop_pipelining\n" + PLAIN, PLAIN, HEAD),
    "more ahead": ("Remove the pragma", LATE.format("#pragma speculated_iterations 3"), LATE.format(""), HEAD),
    "interleaved": ("Remove #pragma max_int", ROWS.format("#pragma max_interleaving 1"), ROWS.format(""), FLOATS),
    "a variable declared in this loop": (
        "Remove the dependence: let the inner loop i update",
        TWO.format("", "s", ""),
        TWO.format("float own = 0;", "own", "own + "),
        FLOATS,
    ),
    "one nest": ("Coalesce loop j and its inner loops", TURNS.format(""), TURNS.format("#pragma loop_coalesce"), HEAD),
    "ivdep around a loop": (
        "Remove the dependence: write #pragma ivdep",
        STRIDED.format(""),
        STRIDED.format("#pragma ivdep array(o)\n"),
        "__kernel void k(__global int *restrict o, int n)\n",
    ),
}


def slow(report, change: str):
    """The loop that the change is told of."""
    return next(loop for loop in every(report.loops) if any(one.change.startswith(change) for one in loop.would_be))


def interval(loop) -> float:
    return max(loop.scheduled_ii, loop.paced or 0)


def main_loop(report, label: str):
    """The loop of that name, or what stands in its place."""
    loops = [loop for loop in every(report.loops) if loop.ii]
    return next((loop for loop in loops if loop.label.partition("@")[0] == label.partition("@")[0]), loops[0])


@pytest.mark.parametrize("case", CASES)
def test_what_is_advised_gives_what_is_said(case):
    change, before, after, head = CASES[case]
    loop = slow(kernel(before, head), change)
    told = next(one for one in loop.would_be if one.change.startswith(change))
    made = main_loop(kernel(after, head), loop.label)
    assert told.fmax_mhz > 200 and f"II {told.ii}" in loop.advice
    assert told.interval <= interval(made) < interval(loop)
    if not told.at_best:
        assert (made.ii, made.interleaving, interval(made)) == (told.ii, told.interleaving, told.interval)


CHASE = "int i = 0;\nfor (int k = 0; k < n; k++) {\n i = a[i];\n o[k] = i;\n}"


@pytest.mark.parametrize("copy_bytes", [0, 4096])
def test_restrict_is_advised_where_it_lets_a_buffer_be_copied(copy_bytes):
    head = HEAD.replace("restrict", "")
    (loop,) = kernel(CHASE, head, copy_bytes=copy_bytes).loops
    told = [one for one in loop.would_be if one.change.startswith("Declare a and o restrict")]
    assert bool(told) == bool(copy_bytes)
    made = main_loop(kernel(CHASE, HEAD, copy_bytes=copy_bytes), "k")
    assert all((one.ii, one.interval) == (made.ii, interval(made)) for one in told)


def test_a_cause_is_named_as_in_the_source():
    """The values that a loop carries to load ahead of an index stand for the index."""
    (loop, *_) = kernel(MERGE.format("a[i] * a[i + 1] * a[i + 2] < a[j + n] * a[j + n + 3]"), HEAD).loops
    assert loop.ii > 1 and loop.bottleneck.subject in ("i", "j")
    words = set(re.findall(r"\b\w+\b", loop.advice.partition("read of ")[2]))
    assert words and not words & {"sum", "step"}


def test_what_gains_nothing_is_not_advised():
    """The write port binds as soon as order does not."""
    (loop, *_) = kernel(MULTIPLE.format("", "")).loops
    assert loop.bottleneck.kind == "memory" and loop.ii == 3
    assert not any("ivdep" in one.change for one in loop.would_be) and "ivdep" not in loop.advice
    both = kernel(MULTIPLE.format(PORTS, "#pragma ivdep array(h)")).loops[0]
    assert not any("port" in one.change for one in both.would_be)


def test_floats_may_be_added_in_another_order():
    loop = slow(kernel(SUM.format("+="), FLOATS), "Let the compiler do so")
    (told,) = [one for one in loop.would_be if "-fp-relaxed" in one.change]
    made = main_loop(kernel(SUM.format("+="), FLOATS, fp_relaxed=True), "i")
    assert (told.ii, told.interval) == (made.ii, interval(made)) == (1, 1)


def test_all_variables_that_hold_a_loop_up_are_named():
    text = "float s = 0, t = 1;\nfor (int i = 0; i < n; i++) {\n s += a[i];\n t += a[i] * 3;\n}\no[0] = s;\no[1] = t;"
    loop = slow(kernel(text, FLOATS), "Relax the dependence")
    assert loop.would_be[0].ii == 1 and "also for" in loop.would_be[0].change


def test_copies_of_a_loop_are_looked_at_together():
    text = (
        "#pragma unroll\nfor (int j = 0; j < 4; j++) {\n float s = 0;\n for (int k = 0; k < n; k++)\n"
        "  s = j < 2 ? s + a[k * 4 + j] : a[k + j];\n o[j] = s;\n}"
    )
    loop = slow(kernel(text, FLOATS), "Relax the dependence: shift 7 partial sums of s")
    assert [(one.count, one.ii) for one in loop.variants] == [(2, 6), (2, 1)]


def test_a_nest_that_adds_to_the_row_before_needs_no_advice():
    """In i-k-j order each row adds to the elements that the one before stored: one loop, of an iteration a cycle."""
    loops = every(kernel(NEST, FLOATS).loops)
    assert all(loop.ii <= 1 and not loop.would_be for loop in loops)


@pytest.mark.parametrize(
    "body",
    [
        CLEARED
        + "for (int i = 0; i < n; i++)\n h[i & 3] = h[i & 3] * a[i] + 1;\nfor (int j = 0; j < 1024; j++) o[j] = h[j];",
        CLEARED + "for (int i = 3; i < n; i++)\n h[2 * i] = h[i] * a[i];\nfor (int j = 0; j < 1024; j++) o[j] = h[j];",
    ],
)
def test_nobody_is_told_to_deny_a_dependence_that_exists(body):
    loops = every(kernel(body, FLOATS).loops)
    assert any(loop.bottleneck and loop.bottleneck.kind == "memory" for loop in loops)
    assert not any("ivdep" in one.change for loop in loops for one in loop.would_be)


def test_a_loop_without_a_bottleneck_is_not_tried(monkeypatch):
    from hls.planning import what_if

    monkeypatch.setattr(what_if, "plan_alone", None)
    monkeypatch.setattr(what_if, "plan_again", None)
    assert kernel(PLAIN).loops[0].would_be == ()


@pytest.mark.parametrize(
    "limit, reason",
    [
        ("MOST_TRIALS", "the limit is 0 changes per kernel"),
        ("MOST_OPS", "the kernel has more than 0 operations"),
        ("MOST_WORK", "the limit is 0 for all of them"),
    ],
)
def test_trials_have_a_budget_that_the_report_names(monkeypatch, limit, reason):
    from hls.planning import what_if

    assert kernel(SUM.format("+="), FLOATS).messages == ()
    monkeypatch.setattr(what_if, limit, 0)
    found = kernel(SUM.format("+="), FLOATS)
    loop, (note,) = found.loops[0], found.messages
    assert loop.ii == 6 and loop.would_be == () and loop.advice == ""
    assert note.severity == "note" and note.span == found.span and note.message.endswith(reason)


def test_trials_of_a_kernel_share_a_budget_of_work(monkeypatch):
    from hls.planning import what_if

    made = []

    def counted(plan):
        return lambda *args: made.append(1) or plan(*args)

    monkeypatch.setattr(what_if, "plan_alone", counted(what_if.plan_alone))
    monkeypatch.setattr(what_if, "plan_again", counted(what_if.plan_again))
    kernel(SUM.format("+="), FLOATS)
    assert len(made) == 3  # two for advice, and an II against the clock
    made.clear()
    monkeypatch.setattr(what_if, "work", lambda function: 5)
    monkeypatch.setattr(what_if, "MOST_WORK", 9)
    (note,) = kernel(SUM.format("+="), FLOATS).messages
    assert len(made) == 1 and "5 operations and pairs of accesses" in note.message


def test_work_of_a_kernel_grows_with_pairs_of_an_access_and_a_store():
    from hls.planning.what_if import work

    def pairs(updates):
        text = "".join(f"o[{k}] += 1;" for k in range(updates))
        function = parse_source(f"{HEAD}{{\n{text}\n}}\n").module.functions["k"]
        return work(function) - sum(1 for _ in walk(function.body))

    loads = stores = 8
    assert pairs(stores) == (loads + stores) * stores
    assert pairs(2 * stores) == 4 * pairs(stores)


def test_changes_of_the_source_have_a_budget_that_the_report_names(monkeypatch):
    from hls.planning import what_if

    monkeypatch.setattr(what_if, "MOST_IN_SOURCE", 0)
    found = kernel(SUM.format("+="), FLOATS)
    assert "-fp-relaxed" not in found.loops[0].advice and found.loops[0].would_be
    assert [note.message for note in found.messages] == [
        "not every change was tried for advice: the limit is 0 changes of the source per program"
    ]

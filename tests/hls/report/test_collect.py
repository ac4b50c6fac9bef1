"""The report on kernels with known loops: II, interleaving, the cause of the II, and the loops that were merged or
removed."""

import pytest
from planned import FLOATS, HEAD, every, kernel, only

import hls
from hls.report.collect import collect
from hls.report.phrasing import variable


def shares(loop) -> dict[str, float]:
    return {part.operation: part.share for part in loop.bottleneck.shares}


def test_a_float_sum_names_the_variable_its_line_and_the_adder():
    k = kernel(
        "for (int i = 0; i < n; i++) {\n float sum = 0.0f;\n for (int j = 0; j < n; j++)\n  sum += a[i * n + j];\n "
        "o[i] = sum;\n}"
    )
    outer = only(k.loops)
    inner = only(outer.children)
    assert (outer.ii, outer.bottleneck, outer.one_at_a_time) == (1, None, "")
    assert inner.ii == inner.interleaving == inner.slots > 1 and inner.one_at_a_time == ""
    why = inner.bottleneck
    assert (why.kind, why.subject, why.span.line, why.cycles) == ("data", "sum", 6, inner.ii)
    assert shares(inner)["floating-point add for sum"] > 0.5
    assert sum(shares(inner).values()) == pytest.approx(1)


def test_a_loop_that_is_entered_once_has_nothing_to_take_turns_with():
    loop = only(kernel("float s = 0.0f;\nfor (int i = 0; i < n; i++)\n s += a[i];\no[0] = s;").loops)
    assert loop.ii > 1 and loop.interleaving == 1
    assert (
        loop.one_at_a_time
        == f"no interleaving: a launch enters this loop once, so the II of {loop.ii} is what an iteration takes"
    )


def test_a_recurrence_through_memory_names_the_load():
    loop = only(kernel("int p = 0;\nfor (int i = 0; i < 50; i++)\n p = a[p];\no[0] = p;").loops)
    assert loop.trip_count == 50
    assert (loop.bottleneck.kind, loop.bottleneck.subject, loop.bottleneck.span.line) == ("data", "p", 5)
    assert max(shares(loop), key=shares(loop).get) == "load of a (round trip to memory)"


def test_accesses_that_may_touch_the_same_address_are_named_with_both_lines():
    head = "__kernel void k(__global const int *restrict a, __global int *restrict h, int n)\n"
    loop = only(
        kernel("for (int i = 0; i < n; i++) {\n int at = a[i];\n int old = h[at];\n h[old & 7] = at;\n}", head).loops
    )
    why = loop.bottleneck
    assert (why.kind, why.subject, why.span.line, why.other.line, why.distance) == ("memory", "load of h", 5, 6, 1)
    assert (loop.waits, loop.waits_for, loop.category) == ("h[at]", "h[old & 7]", "memory dependence")
    assert {"load of h (round trip to memory)", "fence for stores to h"} <= set(shares(loop))


def test_a_recurrence_through_an_inner_loop_names_it():
    text = (  # a loop with a pragma of its own does not become part of another
        "int h = 1;\nfor (int i = 0; i < n; i++)\n#pragma nofusion\n for (int j = 0; j < a[i]; j++)\n  h = h * 31 + j;\n"
        "o[0] = h;"
    )
    outer = only(kernel(text).loops)
    assert outer.bottleneck.subject == "h"
    assert any(words.startswith("inner loop j") for words in shares(outer))


def test_a_sum_across_two_loops_and_the_same_taken_apart():
    """One iteration at a time passes the inner loop, until its sum begins anew in each iteration, as the compiler lets
    sums of integers."""
    together = (
        "float sum = 0;\nfor (int i = 0; i < 128; i++) {\n for (int j = 0; j < 64; j++)\n  sum += a[i * 64 + j];\n"
        " sum += a[i];\n}\no[0] = sum;"
    )
    outer = only(kernel(together).loops)
    (region,) = outer.serial
    inner = only(outer.children)
    assert ([label for label, _ in region.loops], region.cause.kind, region.cause.subject) == (["j"], "data", "sum")
    assert inner.interleaving == 1 and inner.one_at_a_time.endswith("the outer loop waits for its result")
    assert outer.paced == outer.ii + 64 * inner.ii - 1 and outer.bottleneck.subject == "sum"
    assert outer.advice.startswith(
        "Remove the dependence: let the inner loop j update a variable declared in this loop"
    )
    whole = together.replace("float", "int")
    apart = (
        whole.replace("{\n", "{\n int own = 0;\n", 1)
        .replace("sum += a[i * 64", "own += a[i * 64")
        .replace("sum += a[i];", "sum += own + a[i];")
    )
    for text in (whole, apart):
        outer = only(kernel(text).loops)
        assert (outer.serial, outer.paced, outer.ii, outer.advice) == ((), 64, 1, "")


@pytest.mark.parametrize(
    "inner",
    [
        "for (int j = 0; j < a[i]; j++)\n  sum = sum * 3 ^ a[j];",
        "for (int j = 0; j < (sum & 7); j++)\n  sum += a[j] * a[j + i];",
        "for (int j = 0; j < a[i]; j++)\n  sum += a[(sum + j) & 63];",
    ],
    ids=["no sum", "bound", "index"],
)
def test_what_an_inner_loop_cannot_accumulate_anew_is_not_advised(inner):
    """The inner loop computes with the state that the iteration before left."""
    text = f"int sum = 1;\nfor (int i = 0; i < n; i++) {{\n#pragma nofusion\n {inner}\n sum ^= a[i];\n}}\no[0] = sum;"
    outer = only(kernel(text).loops)
    assert (outer.bottleneck or outer.serial[0].cause).subject == "sum"
    assert "declared in this loop" not in outer.advice


def test_a_store_that_the_inner_loop_reads_in_the_next_iteration():
    head = "__kernel void k(__global int *restrict o, int n)\n"
    outer = only(
        kernel(
            "for (int i = 0; i < n; i++) {\n int s = 0;\n for (int j = 0; j < 80; j++)\n  s += o[j * n];\n"
            " o[(s & 7) * n] = i;\n}",
            head,
        ).loops
    )
    (region,) = outer.serial
    assert (region.cause.kind, [label for label, _ in region.loops]) == ("memory", ["j"])


@pytest.mark.parametrize(
    ("pragma", "kind", "subject"),
    [
        ("ii 40", "request", "40"),
        ("max_concurrency 5", "concurrency", "5"),
        ("disable_loop_pipelining", "concurrency", "1"),
    ],
)
def test_what_the_source_asks_for_is_named_as_the_cause(pragma, kind, subject):
    loop = only(kernel(f"#pragma {pragma}\nfor (int i = 0; i < n; i++)\n o[i] = a[i];").loops)
    ii = 40 if kind == "request" else -(-loop.latency // int(subject))
    assert (loop.bottleneck.kind, loop.bottleneck.subject, loop.ii) == (kind, subject, ii)
    assert loop.advice.startswith("Remove the pragma")
    assert loop.limit == {"request": None}.get(kind, int(subject))


def test_a_wish_that_costs_nothing_is_not_the_cause():
    loop = only(kernel("float s = 0.0f;\n#pragma ii 6\nfor (int i = 0; i < n; i++)\n s += a[i];\no[0] = s;").loops)
    assert (loop.ii, loop.bottleneck.kind) == (6, "data")


@pytest.mark.parametrize(
    ("pragma", "kind"),
    [("", None), ("#pragma speculated_iterations 3", "ahead"), ("#pragma speculated_iterations 0", "condition")],
)
def test_conditions_out_of_memory(pragma, kind):
    loop = only(kernel(f"int i = 0;\n{pragma}\nwhile (a[i] < n) i++;\no[0] = i;").loops)
    assert loop.speculative == (kind != "condition")
    assert (loop.bottleneck.kind if loop.bottleneck else None) == kind
    if kind is None:  # II 1: an iteration in each cycle until the exit is known, which takes a load
        assert loop.ii == 1 and 100 < loop.speculated < loop.latency
    else:
        assert loop.speculated == (3 if kind == "ahead" else 0)


def test_dimensions_are_those_of_the_type():
    text = (
        "typedef int row[16];\nrow h[4 * COUNT],\n g[3];\nfor (int i = 0; i < n; i++) h[a[i]][i & 15] = g[i % 3][i & 7] = i;"
        "\nfor (int i = 0; i < n; i++) o[i] = h[i & 7][a[i]] + g[i % 3][a[i]];"
    )
    found = {memory.name: memory.dims for memory in kernel("#define COUNT 2\n" + text).memories}
    assert found == {"h": (8, 16), "g": (3, 16)}


def test_loops_that_became_part_of_others():
    outer = only(
        kernel(
            "#pragma loop_coalesce\nfor (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)\n  o[i * n + j] = a[j];"
        ).loops
    )
    assert (outer.ii, outer.part_of) == (1, None)
    how, into = only(outer.children).part_of
    assert (how, into.line) == ("coalesced", 4)
    first, second = kernel(
        "#pragma loop_fuse\n{\nfor (int i = 0; i < n; i++)\n o[i] = a[i];\nfor (int i = 0; i < n; i++)\n o[i] += 2;\n}"
    ).loops
    assert (first.part_of, second.part_of[0], second.part_of[1].line) == (None, "fused", 5)


def test_unrolling_that_was_not_possible_is_said():
    loop = only(kernel("#pragma unroll\nfor (int i = 0; i < n; i++)\n o[i] = a[i];").loops)
    assert (loop.unroll.factor, loop.unroll.reason) == (None, "its trip count is not known at compile time")


def test_a_channel_that_decides_whether_to_go_on_is_named():
    """Though what it gives needs nothing that the loop carries."""
    found = kernel(
        "int k = 0;\nbool more = true;\nwhile (more) {\n int v = read_channel_intel(c);\n if (v < 0) more = false;\n "
        "else o[k++] = v;\n}",
        "channel int c;\n" + HEAD,
    )
    loop = only(found.loops)
    assert loop.bottleneck.kind == "condition" and shares(loop)["read of channel c"] > 0.1
    assert loop.advice.startswith("Simplify the exit condition: it depends on the read of channel c")


def test_the_longest_way_is_within_the_period_and_named():
    loop = only(kernel("for (int i = 0; i < n; i++)\n o[i] = (a[i] + i) ^ n;").loops)
    assert 240 <= loop.path.fmax_mhz < 1000
    assert sum(part.share for part in loop.path.steps) <= 1.001


def test_no_way_leads_through_a_loop():
    text = (
        "for (int i = 0; i < n; i++) {\n int m = a[i] + i, s = 3;\n for (int j = 0; j < m; j++) s ^= s << j;\n "
        "o[i] = (s + m) ^ i;\n}"
    )
    for path in (loop.path for outer in kernel(text).loops for loop in (outer, *outer.children)):
        assert path.fmax_mhz >= 240


@pytest.mark.parametrize(
    "condition", ("m < n && x * x <= 4.0f", "m < n && x * x + y * y <= 4.0f", "(m ^ n) < 77 && x <= 4.0f")
)
def test_the_condition_reaches_the_end_of_an_invocation_within_the_period(condition):
    text = (
        "for (int i = 0; i < n; i++) {\n float x = a[i], y = x;\n int m = 0;\n while (%s) {\n  float t = x * x - y * y;\n  "
        "y = 2.0f * x * y + x;\n  x = t;\n  m++;\n }\n o[i] = m;\n}"
    )
    for loop in every(kernel(text % condition, FLOATS).loops):
        assert loop.path.fmax_mhz >= 240


def test_an_invocation_that_waits_for_the_one_before():
    """It does for an element that was stored near its end, and not for the neighbour of each."""
    text = (
        "int h[2048];\nfor (int i = 0; i < 2048; i++) h[i] = a[i];\nfor (int j = 0; j < n; j++)\n#pragma unroll 1\n "
        "for (int i = 0; i < 100; i++)\n"
        "  h[i] = h[i + %d] * a[j];\nfor (int i = 0; i < 2048; i++) o[i] = h[i];"
    )
    near = kernel(text % 1).loops[1]
    assert not only(near.children).additional and near.paced == 100
    outer = kernel(text % 70).loops[1]
    (cause,) = only(outer.children).additional
    assert (cause.kind, cause.subject, cause.span.line, cause.other.line) == ("invocations", "load of h", 8, 8)
    assert 1 < cause.cycles < 12 and outer.paced == 99 + cause.cycles


def test_no_way_leads_through_a_loop_inside():
    text = (
        "int w[16];\nfor (int k = 0; k < 16; k++) w[k] = a[k];\nfor (int j = 0; j < n; j++)\n for (int k = 0; k < "
        "16; k++) {\n  int s = w[k];\n"
        "  for (int t = 0; t < 20; t++) s += a[j * 20 + t];\n  o[j * 16 + k] = s >> n;\n }"
    )
    (middle,) = kernel(text).loops[-1].children
    assert middle.path.fmax_mhz > 240 and "shift right" not in {step.operation for step in middle.path.steps[1:]}


def test_stores_that_take_turns():
    loop = only(kernel("for (int i = 0; i < n; i++) {\n o[a[i]] = i;\n o[a[i + 1]] = n;\n}").loops)
    assert (loop.ii, loop.paced) == (1, 2)
    assert (loop.bottleneck.kind, loop.bottleneck.subject, loop.bottleneck.span.line) == ("turns", "2 stores to o", 4)
    assert loop.advice.startswith("Remove the conflict: use one store an iteration")


def test_stores_that_share_a_port_in_a_loop_in_which_work_items_meet():
    """Not the loop's condition, which costs nothing there, is to blame."""
    head = "__attribute__((reqd_work_group_size(8, 1, 1)))\n" + HEAD
    k = kernel(
        "__local int s[16];\nint l = get_local_id(0);\ns[l] = a[l];\ns[l + 8] = l;\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
        "for (int i = 1; i < n; i *= 2) {\n int x = (a[l] + i) & 15;\n s[x] = s[x ^ 3];\n s[x ^ l] = i;\n"
        " barrier(CLK_LOCAL_MEM_FENCE);\n}\no[l] = s[l];",
        head,
    )
    loop = only(only(k.loops).children)
    assert loop.ii == 2 and (loop.bottleneck.kind, loop.bottleneck.memory) == ("resource", "s")
    assert loop.bottleneck.subject == "2 stores to s (lines 11, 12) share one write port"


def test_accesses_in_loops_inside_are_named():
    text = (
        "for (int t = 0; t < n; t++) {\nfor (int i = 0; i < n; i++)\n o[i] = o[i] + t;\nfor (int i = 0; i < n; "
        "i++)\n o[n - i] = t;\n}"
    )
    outer = only(kernel(text).loops)
    waits = [
        cause
        for cause in (outer.bottleneck, *outer.additional, *(part.cause for part in outer.serial))
        if cause.kind == "memory"
    ]
    assert waits
    for cause in waits:
        # or the loop that ends
        assert cause.subject.endswith(" of o") and cause.span.line in (5, 7) and cause.other.line in (5, 6, 7)


def test_invocations_that_take_turns_share_the_pace():
    """One iteration at a time of each of them, but many of them at once."""
    text = (
        "for (int x = 0; x < n; x++) {\nfloat s = 0.0f;\nfor (int i = 0; i < 8; i++)\n#pragma unroll 1\n#pragma "
        "nofusion\n"
        "for (int j = 0; j < 8; j++)\n s += a[(x * 8 + i) * 8 + j];\no[x] = s;\n}"
    )
    outer = only(kernel(text).loops)
    middle = only(outer.children)
    assert middle.serial and middle.interleaving > 8
    assert outer.paced < 8 * middle.paced / 4


def test_unrolled_loops_stay_where_the_source_has_them():
    text = (
        "for (int i = 0; i < n; i++) {\n int s = 0;\n #pragma unroll\n for (int j = 0; j < 3; j++) {\n"
        "  #pragma unroll 2\n  for (int t = 0; t < 8; t++)\n   s += a[i + j * t];\n }\n o[i] = s;\n}"
    )
    outer = only(kernel(text).loops)
    middle = only(outer.children)
    inner = only(middle.children)
    assert (outer.label, outer.unroll) == ("i", None)
    assert (middle.label, middle.ii, middle.unroll.factor, middle.unroll.full) == ("j", 0, 3, True)
    assert middle.unroll.reason == inner.unroll.reason == "pragma"
    assert (inner.label, inner.copies, inner.unroll.factor, inner.unroll.full) == ("t", 3, 2, False)
    assert inner.ii >= 1


def test_a_loop_of_helpers_and_one_that_is_not_needed():
    head = "int f(int x) {\n int s = 0;\n for (int q = 0; q < x; q++) s += q * x;\n return s;\n}\n" + HEAD
    first, second = kernel("o[0] = f(n);\nint z = 0;\nfor (int i = 0; i < n; i++)\n z += i;", head).loops
    assert (first.label, first.span.line, first.ii >= 1) == ("q", 3, True)
    assert (second.label, second.ii, second.unroll) == ("i", 0, None)


def test_work_items_stand_around_their_loops():
    head = "__kernel void k(__global const int *restrict a, __global int *restrict o)\n"
    items = only(
        kernel("int i = get_global_id(0), s = 0;\nfor (int j = 0; j < a[i]; j++) s += j ^ i;\no[i] = s;", head).loops
    )
    assert items.work_items and only(items.children).label == "j"


def test_accesses_of_copies_are_counted_together():
    text = (
        "for (int i = 0; i < n; i++) {\n int s = 0;\n #pragma unroll\n for (int j = 0; j < 4; j++)\n  s += a[i * "
        "n + 16 * j];\n o[i] = s;\n}"
    )
    load, store = kernel(text).accesses
    assert (load.kind, load.buffer, load.span.line, load.count) == ("load", "a", 7, 4)
    assert (store.kind, store.buffer, store.count) == ("store", "o", 1)


def test_accesses_that_were_joined_say_so():
    load, store = kernel("for (int i = 0; i < n; i++)\n o[i] = a[i]\n  + a[i + 1] + a[i + 2];").accesses
    assert (load.bytes, load.lsu) == (12, "burst-coalesced non-aligned")
    assert load.reason.startswith("3 accesses to adjacent addresses (lines 4, 5) are coalesced")
    assert store.bytes == 4


def test_areas_are_of_this_design_and_add_up():
    result = hls.compile(HEAD + "{ for (int i = 0; i < n; i++) o[i] = a[i] / n; }")
    report = collect(result, "k.cl")
    used, shared = report.kernels[0].resources, report.shared
    assert min(used.logic, used.registers, shared.logic, shared.registers, shared.rams) > 0
    assert report.resources == used + shared
    assert all(getattr(report.resources, f) < getattr(report.device, f) for f in ("logic", "registers", "rams", "dsps"))
    larger = collect(
        hls.compile(HEAD + "{ for (int i = 0; i < n; i++) o[i] = a[i] / n + a[i + 9] / (n + 1); }"), "k.cl"
    )
    assert larger.kernels[0].resources.logic > used.logic


def test_a_kernel_named_like_a_word_of_verilog_has_its_area():
    named, join = (
        collect(
            hls.compile(HEAD.replace(" k(", f" {name}(") + "{ for (int i = 0; i < n; i++) o[i] = a[i] / n; }"), "k.cl"
        )
        for name in ("k", "join")
    )
    assert join.kernels[0].resources == named.kernels[0].resources


def test_names_of_elements_and_of_variables_of_one_name():
    from hls.ir import I32, MemoryObject, Value

    memories = {
        "w": MemoryObject("w", "private", I32, 8),
        "i": MemoryObject("i", "private", I32, 1),
        "i.1": MemoryObject("i.1", "private", I32, 1),
    }
    said = {name: variable(Value(I32, name), memories) for name in ("w.3", "i", "i.1", "help.sum", "")}
    assert said == {"w.3": "w[3]", "i": "i", "i.1": "i", "help.sum": "sum", "": ""}


@pytest.mark.parametrize(("pragma", "reason"), [("#pragma unroll\n", "pragma"), ("", "automatic")])
def test_who_asked_for_a_shift(pragma, reason):
    shift = only(
        kernel(
            f"int w[20];\nfor (int i = 0; i < n; i++) {{\n{pragma} for (int t = 19; t > 0; t--) w[t] = w[t - 1];\n "
            f"w[0] = a[i];\n o[i] = w[19];\n}}"
        ).loops
    )
    assert only(shift.children).unroll.reason == reason


def test_a_loop_around_one_of_unknown_length_has_no_known_pace():
    text = (
        "for (int i = 0; i < n; i++)\n#pragma unroll 1\nfor (int j = 0; j < 9; j++)\nfor (int k = 0; k < {}; "
        "k++)\n o[i * 99 + j * 9 + k] = a[i + k];"
    )
    assert [only(kernel(text.format(trips)).loops).paced for trips in ("6", "j")] == [54, None]

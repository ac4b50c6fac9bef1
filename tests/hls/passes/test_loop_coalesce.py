"""Coalesced loop nests compute the same, are one loop, and a nest that cannot be coalesced is reported."""

import numpy as np
import pytest
from merging import check_random, loops, outcome, passes_through

from tests.kernels.system import Launch

ARGS = "__global int *restrict a, __global const int *restrict b, int n, int m"


def coalesced(body: str):
    """(loops left, records, warnings), after a run that must give the same as before."""
    records, told = [], []
    text = f"__kernel void k({ARGS}) {{ {body} }}"
    module, before, after, last = passes_through(text, "coalesce-loops", records.append, told.append)
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (3, 0), (4, 5), (7, 1), (-2, 4)):
        arrays = {name: rng.integers(-9, 99, 64).astype(np.int32) for name in "ab"}
        launch = Launch(arrays, {"n": n, "m": m})
        for stage in (before, after, last):
            assert outcome(stage, launch) == outcome(module, launch), (n, m)
    return loops(after), [r for r in records if hasattr(r, "how")], [str(t.message) for t in told]


#: kernels of which loops become one
@pytest.mark.parametrize("seed", [13, 19, 24, 27, 30, 58, 65, 71, 74, 81])
def test_random_nests(seed):
    assert (
        check_random(seed, "coalesce-loops", ["loop_coalesce", "loop_coalesce", "loop_coalesce 2", "loop_coalesce 3"])
        > 0
    )


@pytest.mark.parametrize(
    "body",
    [
        (
            "\n#pragma loop_coalesce\nfor (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j & 63] = b[j] + "
            "i;"
        ),
        # something before and behind, with state through both loops
        """int s = 0;
    #pragma loop_coalesce
    for (int i = 0; i < n; i++) {
        s ^= b[i]; int t = b[i + 8];
        for (int j = 0; j < m; j++) { s += b[j] * t; t++; }
        a[i] = s + t; s += b[i + 1]; }
    a[20] = s;""",
        # bounds that depend on the outer loop, and on memory
        "\n#pragma loop_coalesce\nfor (int i = 0; i < n; i++) for (int j = i; j < (b[i] & 7); j++) a[j] += i + 1;",
        # leaving the inner loop, and the outer one
        """int s = 0;
    #pragma loop_coalesce
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) { if (b[j] > 50) break; s += j; }
        if (s > 40) break;
        a[i] = s; }
    a[63] = s;""",
        "int i = n;\n#pragma loop_coalesce\ndo { int j = 0; while (j < m) a[(i + j++) & 63] += j; } while (--i > 0);",
        # a step that carries two values around
        """int p = 1, q = 2;
    #pragma loop_coalesce
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) { int t = p; p = q; q = t + j; }
        a[i] = p; }""",
    ],
)
def test_two_levels(body):
    left, records, told = coalesced(body)
    assert left == 1
    assert [r.how for r in records] == ["coalesced"]
    assert told == []


NEST = (
    "for (int i = 0; i < n; i++) {{ a[i] = 0; for (int j = 0; j < m; j++) {{ a[j] += 1; for (int k = j; k < 5; "
    "k++) {inner} }} }}"
)


@pytest.mark.parametrize(
    ("pragma", "left"), [("loop_coalesce", 1), ("loop_coalesce 3", 1), ("loop_coalesce 2", 2), ("loop_coalesce 1", 3)]
)
def test_depth(pragma, left):
    found, records, told = coalesced(f"\n#pragma {pragma}\n" + NEST.format(inner="a[k] += b[j];"))
    assert (found, len(records), told) == (left, 3 - left, [])


def test_what_is_to_be_unrolled_is_no_level():
    left, records, told = coalesced(
        "\n#pragma loop_coalesce\n"
        + NEST.format(inner="{\n#pragma unroll\nfor (int l = 0; l < 3; l++) a[k + l] += b[l]; }")
    )
    assert (left, len(records), told) == (2, 2, [])


@pytest.mark.parametrize(
    ("body", "left", "reason"),
    [
        (
            "\n#pragma loop_coalesce\nfor (int i = 0; i < n; i++) a[i] = 1;",
            1,
            "#pragma loop_coalesce: this loop is not coalesced, because there is no loop inside the one at line 3",
        ),
        (
            "\n#pragma loop_coalesce 4\n" + NEST.format(inner="a[k] = 2;"),
            1,
            "#pragma loop_coalesce 4: only 3 levels are coalesced, because there is no loop inside the one at line 3",
        ),
        (
            (
                "\n#pragma loop_coalesce\nfor (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) a[j] = 1;\nfor (int "
                "j = 0; j < m; j++) a[j] = 2; }"
            ),
            3,
            (
                "#pragma loop_coalesce: this loop is not coalesced, because the loops at lines 3 and 4 are not nested in each "
                "other"
            ),
        ),
        (
            "\n#pragma loop_coalesce\nfor (int i = 0; i < n; i++)\nif (i & 1)\nfor (int j = 0; j < m; j++) a[j] = 1;",
            2,
            "#pragma loop_coalesce: this loop is not coalesced, because the loop at line 5 is conditional",
        ),
    ],
)
def test_what_cannot_be_done_is_said(body, left, reason):
    assert coalesced(body) == (left, [*coalesced(body)[1]], [reason])


def test_wishes_of_the_inner_loop():
    """The nest has them; where both differ, that of the outer one counts, and this is said."""
    text = (
        f"__kernel void k({ARGS}) {{\n#pragma loop_coalesce\n#pragma ii 3\nfor (int i = 0; i < n; i++)\n#pragma ii 5\n"
        "#pragma max_concurrency 2\nfor (int j = 0; j < m; j++) a[j] = i; }"
    )
    told = []
    _, _, after, _ = passes_through(text, "coalesce-loops", warn=told.append)
    (loop,) = [op for op in after.body.ops if op.opcode == "loop"]
    assert (loop.attrs["ii"], loop.attrs["max_concurrency"]) == (3, 2)
    assert [(t.span.line, t.message) for t in told] == [
        (7, ("#pragma ii of this loop is ignored: it is coalesced with the loop at line 4, which has another value"))
    ]


@pytest.mark.parametrize(
    ("outer", "inner", "both"),
    [
        ("ivdep", "ivdep", (("", 0),)),
        ("ivdep", "ivdep array(a)", (("a", 0),)),
        ("ivdep array(a) safelen(4)", "ivdep", (("a", 4),)),
        ("ivdep safelen(4)", "ivdep safelen(3)", (("", 3),)),
        ("ivdep", "", ()),
        ("ivdep array(a)", "ivdep array(b)", ()),
    ],
)
def test_promises_count_where_both_loops_make_them(outer, inner, both):
    text = (
        f"__kernel void k({ARGS}) {{\n#pragma loop_coalesce\n#pragma {outer}\nfor (int i = 0; i < n; i++)\n"
        + (f"#pragma {inner}\n" if inner else "")
        + "for (int j = 0; j < m; j++) a[b[j]] += b[i]; }"
    )
    _, _, after, _ = passes_through(text, "coalesce-loops")
    (loop,) = [op for op in after.body.ops if op.opcode == "loop"]
    assert loop.attrs["ivdep"] == both

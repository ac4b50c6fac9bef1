"""II against clock: the second point that a report names is what the loop becomes with, or without, the pragma."""

import random

import pytest
from planned import FLOATS, HEAD, every, kernel, only

from hls.diag import CompileError
from hls.report import loop_text

LOOP = "uint s = 1;\n{}for (int i = 0; i < n; i++) {{\n s += a[i];\n{}}}\no[0] = s;"
STEPS = (" s ^= s << {};\n", " s += s >> {};\n", " s = (s | {}u) - a[n];\n", " s = s ^ (s + {}u);\n")


def steps(seed: int) -> str:
    """A chain of additions and bit operations, each of which needs the result of the one before."""
    choose = random.Random(seed)
    return "".join(choose.choice(STEPS).format(choose.randrange(1, 30)) for _ in range(choose.randrange(2, 7)))


def loop_of(body: str, **options):
    return every(kernel(body, **options).loops)[0]


@pytest.mark.parametrize("seed", range(4))
def test_each_point_is_the_loop_of_the_other_source(seed):
    plain = loop_of(LOOP.format("", steps(seed)))
    assert plain.ii > 1
    here, there = plain.clock_points
    assert there.fmax_mhz / there.ii > here.fmax_mhz / here.ii
    assert (here.how, here.ii, here.fmax_mhz) == ("as it is", plain.ii, plain.fmax_mhz)
    assert there.how == f"with #pragma ii {there.ii}" and there.ii < here.ii and there.fmax_mhz < here.fmax_mhz
    asked = loop_of(LOOP.format(f"#pragma ii {there.ii}\n", steps(seed)))
    assert (asked.ii, asked.fmax_mhz) == (there.ii, there.fmax_mhz)
    assert [(one.how, one.ii, one.fmax_mhz) for one in asked.clock_points] == [
        (there.how, there.ii, there.fmax_mhz),
        ("without #pragma ii", here.ii, here.fmax_mhz),
    ]


def test_the_report_says_both():
    text = "\n".join(loop_text.loop_tree(kernel(LOOP.format("", steps(0))).loops, 240.0))
    here, there = loop_of(LOOP.format("", steps(0))).clock_points
    said = " ".join(text.replace("|", " ").split())
    assert f"II against clock: as it is, II {here.ii} at {here.fmax_mhz:g} MHz: {here.iterations_per_us:g} " in said
    assert f"; with #pragma ii {there.ii}, II {there.ii} at {there.fmax_mhz:g} MHz: " in said
    assert there.iterations_per_us == round(there.fmax_mhz / there.ii, 1)


def test_parts_keep_their_registers_at_a_slower_clock():
    sum_up = "float s = n;\n{}for (int i = 0; i < n; i++)\n s += a[i];\no[0] = s;"
    here, there = (only(kernel(sum_up.format(text), FLOATS).loops) for text in ("", "#pragma ii 6\n"))
    assert (here.ii, there.ii) == (7, 6) and here.fmax_mhz / 7 > there.fmax_mhz / 6
    assert not here.clock_points and [one.ii for one in there.clock_points] == [6, 7]
    with pytest.raises(CompileError) as told:
        kernel(sum_up.format("#pragma ii 5\n"), FLOATS)
    (error,) = told.value.diagnostics
    assert "the least is 7" in error.message and error.hint.startswith(
        "ask for 7, or for 6, which lowers the clock, or"
    )


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++)\n o[i] = a[i];",
        "#pragma ii 4\nfor (int i = 0; i < n; i++)\n o[i] = a[i];",  # more than is needed, at the full clock
        "int i = 0;\nwhile (a[i] < n) i = a[i];\no[0] = i;",  # waits for memory
    ],
)
def test_where_there_is_no_choice(body):
    assert not loop_of(body).clock_points


@pytest.mark.parametrize(
    ("update", "head"), [("s += a[i] * a[r];", FLOATS), ("s = (s ^ s << 3) + a[i]; s += s >> 7;", HEAD)]
)
def test_none_where_invocations_interleave(update, head):
    """An iteration starts every cycle whatever the II: a smaller one would only cost the clock."""
    inner = "{type} s = 1;\n {pragma}for (int i = 0; i < n; i++) {{ {update} }}\n o[r] = s;"
    kind = "float" if head == FLOATS else "uint"

    def of(pragma):
        body = inner.format(type=kind, pragma=pragma, update=update)
        return every(kernel(f"for (int r = 0; r < n; r++) {{\n {body}\n}}", head).loops)[1]

    plain = of("")
    assert plain.ii > 1 and plain.interleaving == plain.ii and not plain.clock_points
    asked = of(f"\n#pragma ii {plain.ii - 1}\n")
    assert [one.ii for one in asked.clock_points] == [plain.ii - 1, plain.ii]

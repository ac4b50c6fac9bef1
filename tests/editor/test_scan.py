"""Symbols, words and completions of texts, also of those that do not compile."""

from pathlib import Path

import pytest

from hls.editor.analysis import Request, front_end, plan
from hls.editor.scan import definitions, symbols, word_at
from hls.editor.vocabulary import complete, describe
from hls.options import Options

TEXT = """\
#pragma OPENCL EXTENSION cl_intel_channels : enable
#define WIDE(x) \\
    ((x) * 2)
typedef struct point { int x, y; } point;
channel int chain[4] __attribute__((depth(8)));
int declared(int);
// int commented(int x) { }
static int helper(int x) { if (x) { return WIDE(x); } return 0; }
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void run(__global int *a)
{
    char *s = "void text() {";
    a[0] = helper(1);
}
"""


def told(text: str) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.name, one.span.line, one.last_line) for one in symbols(text, "k.cl")]


def test_symbols():
    assert told(TEXT) == [
        ("macro", "WIDE", 2, 2),
        ("struct", "point", 4, 4),
        ("type", "point", 4, 4),
        ("channel", "chain", 5, 5),
        ("function", "helper", 8, 8),
        ("kernel", "run", 10, 14),
    ]


def test_a_symbol_has_its_place():
    (span,) = definitions(TEXT, "k.cl", "helper")
    assert (span.line, span.column, span.length) == (8, 12, 6)
    assert definitions(TEXT, "k.cl", "declared") == ()


def test_half_a_text_has_symbols():
    """Each beginning of the text has what it has of the whole's; only the last name may be cut off."""
    whole = told(TEXT)
    for end in range(len(TEXT)):
        *complete_ones, _ = [(one[0], one[1], one[2]) for one in told(TEXT[:end])] or [None]
        assert set(complete_ones) <= {(one[0], one[1], one[2]) for one in whole}, TEXT[:end]
    assert told(TEXT[: TEXT.index("a[0]")])[-1] == ("kernel", "run", 10, 13)


@pytest.mark.parametrize("column, name", [(0, ""), (4, "a_1"), (7, "a_1"), (8, ""), (9, "b")])
def test_word_at(column, name):
    assert word_at("    a_1 +b", column) == name


def test_what_may_be_typed():
    def names(before: str) -> set[str]:
        return {one.name for one in complete(before, TEXT, "k.cl")}

    assert {"unroll", "ivdep", "ii"} <= names("#pragma ") and "int" not in names("  # pragma un")
    assert {"numbanks", "doublepump"} <= names("  int x[4] __attribute__((num")
    assert {"helper", "chain", "float4", "get_global_id", "mad24", "read_channel_intel"} <= names("  x = ")
    assert "numbanks" not in names("  __attribute__((numbanks(4))) int x[4];")


def test_a_word_means_what_its_line_says():
    pragma, attribute = "#pragma max_concurrency 2", "__attribute__((max_concurrency(2)))"
    assert "pragma of a loop" in describe(pragma, 10, "", "k.cl").meaning
    assert "attribute of variables in kernels" in describe(attribute, 18, "", "k.cl").meaning
    assert describe("max_concurrency", 3, "", "k.cl") is None
    assert describe("x = helper(1)", 5, TEXT, "k.cl").meaning == "function, line 8"
    assert "share the values" in describe("work_group_all(1)", 3, "", "k.cl").meaning


def test_half_a_text_has_messages():
    """None is an internal error, and each has its place in the text."""
    for end in range(0, len(TEXT), 7):
        for one in front_end(Request(TEXT[:end], "/k.cl", "de5net", Options())).messages:
            assert one.code.number != "E0901" and "internal" not in one.message
            assert one.span.file == "/k.cl" and 1 <= one.span.line <= TEXT.count("\n") + 1


def test_a_header_needs_no_kernel():
    text = "int twice(int x) { return 2 * x; }\n"
    assert front_end(Request(text, "/a.cl.h", "de5net", Options())).messages == ()
    assert [one.code.number for one in front_end(Request(text, "/a.cl", "de5net", Options())).messages] == ["E0108"]


def test_arrays_have_their_banks(tmp_path: Path):
    text = """__kernel void f(__global int *restrict a) {
        __local int __attribute__((numbanks(4), bankwidth(4))) t[64];
        int small[4];
        for (int i = 0; i < 64; i++) t[i] = a[i];
        for (int i = 0; i < 64; i++) small[i & 3] = t[63 - i];
        a[0] = small[a[1] & 3];
    }"""
    hints = plan(Request(text, str(tmp_path / "k.cl"), "de5net", Options())).hints
    assert [(one.span.line, one.label) for one in hints if one.subject == "memory"] == [
        (2, "4 banks"),
        (3, "one wide register of 128 bits"),
    ]

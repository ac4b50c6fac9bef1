"""Macros: a large file of macros that is processed in parts expands to the same text as in one piece."""

import importlib
import random
import re
import time

import pytest

from hls.diag import CompileError, render
from hls.frontend import parse_source

preprocess = importlib.import_module("hls.frontend.preprocess")

MACROS = """
#define NOTHING
#define ONE 1
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define TWICE(x) MOST(x, x) + NAME(x)
#define NAME(x) v ## x
#define ALIAS MOST
#define LIST(first, ...) { first, __VA_ARGS__ }
"""
OPENING = "#define OPEN MOST(\n"


def words(text: str) -> str:
    return "".join(preprocess.preprocess(text, "macros.cl", {}, []).text.split())


def random_text(rng: random.Random, length: int) -> str:
    def piece(depth: int) -> str:
        inner = (lambda: piece(depth - 1)) if depth else (lambda: rng.choice("abc"))
        return rng.choice(
            [
                lambda: rng.choice(["a", "ONE", "NOTHING", "MOST", "f(a)", "TWICE (b)", "{ a; }", "(a; b)"]),
                lambda: f"MOST({inner()}, {inner()})",
                lambda: f"ALIAS\n({inner()},\n{inner()})",
                lambda: f"LIST({inner()}, {inner()}, {inner()})",
                lambda: f"{inner()} {rng.choice('+-*/=&|<>;')} {inner()}",
                lambda: f"({inner()})",
                lambda: f"TWICE({rng.choice('abc')})",
            ]
        )()

    return "".join(piece(3) + rng.choice([";\n", ", ", " + ", "\n"]) for _ in range(length))


@pytest.mark.parametrize("seed", range(12))
def test_parts_of_a_file_become_what_they_would_together(seed, monkeypatch):
    rng = random.Random(seed)
    text = MACROS + random_text(rng, 40)
    monkeypatch.setattr(preprocess, "_PIECE", 1 << 30)
    together = words(text)
    monkeypatch.setattr(preprocess, "_PIECE", rng.choice([0, 3, 20]))
    assert words(text) == together


def test_a_macro_that_is_half_a_call(monkeypatch):
    """The call goes on past signs that seem to stand outside parentheses, so nothing is parted."""
    monkeypatch.setattr(preprocess, "_PIECE", 0)
    assert words(MACROS + OPENING + "x = OPEN a = 1, b = 2);") == "x=((a=1)>(b=2)?(a=1):(b=2));"


def test_time_grows_as_the_calls_do():
    def taken(lines: int) -> float:
        text = MACROS + "__kernel void f(__global int *a) {\n" + "a[0] = MOST(a[1], a[ONE]);\n" * lines + "}\n"
        before = time.process_time()
        preprocess.preprocess(text, "macros.cl", {}, [])
        return time.process_time() - before

    taken(100)
    short, long = min(taken(500) for _ in range(3)), taken(5000)
    assert long < 20 * short, f"{short:.2f} s for 500 calls, {long:.2f} s for 5,000"


def test_large_files_may_have_many_calls():
    """What macros may become grows with the file; that of a small one stays small."""
    text = MACROS + "__kernel void f(__global int *a) {\n" + "a[0] = MOST(a[1], a[ONE]);\n" * 6000 + "}\n"
    assert preprocess.preprocess(text, "macros.cl", {}, []).text
    bomb = (
        "#define A0 x\n"
        + "".join(f"#define A{k} " + f"A{k - 1} " * 10 + "\n" for k in range(1, 12))
        + "__kernel void f() { A11; }"
    )
    with pytest.raises(CompileError, match="macros become more than 20"):
        parse_source(bomb)


def test_what_one_program_makes_of_a_predefined_macro_is_unknown_to_the_next():
    assert words("#undef INT_MAX\n#define INT_MAX 7\n#undef NULL\nINT_MAX NULL") == "7NULL"
    assert words("INT_MAX NULL") == "2147483647((void*)0)"
    assert words("__builtin_expect(INT_MAX, 1)") == words("__builtin_expect(INT_MAX, 1)") == "(2147483647)"


PRESUMED = """first __LINE__ __FILE__
#define HERE __LINE__ __FILE__
#line 70 "here.cl"
HERE
#if 0
#line 5 "not.cl"
#endif
HERE
#define NUMBER 7
#line NUMBER
HERE /*
*/ HERE
# 100 "there.cl" 2
__LINE__ __FILE__
#include "inside.h"
HERE
"""


def test_line_directives_change_line_and_file_until_the_end_of_their_file(tmp_path):
    (tmp_path / "inside.h").write_text('__LINE__\n#line 9 "deep.h"\nHERE\n')
    found = preprocess.preprocess(PRESUMED, "macros.cl", {}, [str(tmp_path)])
    wanted = 'first 1 "macros.cl" 70 "here.cl" 74 "here.cl" 7 "here.cl" 8 "here.cl" 100 "there.cl" 1 9 "deep.h" 102 "there.cl"'
    assert " ".join(found.text.split()) == wanted
    assert found.warnings == [] and "__FILE__" not in found.macros


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ("#line", "#line needs the number of the next line, 1 to 2147483647"),
        ("#line 0", "#line needs the number of the next line"),
        ("#line 2147483648", "#line needs the number of the next line"),
        ("#line NAME", "#line needs the number of the next line"),
        ("#line 3 file.cl", "the file's name in #line is a text in quotes"),
    ],
)
def test_line_directives_that_say_nothing(directive, message):
    with pytest.raises(CompileError) as caught:
        parse_source(f"\n{directive}\n", "k.cl")
    found = caught.value.diagnostics[0]
    assert message in found.message and (found.span.file, found.span.line) == ("k.cl", 2)


#: directives without an operand, or with one that is no name, and what is wrong
MALFORMED = {
    "#ifdef (defined A) && (!defined B)": "#ifdef needs a name, not '('",
    "#ifndef 3": "#ifndef needs a name, not '3'",
    "#ifdef": "#ifdef needs something after it",
    "#if": "#if needs something after it",
    "#if 0\n#elif": "#elif needs something after it",
    "#define": "#define needs something after it",
    "#define 3 4": "#define needs a name, not '3'",
    "#undef": "#undef needs something after it",
    "#undef 4": "#undef needs a name, not '4'",
    "#include": "#include needs something after it",
}


def nested(directive: str) -> str:
    """The directive with the ``#endif`` that it needs."""
    return f"{directive}\n" + "#endif\n" * directive.count("#if")


@pytest.mark.parametrize(("directive", "message"), MALFORMED.items())
def test_malformed_directives_are_refused_where_they_take_effect(directive, message):
    with pytest.raises(CompileError, match=re.escape(message)):
        words(f"#if 1\n{nested(directive)}#endif\nkept\n")


@pytest.mark.parametrize("directive", MALFORMED)
def test_directives_that_a_condition_leaves_out_are_read_as_far_as_their_names(directive):
    assert words(f"#ifdef NO\n{nested(directive)}#else\nkept\n#endif\n") == "kept"
    assert words(f"#if 1\nkept\n#else\n{nested(directive)}#endif\n") == "kept"


def test_messages_name_the_real_file():
    with pytest.raises(CompileError) as caught:
        parse_source('#line 100 "other.cl"\nnothing;\n', "k.cl")
    assert (caught.value.diagnostics[0].span.file, caught.value.diagnostics[0].span.line) == ("k.cl", 2)


MARKED = """# 0 "made/a.cl"
# 1 "<built-in>"
# 7 "made/a.cl" 2
__kernel void f(__global int *o) {
    o[0] = one;
}
# 3 "b \\"x\\".cl"
float g(void) { return two; }
# 2000000000 "far.cl"
float h(void) { return three; }
"""


def test_messages_name_the_file_of_a_line_marker():
    """What a preprocessor wrote, or ``aoc`` joins: the place is that of the user's file, the text what was read."""
    with pytest.raises(CompileError) as caught:
        parse_source(MARKED, "k.cl")
    found = {
        (d.span.file, d.span.line, d.span.column): render(d, caught.value.sources) for d in caught.value.diagnostics
    }
    assert [*found] == [('b "x".cl', 3, 24), ("far.cl", 2000000000, 24), ("made/a.cl", 8, 12)]
    assert found["made/a.cl", 8, 12].splitlines()[1:] == ["        o[0] = one;", "               ^~~"]
    assert "three;" not in found["far.cl", 2000000000, 24]  # no text of two billion lines


def test_the_text_of_a_marked_file_is_that_between_its_markers():
    """Reports show it; the marker of the next file is no line of this one."""
    text = '# 1 "h.h" 1\nint f(int x) { return x; }\n# 2 "k.c" 2\n\n__kernel void k(__global int *a) { *a = f(3); }\n'
    sources = parse_source(text, "k.cl").module.sources
    assert sources["h.h"] == "int f(int x) { return x; }"
    assert sources["k.c"].splitlines() == ["", "", "__kernel void k(__global int *a) { *a = f(3); }"]


def test_no_place_is_in_line_0():
    """GCC begins with `# 0 "file"`; an editor counts lines from 1."""
    with pytest.raises(CompileError) as caught:
        parse_source('# 0 "k.c"\nint x(void) { return one; }\n# 7 "k.c"\nint y(void) { return two; }\n', "k.cl")
    assert [(d.span.file, d.span.line) for d in caught.value.diagnostics] == [("k.c", 1), ("k.c", 7)]


def test_nothing_is_shown_of_a_marked_line_with_two_texts():
    text = '# 3 "a.h"\nint x(void) { return one; }\n# 3 "a.h"\nint y(void) { return two; }\n'
    with pytest.raises(CompileError) as caught:
        parse_source(text, "k.cl")
    assert "return" not in "".join(render(d, caught.value.sources) for d in caught.value.diagnostics)


def test_a_marked_line_is_shown_also_if_it_is_left_out_where_it_is_repeated():
    """As joined sources leave out what a header declares a second time."""
    with pytest.raises(CompileError) as caught:
        parse_source('# 3 "a.h"\nint x(void) { return one; }\n# 3 "a.h"\n                 \n', "k.cl")
    assert "return one" in render(caught.value.diagnostics[0], caught.value.sources)


def test_operators_of_preprocessed_text_may_come_from_macros():
    """`MAX(n)` and `if (n) LOG(n);` are well as they were written."""
    text = "__kernel void k(__global uint *a, uint n) {\n  a[0] = ((n) < 0 ? 0 : (n));\n  if (n);\n}\n"
    assert [d.code.number for d in parse_source(text, "k.cl").warnings] == ["W0218", "W0221"]
    assert not parse_source(f'# 1 "a.cl"\n{text}', "k.cl").warnings


def test_a_pragma_of_a_file_that_is_included_twice_has_the_macros_of_each_time(tmp_path):
    (tmp_path / "loop.h").write_text("#pragma unroll N\n")
    found = preprocess.preprocess(
        '#define N 2\n#include "loop.h"\n#undef N\n#define N 8\n#include "loop.h"\n', "k.cl", {}, [str(tmp_path)]
    )
    assert found.text.split("\n")[1::2] == ["#pragma unroll 2", "#pragma unroll 8"]

"""No text may bring the frontend down: what is wrong is said as a CompileError, whatever it is."""

import random
import time

import pytest
from mutants import BAD, GOOD, mutated

from hls.diag import CompileError, render
from hls.frontend import parse_source
from hls.ir.verifier import verify_module


def accepts(text: str) -> bool:
    """Whether the text compiles; then its IR must be well formed, else its messages must be showable."""
    try:
        verify_module(parse_source(text, "fuzz.cl").module)
    except CompileError as error:
        assert error.diagnostics, "an error without a message"
        assert all(render(d, error.sources) for d in error.diagnostics)
        return False
    return True


@pytest.mark.parametrize("seed", range(8))
def test_mutated_kernels(seed):
    rng = random.Random(seed)
    results = [accepts(mutated(rng, rng.choice([GOOD, BAD]))) for _ in range(60)]
    assert not all(results), "the mutations change nothing"


@pytest.mark.parametrize("text", [
    "", "\n", "}", "(", "#", "#define", "#include", "#if", "#pragma", "#pragma unroll", "__kernel", "__attribute__",
    "__attribute__((", "__kernel void f(", "int x[] = {", "a b c;", "void f() { x }", "\\", "'", "\"", "/*", "#line 3",
    "__kernel void f(void) { " + "(" * 3000 + "1" + ")" * 3000 + "; }",
    "__kernel void f(void) { int x = " + "-" * 5000 + "1; }",
    "__kernel void f(void) { int x = 1" + " + 1" * 5000 + "; }",
    "__kernel void f(void) " + "{" * 2000 + "}" * 2000,
    "#define A B\n#define B A\n__kernel void f(void) { int x = A; }",
    "#define F(x) F(x) F(x)\n__kernel void f(void) { F(F(F(1))); }",
    '#include "fuzz.cl"', "#include <", "__kernel void f(a, b) int a; int b; { }", "__kernel void f(int, ...) { }",
    "void f(void) __kernel { }", "__kernel void f(int a, int a) { }", "typedef int int;", "enum { A = 1 / 0 };",
    "enum E;", "__kernel void f(void) { switch (1) ; }", "__kernel void f(void) { switch (1) { int x; case 1: ; } }",
    "__kernel void f(void) { for (;;) for (;;) break; }", "__constant int a[] = {};", "__constant int a[2][] = {1};",
    "__kernel void f(void) { int a[2] = {[3] = 1}; int b = {1, 2}; int c = {{1}}; int d[2] = 3; }",
    "__kernel void f(void) { return f(); }", "__kernel void f(void) { sizeof(void); sizeof(f); -f; *1; &1; f.x; }",
    "int f() { } int f; __kernel void g(void) { (1)(2); 1[2]; \"a\"[0]; }", "__kernel void f(__global int a) { }",
    "__kernel void f(void) { int x = x.y->z; unsigned signed x; long long long y; }",
])
def test_strange_texts(text):
    accepts(text)


def _bomb(first: str, step) -> str:
    """Macros of which each is many of the one before."""
    return "\n".join([f"#define A0 {first}", *(f"#define A{k} {step(k - 1)}" for k in range(1, 12))]) + "\n__kernel void f() { A11; }"


_HOSTILE = {
    "parentheses": (lambda: "__kernel void f() { " + "(" * 5_000_000 + ")" * 5_000_000 + "; }", "characters"),
    "braces": (lambda: "__kernel void f() " + "{" * 5_000_000 + "}" * 5_000_000, "characters"),
    "brackets": (lambda: "__kernel void f() { " + "[" * 1_000_000, "brackets nest more than 400 deep"),
    "signs": (lambda: "__kernel void f(int n) { n = " + "-" * 3_000_000 + "n; }", "more than 200,000 words"),
    "word": (lambda: "__kernel void f() { " + "1" * 100_000 + "; }", "a word of 100,000 characters"),
    "format": (lambda: '__kernel void f() { printf("' + "%d" * 100_000 + '"); }', "a word of 200,002 characters"),
    "macros": (lambda: _bomb("x", lambda k: f"A{k} " * 10), "macros and includes become"),
    "array": (lambda: "__kernel void f(__global int *a) { int b[1L << 40]; a[0] = b[1]; }", "needs 4398046511104 bytes"),
    "struct": (lambda: "".join(f"struct S{k} {{ {f'struct S{k - 1} a, b' if k else 'int a'}; }};" for k in range(40))
               + "__kernel void f(__global struct S39 *p) { p[0] = p[1]; }", "bytes"),
    "recursion": (lambda: "int g(int); int h(int x) { return g(x); } int i(int x) { return h(x); } int g(int x) { return i(x); }"
                  "__kernel void f(__global int *a) { a[0] = g(1); }", "recursion is not supported: h -> g -> i -> h"),
    "junk": (lambda: random.Random(1).randbytes(200_000).decode("latin1"), ""),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_texts_are_refused_at_once(name):
    """Within 5 s and 1 GiB, which is why the time of the process counts here: machines are shared."""
    make, message = _HOSTILE[name]
    text, before = make(), time.process_time()
    with pytest.raises(CompileError) as caught:
        parse_source(text, "hostile.cl")
    assert time.process_time() - before < 5
    assert message in caught.value.diagnostics[0].message


def test_a_file_that_includes_itself(tmp_path):
    (tmp_path / "loop.h").write_text('#include "loop.h"\n')
    with pytest.raises(CompileError, match="include each other"):
        parse_source('#include "loop.h"\n__kernel void f() { }', "main.cl", {}, [str(tmp_path)])

"""No text may bring the frontend down: what is wrong is said as a CompileError, whatever it is."""

import random
import re
from pathlib import Path

import pytest

from hls.diag import CompileError, render
from hls.frontend import parse_source
from hls.ir.verifier import verify_module

ROOT = Path(__file__).parents[3]
GOOD = [p.read_text() for p in sorted(ROOT.glob("examples/*/kernel.cl"))]
BAD = [p.read_text() for p in sorted(ROOT.glob("tests/errors/*.cl"))]
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_STRANGE = ["#", "##", "\\\n", "\"", "'", "/*", "*/", "(", ")", "{", "}", "[", "]", ";", ",", "*", "&", "::", "?", "0x",
            "1e", "__attribute__((", "__kernel", "double4", "struct", "#pragma unroll", "#if", "case", "\0", "é", "$",
            "...", "goto", "typedef", "sizeof", "->", "= {", "for (", "enum {", "1e99999", "0b2", "\t", "restrict"]


def mutated(rng: random.Random) -> str:
    """A seed with tokens deleted, doubled, swapped, replaced or inserted, or cut off."""
    tokens = _TOKEN.findall(rng.choice(rng.choice([GOOD, BAD])))
    for _ in range(rng.randint(1, 6)):
        k, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                del tokens[k:k + rng.randint(1, 4)]
            case 1:
                tokens.insert(k, tokens[k])
            case 2:
                tokens[k], tokens[j] = tokens[j], tokens[k]
            case 3:
                tokens[k] = tokens[j]
            case 4:
                tokens.insert(k, rng.choice(_STRANGE))
            case 5:
                del tokens[k + rng.randrange(200):]
        if not tokens:
            break
    return "".join(tokens)


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
    results = [accepts(mutated(rng)) for _ in range(60)]
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

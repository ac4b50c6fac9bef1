"""No text may crash the frontend: every mistake is reported as a CompileError."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from mutants import BAD, GOOD, mutated

from hls.cli import main
from hls.diag import CompileError, render
from hls.frontend import parse_source
from hls.ir.verifier import verify_module

ROOT = Path(__file__).parents[3]


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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "}",
        "(",
        "#",
        "#define",
        "#include",
        "#if",
        "#pragma",
        "#pragma unroll",
        "__kernel",
        "__attribute__",
        "__attribute__((",
        "__kernel void f(",
        "int x[] = {",
        "a b c;",
        "void f() { x }",
        "\\",
        "'",
        '"',
        "/*",
        "#line 3",
        "__kernel void f(void) { " + "(" * 3000 + "1" + ")" * 3000 + "; }",
        "__kernel void f(void) { int x = " + "-" * 5000 + "1; }",
        "__kernel void f(void) { int x = 1" + " + 1" * 5000 + "; }",
        "__kernel void f(void) " + "{" * 2000 + "}" * 2000,
        "#define A B\n#define B A\n__kernel void f(void) { int x = A; }",
        "#define F(x) F(x) F(x)\n__kernel void f(void) { F(F(F(1))); }",
        '#include "fuzz.cl"',
        "#include <",
        "__kernel void f(a, b) int a; int b; { }",
        "__kernel void f(int, ...) { }",
        "void f(void) __kernel { }",
        "__kernel void f(int a, int a) { }",
        "typedef int int;",
        "enum { A = 1 / 0 };",
        "enum E;",
        "__kernel void f(void) { switch (1) ; }",
        "__kernel void f(void) { switch (1) { int x; case 1: ; } }",
        "__kernel void f(void) { for (;;) for (;;) break; }",
        "__constant int a[] = {};",
        "__constant int a[2][] = {1};",
        "__kernel void f(void) { int a[2] = {[3] = 1}; int b = {1, 2}; int c = {{1}}; int d[2] = 3; }",
        "__kernel void f(void) { return f(); }",
        "__kernel void f(void) { sizeof(void); sizeof(f); -f; *1; &1; f.x; }",
        'int f() { } int f; __kernel void g(void) { (1)(2); 1[2]; "a"[0]; }',
        "__kernel void f(__global int a) { }",
        "__kernel void f(void) { int x = x.y->z; unsigned signed x; long long long y; }",
    ],
)
def test_strange_texts(text):
    accepts(text)


def _bomb(first: str, step) -> str:
    """Macros of which each is many of the one before."""
    return (
        "\n".join([f"#define A0 {first}", *(f"#define A{k} {step(k - 1)}" for k in range(1, 12))])
        + "\n__kernel void f() { A11; }"
    )


_HOSTILE = {
    "parentheses": (lambda: "__kernel void f() { " + "(" * 5_000_000 + ")" * 5_000_000 + "; }", "characters"),
    "braces": (lambda: "__kernel void f() " + "{" * 5_000_000 + "}" * 5_000_000, "characters"),
    "brackets": (lambda: "__kernel void f() { " + "[" * 1_000_000, "brackets nest more than 400 deep"),
    "signs": (lambda: "__kernel void f(int n) { n = " + "-" * 3_000_000 + "n; }", "more than 200,000 words"),
    "word": (lambda: "__kernel void f() { " + "1" * 100_000 + "; }", "a word of 100,000 characters"),
    "format": (lambda: '__kernel void f() { printf("' + "%d" * 100_000 + '"); }', "a word of 200,002 characters"),
    "macros": (lambda: _bomb("x", lambda k: f"A{k} " * 10), "macros become more than"),
    "array": (
        lambda: "__kernel void f(__global int *a) { int b[1L << 40]; a[0] = b[1]; }",
        "needs 4398046511104 bytes",
    ),
    "struct": (
        lambda: (
            "".join(f"struct S{k} {{ {f'struct S{k - 1} a, b' if k else 'int a'}; }};" for k in range(40))
            + "__kernel void f(__global struct S39 *p) { p[0] = p[1]; }"
        ),
        "bytes",
    ),
    "recursion": (
        lambda: (
            "int g(int); int h(int x) { return g(x); } int i(int x) { return h(x); } int g(int x) { return i(x); }"
            "__kernel void f(__global int *a) { a[0] = g(1); }"
        ),
        "recursion is not supported: h -> g -> i -> h",
    ),
    "truncated": (lambda: (ROOT / "examples/matmul/kernel.cl").read_text()[:-20], "at the end of the file"),
    "stringizing": (
        lambda: (
            "#define S(x) #x\n#define T(x) S(x x x x x x x x)\n__kernel void f(int n) { printf("
            + "T(" * 20
            + "n"
            + ")" * 20
            + "); }"
        ),
        "macros become more than",
    ),
    "shift": (lambda: "#if (1 << 40000000000)\n#endif\n__kernel void f() { x; }", "'x' is not declared"),
    "device": (lambda: '#include "/dev/zero"\n__kernel void f() { }', "'/dev/zero' is no regular file"),
    "include loop": (lambda: '#include "hostile.cl"\n__kernel void f() { }', "include each other"),
    "junk": (lambda: random.Random(1).randbytes(200_000).decode("latin1"), ""),
}


#: prints the seconds of processor time and the bytes that the command took; ru_maxrss would begin with the bytes of the
#: process that starts it
_MEASURED = """
import re, resource, sys
from hls.cli import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1])
    print(used.ru_utime + used.ru_stime, most * 1024)
"""


def refused(text: str, folder: Path) -> tuple[subprocess.CompletedProcess, float, float]:
    """What the command says, and the seconds of processor time and the bytes it took."""
    (folder / "hostile.cl").write_bytes(text.encode("latin1"))
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, "compile", "hostile.cl", "-o", "out"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    return done, *map(float, done.stdout.splitlines()[-1].split())


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> float:
    """The seconds that the command takes to refuse next to nothing: one where nobody else is on the machine."""
    return refused("__kernel void f() { x; }", tmp_path_factory.mktemp("start"))[1]


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_texts_are_refused_at_once(name, start, tmp_path):
    """By the command, within 5 s and 1 GiB: the time is that of a few starts of the command, as machines are shared."""
    make, message = _HOSTILE[name]
    done, seconds, size = refused(make(), tmp_path)
    assert done.returncode == 1, done.stderr[-500:]
    assert re.search(r"^hostile\.cl:[0-9:]* error\[E\d+\]: .*" + re.escape(message), done.stderr, re.MULTILINE), (
        done.stderr[:500]
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
    assert len(done.stderr) < 20_000, "nobody reads so much"
    assert seconds < 5 * start
    assert size < 1 << 30


def test_a_file_that_includes_itself(tmp_path):
    (tmp_path / "loop.h").write_text('#include "loop.h"\n')
    with pytest.raises(CompileError, match="include each other"):
        parse_source('#include "loop.h"\n__kernel void f() { }', "main.cl", {}, [str(tmp_path)])


def test_bytes_of_another_encoding_in_comments_and_texts(tmp_path):
    """They are read as Latin-1 where the source is shown, at the same columns."""
    source = (
        b'#include "h.h"\n__kernel void k(__global int *a) { /* caf\xe9 */ a[0] = X; printf("\xe4 %d\\n", a[0]); }\n'
    )
    (tmp_path / "k.cl").write_bytes(source)
    (tmp_path / "h.h").write_bytes(b"// \xfcber\n#define X 5\n")
    done = CliRunner().invoke(main, ["compile", str(tmp_path / "k.cl"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    texts = {
        Path(one["file"]).name: one["text"] for one in json.loads((tmp_path / "out/report.json").read_text())["sources"]
    }
    assert texts["k.cl"] == source.decode("latin-1")

"""FPGA dialect beyond plain OpenCL C, against PoCL if it accepts it, too: pointers in arrays and through pointers,
null, components by index, texts, bools in memory, names of the C library's types."""

import numpy as np
import pytest
from pocl import compare, pocl_context, run_both, run_here

from hls.diag import CompileError
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.launch import IndexSpace
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from sim.emulator import Emulator


@pytest.fixture(scope="module")
def context():
    return pocl_context()


POINTERS = """
void set(int **where, int *to) { *where = to; }
void swap(__global int **p, __global int **q) { __global int *t = *p; *p = *q; *q = t; }
int sum(int *row[3], int n) { int s = 0; for (int i = 0; i < n; i++) s += row[i % 3][i & 3]; return s; }
typedef struct { __global int *base; int n; } View;
__kernel void k(__global int *a, __global int *b, __global int *o, int n, int m) {
    __global int *both[2] = { a, b };
    for (int i = 0; i < n; i++) o[i] = both[(i >> 1) & 1][i];
    __global int *x = a, *y = b;
    for (int i = 0; i < m; i++) { o[8] = o[8] * 3 + x[i]; swap(&x, &y); }
    int u = 5, v = 6; int *p = &u; set(&p, m > 2 ? &v : &u); *p += 10; o[9] = u * 100 + v;
    int cells[3][4] = { { 1, 2, 3, 4 }, { 10, 20, 30, 40 }, { 100, 200, 300, 400 } };
    int *rows[3]; for (int i = 0; i < 3; i++) rows[(i + m) % 3] = cells[i];
    o[10] = sum(rows, n); rows[1][2] = 7; o[11] = cells[(4 - m % 3) % 3][2];
    int **pp = rows + 1; o[12] = pp[1][0]; int ***ppp = &pp; o[13] = (*ppp)[0][3];
    View views[2]; views[0].base = a; views[0].n = 3; views[1].base = b + 1; views[1].n = 2;
    o[14] = views[m & 1].base[views[m & 1].n];
    __global int *q = 0; if (m > 2) q = a + 1;
    o[15] = q ? q[0] : -1; o[16] = !q; o[17] = (q != NULL && *q > 0) + 2 * (q == a + 1); o[18] = a == (__global int *)0;
    __global int *late[2] = { 0 }; if (n & 1) late[0] = b; late[1] = late[0];
    o[19] = late[1] == 0 ? 77 : late[1][2];
}
"""


@pytest.mark.parametrize("n, m", [(8, 2), (7, 4)])
def test_pointers(context, n, m):
    rng = np.random.default_rng(n)
    run_both(
        context,
        POINTERS,
        "k",
        {
            "a": rng.integers(-99, 99, 9, "i4"),
            "b": rng.integers(-99, 99, 9, "i4"),
            "o": np.zeros(20, "i4"),
            "n": np.int32(n),
            "m": np.int32(m),
        },
    )


COMPONENTS = """
typedef struct { float4 v; int n; } Cell;
float pick(float4 v, int i) { return v[i]; }
__kernel void k(__global float4 *a, __global int8 *b, __global float *o, int n) {
    float4 x = a[0]; int8 y = b[0]; float s = 0;
    for (int i = 0; i < 4; i++) s += x[i] * (i + 1);
    o[0] = s; x[n & 3] = 9.0f; o[1] = x[0] + 2 * x[1] + 4 * x[2] + 8 * x[3];
    o[2] = pick(a[1], n & 3) + (a[0] + a[1])[2] + a[1].wzyx[1];
    int t = 0; for (int i = 0; i < 8; i++) { y[i] += i; t = t * 5 + y[7 - i]; } o[3] = (float)(t & 0xffff);
    a[1][n & 3] = -1.0f; b[0][1] = 42; b[0][n & 7] += 3;
    Cell c[2]; c[0].v = x; c[1].v = a[1]; c[n & 1].v[(n >> 1) & 3] = 0.5f; o[4] = c[0].v.x + c[1].v.y + c[1].v[3];
    __local float4 l[2]; l[0] = x; l[1] = a[0]; l[n & 1][2] = 8.0f; o[5] = l[0].z + l[1][2];
}
"""


@pytest.mark.parametrize("n", [3, 6])
def test_components_by_index(context, n):
    rng = np.random.default_rng(n)
    run_both(
        context,
        COMPONENTS,
        "k",
        {
            "a": rng.integers(-9, 9, 8).astype("f4"),
            "b": rng.integers(-9, 9, 8, "i4"),
            "o": np.zeros(6, "f4"),
            "n": np.int32(n),
        },
    )


COLOURS = """
__kernel void k(__global float4 *a, __global int2 *b, __global float *o) {
    float4 x = a[0];
    x.rg = x.ba;
    x.abgr.r += 3;
    o[0] = x.r; o[1] = x.g; o[2] = x.b; o[3] = x.a;
    b[0].g = b[0].r + b[0].gr.x;
    float3 y = a[1].bgr; y.b *= 2; o[4] = y.r; o[5] = y.g; o[6] = y.b + a[1].s3;
}
"""


def test_components_by_colour(context):
    run_both(
        context, COLOURS, "k", {"a": np.arange(1, 9).astype("f4"), "b": np.array([5, 6], "i4"), "o": np.zeros(7, "f4")}
    )


MEMORY = """
typedef struct { int at; bool leaf; short n; bool used[3]; } Node;
bool flip(bool *b) { *b = !*b; return *b; }
constant int LENGTH = 4;
__constant char name[] = "abc\\n\\x41";
__constant char words[][4] = {"ab", [2] = {"xyz"}, "pqrs"};
typedef struct { char tag[3]; int v; uchar last[2][2]; } Entry;
__constant Entry entries[2] = {{"in", 5, {"x", "y"}}, "ou", 7, "z"};
__kernel void k(__global Node *nodes, __global int *o, int n, unsigned long long w) {
    Node x = nodes[0]; x.leaf = !x.leaf; x.used[n & 1] = n > 2; nodes[1] = x; nodes[1].used[2] ^= 1;
    bool seen[4] = { false }; seen[n & 3] = 7; o[0] = seen[0] + 2 * seen[1] + 4 * seen[2] + 8 * seen[3];
    __local bool flags[4]; for (int i = 0; i < LENGTH; i++) flags[i] = i & n;
    o[1] = flags[n & 3] + sizeof(Node) + sizeof(bool); bool b = n & 1; o[2] = flip(&b) + 2 * b + 4 * flip(&seen[1]);
    const int HALF = 2; int a[HALF * 2]; for (int i = 0; i < HALF * 2; i++) a[i] = name[i]; o[3] = a[n & 3] + sizeof(name);
    char local_text[4] = "xyz", cut[2] = "pq"; o[4] = local_text[n & 3] * 256 + cut[n & 1]; o[5] = (int)(w >> 33) + (int)(3ULL << 31 >> 30);
    o[6] = words[n & 3][n >> 1] + 256 * sizeof(words); o[7] = entries[n & 1].tag[1] + entries[n >> 1].v * 256 + entries[0].last[n & 1][0] * 65536;
}
"""


@pytest.mark.parametrize("n", [1, 3])
def test_bools_and_texts_in_memory(context, n):
    nodes = np.zeros(24, "u1")
    nodes[[0, 4, 6, 8]] = [9, n & 1, 5, 1]
    run_both(
        context,
        MEMORY,
        "k",
        {"nodes": nodes, "o": np.zeros(8, "i4"), "n": np.int32(n), "w": np.uint64(0x123456789ABCDEF)},
    )


ACCEPTED = {
    "standard types": '#include <stdint.h>\n#include "ihc_apint.h"\ntypedef unsigned char uint8_t;\n'
    "__kernel void k(__global int32_t *a, uint64_t n) { uint8_t x = n; a[0] = x; }",
    "a label behind a loop's attribute": "__kernel void k(__global int *a) {"
    " __attribute__((opencl_unroll_hint(4))) inner: for (int i = 0; i < 16; i++) a[i] = i; }",
    "a constant variable in a pragma": "__kernel void k(__global int *a) { const int U = 4;\n#pragma unroll U\n"
    "for (int i = 0; i < 16; i++) a[i] = i; }",
    "attributes between declarators": "__kernel void k(__global int *a) {"
    " __local int __attribute__((numbanks(2))) x[8], __attribute__((numbanks(4))) y[8];"
    " x[0] = a[0]; y[1] = x[0]; a[1] = y[1]; }",
    "a parameter's length from another": "void f(int n, int m[n][2]) { m[0][n - 1] = 3; }"
    "__kernel void k(__global int *a) { int m[4][2]; f(2, m); a[0] = m[0][1]; }",
    "extensions": "#if !defined(cl_khr_fp64) || !defined(cl_intel_channels) || "
    "!defined(cl_khr_local_int32_base_atomics)\n#error\n"
    "#endif\n__kernel void k(__global float *a) { a[0] = M_PI_F + FLT_EPSILON + M_SQRT2_F; }",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_without_a_word(name):
    assert parse_source(ACCEPTED[name], "k.cl").warnings == ()


def test_numbers_on_the_command_line():
    """A macro's text keeps together what is written together, and nothing else."""
    source = "__kernel void k(__global float *a) { a[0] = SCALE -NEGATIVE; a[1] = TINY; a[2] = CALL(0.5f).x + M_PI_F; }"
    defines = {"SCALE": "1.5f", "NEGATIVE": "-2.25e-1f", "TINY": "0x1.8p-3f", "CALL(x)": "(float2)(x, 1.f)"}
    out = np.zeros(3, "f4")
    run_kernel(parse_source(source, "k.cl", defines).module, "k", {"a": out.view("u1")}, {}, (1,))
    np.testing.assert_array_equal(out, np.array([1.725, 0.1875, 0.5 + np.pi], "f4"))
    with pytest.raises(CompileError, match="expected ';' before '.5f'"):
        parse_source(source, "k.cl", {**defines, "TINY": "1 .5f"})


@pytest.mark.parametrize(
    "text, message",
    [
        ("__kernel void k(__global float4 *a) { a[0][4] = 1; }", "index 4 is outside 'float4', which has 4 components"),
        (
            "__kernel void k(__global float4 *a, int i) { a[0].x = (a[0] + a[1])[i]; }",
            "only of a variable or an element",
        ),
        ("#include <math.h>\n__kernel void k(__global int *a) { a[0] = 1; }", "file 'math.h' not found"),
        ("__kernel void k(__global float4 *a) { a[0].xg = 1; }", "'float4' has no component 'xg'"),
        ("__kernel void k(__global float2 *a) { a[0].b = 1; }", "'b' is outside 'float2', which has 2 components"),
    ],
)
def test_refused(text, message):
    with pytest.raises(CompileError) as caught:
        parse_source(text, "k.cl")
    assert message in caught.value.diagnostics[0].message


FLOW = """
enum Wide { BIG = 4294883355U, NEXT, LESS = -1 };
typedef float2 pair;
int digit(int x) { switch (x) { case 0: return 5; case 1: x += 2; default: return x * 3; } }
int broken(int x) { switch (x & 3) { case 0: return 5; default: if (x > 4) break; return 7; } return 9; }
__kernel void k(__global uint *o, int n) {
    pair __attribute__((bankwidth(sizeof(pair)))) a[2] = { { 1, 2 }, { 3, 4 } };
    o[0] = BIG * (uint)n; o[1] = NEXT >> 4; o[2] = LESS; o[3] = sizeof(BIG); o[4] = digit(n) + 100 * broken(n) + (int)a[n & 1].y;
}
"""


@pytest.mark.parametrize("n", [0, 1, 6])
def test_enums_and_switches(context, n):
    run_both(
        context,
        FLOW.replace(" __attribute__((bankwidth(sizeof(pair))))", ""),
        "k",
        {"o": np.zeros(5, "u4"), "n": np.int32(n)},
    )
    assert parse_source(FLOW, "k.cl").warnings == ()


CALLED = """
__kernel void add(__global int *a, int n) {
    enum { STEP = 3 }; struct Pair { int x, y; } p = { n, STEP };
    a[0] += p.x * p.y; if (n > 4) return; a[1]++;
}
__kernel void k(__global int *a, int n) { add(a, n); for (int i = 0; i < 3; i++) add(a + i, i + n); }
"""


def test_a_kernel_calls_another(context):
    run_both(context, CALLED, "k", {"a": np.arange(6, dtype="i4"), "n": np.int32(3)})


def test_texts_among_the_values_of_printf():
    source = '__kernel void k(float4 v) { printf("%s %-4s|%d %.1v4f %s%%\\n", "a" "b", "x", 7, v, "50% off"); }'
    written = []
    v = np.array([1, 2, 3, 4], "f4")
    Emulator(parse_source(source, "k.cl").module, hasty=True, write=written.append).run(
        "k", {}, {"v": v}, IndexSpace.of((1,))
    )
    assert "".join(written) == "ab x   |7 1.0,2.0,3.0,4.0 50% off%\n"


def test_arrays_of_characters_as_texts_of_printf():
    source = """__constant char name[] = "abc\\0d", form[] = "%s %d%%|%5s\\n"; const uchar other[4] = "xyz";
    __kernel void k(int n) { __constant char *p = name; printf(form, name, n, other); printf("%c", p[1]); }"""
    written = []
    Emulator(parse_source(source, "k.cl").module, hasty=True, write=written.append).run(
        "k", {}, {"n": np.int32(7)}, IndexSpace.of((1,))
    )
    assert "".join(written) == "abc 7%|  xyz\nb"


TABLES = """
__constant float A[4] = { 1, 2, 3, 4 };
__constant float B[4] = { 5, 6, 7, 8 };
constant int odd[3] = { 1, 3, 5 };
float get(__constant float *t, int i) { return t[i]; }
int sum(CONST int *t, int n) { int s = 0; for (int i = 0; i < n; i++) s += t[i]; return s; }
__kernel void k(__global float *o, int n) {
    __constant float *p = n & 1 ? A : B; const __constant float *q = A + 1;
    o[0] = p[n & 3]; o[1] = get(B, n & 3) + *q; o[2] = sum(odd, n & 3); o[3] = p == A;
}
"""


@pytest.mark.parametrize("n", [2, 3])
def test_pointers_to_tables(context, n):
    given = {"o": np.zeros(4, "f4"), "n": np.int32(n)}
    expected = run_both(context, TABLES.replace("CONST", "constant"), "k", given)
    private = TABLES.replace("constant int odd", "const int odd").replace("CONST", "const")
    compare(expected, run_here(parse_source(private, "k.cl").module, "k", given, (1,)), "without __constant")


EXACT = """
#include "ihc_apint.h"
#pragma OPENCL EXTENSION cl_intel_arbitrary_precision_integers : enable
__kernel void k(__global const long *a, __global long *o, LEFT l, RIGHT r, int s) {
    LEFT x = a[0], y = a[1]; RIGHT z = a[2]; LEFT m[4] = { x, y, l, 3 };
    o[0] = x + y; o[1] = x - z; o[2] = x * z; o[3] = z | x; o[4] = x << s; o[5] = x >> s; o[6] = -x; o[7] = ~z; o[8] = x < z;
    o[9] = l; o[10] = r; o[11] = m[s & 3]; o[12] = x + 1L; x += z; o[13] = x; y++; o[14] = y; o[15] = sizeof(LEFT); o[16] = y ? z : x;
    o[17] = min(y, m[1]);
}
"""


def exactly(value: int, width: int, signed: bool) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if signed and value >> width - 1 else value


def expected_exactly(a, left, right, arguments, s):
    """The results of EXACT by Python's integers: the wider of two decides, of two equal ones the unsigned one."""
    both = (left[0], left[1] and right[1]) if left[0] == right[0] else max(left, right)
    x, y, z = exactly(a[0], *left), exactly(a[1], *left), exactly(a[2], *right)
    l, r = exactly(arguments[0], *left), exactly(arguments[1], *right)
    u, v = exactly(x, *both), exactly(z, *both)
    moved = exactly(x + z, *left)
    after = exactly(y + 1, *left)
    return [
        exactly(x + y, *left),
        exactly(u - v, *both),
        exactly(u * v, *both),
        exactly(u | v, *both),
        exactly(x << s, *left),
        exactly(x >> s, *left),
        exactly(-x, *left),
        exactly(~z, *right),
        int(u < v),
        l,
        r,
        [x, y, l, 3][s & 3],
        x + 1,
        moved,
        after,
        1 << (max(left[0], 8) - 1).bit_length() >> 3,
        v if after else exactly(moved, *both),
        min(after, y),
    ]


@pytest.mark.parametrize(
    "left, right",
    [
        ((10, False), (5, True)),
        ((5, True), (10, True)),
        ((37, True), (63, False)),
        ((33, False), (33, True)),
        ((3, False), (2, True)),
        ((23, True), (23, True)),
    ],
)
def test_integers_of_exact_width(left, right):
    """No other compiler has them on a processor, so Python's integers say what is right."""
    source = EXACT
    for name, (width, signed) in (("LEFT", left), ("RIGHT", right)):
        source = source.replace(name, f"{'' if signed else 'u'}int{width}_t")
    module = parse_source(source, "k.cl").module
    stages = [(each, Emulator(each, hasty=True)) for each in (module, optimize(module, PipelineOptions(check=True)))]
    rng = np.random.default_rng(left[0])
    for s in (0, 1, 4, 11, 70):
        given = {"a": rng.integers(-1 << 62, 1 << 62, 3, "i8"), "o": np.zeros(18, "i8")}
        scalars = {"l": int(given["a"][0]) >> 3, "r": int(given["a"][1]) >> 3, "s": s}
        wanted = expected_exactly([int(n) for n in given["a"]], left, right, (scalars["l"], scalars["r"]), s)
        for each, emulator in stages:
            here, there = {n: a.copy() for n, a in given.items()}, {n: a.copy() for n, a in given.items()}
            run_kernel(each, "k", here, scalars)
            emulator.run("k", there, scalars, IndexSpace.of((1,)))
            assert here["o"].tolist() == wanted, s
            assert there["o"].tolist() == wanted, s


EXACT_MEMBERS = """
#include "ihc_apint.h"
typedef struct { uint10_t a; int5_t b; uint1_t d; int20_t e; } __attribute__((aligned(8))) Mixed;
typedef struct { int9_t v[4]; } Same;
typedef struct { bool a, b; } Bools;
union Words { uint12_t s[2]; uint i; };
int use(Mixed m) { return m.a + m.b * 3 + m.d + m.e; }
__kernel void k(__global Mixed *restrict m, __global Same *restrict s, __global int *restrict o, Mixed given, Same other, Bools truths) {
    Mixed x = m[0]; x.a += 5; x.e = -x.e; m[1] = x; o[0] = use(x); o[1] = use(given);
    Same q = s[0]; q.v[o[7] & 3] = -200; s[1] = q; o[2] = q.v[0] + other.v[3] * 1000; o[3] = truths.a + 2 * truths.b;
    union Words u; u.i = o[6]; o[4] = u.s[0]; u.s[1] = 77; o[5] = u.i;
}
"""


def test_members_of_exact_width():
    """In memory they are C's next wider integers, of which only the low bits count."""
    module = parse_source(EXACT_MEMBERS, "k.cl").module
    raw = bytes([1, 2, 3, 4, 5, 6, 7, 8])
    scalars = {
        "given": np.frombuffer(raw, "u1"),
        "other": np.array([1, 2, 3, 511], "u2"),
        "truths": np.array([1, 1], "u1"),
    }
    given = {
        "m": np.frombuffer(raw + bytes(8), "u1").copy(),
        "s": np.frombuffer(raw * 2, "i2").copy(),
        "o": np.array([0] * 6 + [0x12345678, 2], "i4"),
    }
    a, b, d, e = 0x201, 3, 0, exactly(0x08070605, 20, True)
    for each in (module, optimize(module, PipelineOptions(check=True))):
        here, there = {n: x.copy() for n, x in given.items()}, {n: x.copy() for n, x in given.items()}
        run_kernel(each, "k", here, scalars)
        Emulator(each, hasty=True).run("k", there, scalars, IndexSpace.of((1,)))
        compare(here, there, "the emulator")
        assert here["o"][:6].tolist() == [
            a + 5 + 3 * b + d - e,
            a + 3 * b + d + e,
            exactly(0x201, 9, True) - 1000,
            3,
            0x678,
            0x12345678 & 0xFFFF | 77 << 16,
        ]
        assert here["m"].view("u4")[2:].tolist() == [(a + 5) | b << 16 | d << 24, -e & 0xFFFFFFFF]
        assert here["s"][4:].tolist() == [
            exactly(0x201, 9, True),
            exactly(0x403, 9, True),
            -200,
            exactly(0x807, 9, True),
        ]


def test_attributes_of_a_typedef_are_not_dropped():
    source = """typedef int __attribute__((strange)) A; typedef struct { char c[3]; } S __attribute__((packed));
    __kernel void k(A a) { S s; (void)s; }"""
    assert [w.message for w in parse_source(source, "k.cl").warnings] == [
        "unknown attribute 'strange' is ignored",
        "the attribute 'packed' of the name 'S' is ignored",
    ]

"""Kernels through frontend and interpreter against plain Python, and the shape of the IR that passes rely on."""

import numpy as np
import pytest

from hls.frontend import Options, parse_source
from hls.ir import BOOL, I32, I64, PTR, walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify_module


def compiled(source: str, **options):
    result = parse_source(source, "k.cl", **options)
    verify_module(result.module)
    return result.module


def run(source: str, buffers: dict, scalars=None, size=(1,), name="k", **options):
    """The buffers after a run of kernel ``name``."""
    module = compiled(source, **options)
    run_kernel(module, name, buffers, scalars or {}, size, max_iterations=1_000_000)
    return buffers


def compute(body: str, n: int = 8, type: str = "int", prefix: str = "") -> list:
    """What a task kernel with this body writes into ``out``."""
    kinds = {"int": "i4", "uint": "u4", "long": "i8", "ulong": "u8", "float": "f4", "uchar": "u1"}
    out = np.zeros(n, kinds[type])
    run(f"{prefix}\n__kernel void k(__global {type} *out) {{ {body} }}", {"out": out})
    return out.tolist()


def loops(source: str):
    (function,) = compiled(source).kernels
    return [op for op in walk(function.body) if op.opcode == "loop"]


# -- whole kernels


def test_vector_addition_of_work_items():
    a, b = np.arange(6, dtype="f4"), np.full(6, 0.5, "f4")
    c = np.zeros(6, "f4")
    source = """__kernel void k(__global const float *a, __global const float *b, __global float *c, int n) {
        int i = get_global_id(0);
        if (i >= n) return;
        c[i] = a[i] + b[i]; }"""
    run(source, {"a": a, "b": b, "c": c}, {"n": 5}, (6,))
    assert c.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 0]


def test_fir_with_a_shift_register():
    x, out = np.arange(10, dtype="f4"), np.zeros(10, "f4")
    source = """#define TAPS 4
    __constant float coef[TAPS] = {1, 2, 3, 4};
    __kernel void k(__global const float *x, __global float *out, int n) {
        float line[TAPS] = {0};
        for (int i = 0; i < n; i++) {
            #pragma unroll
            for (int j = TAPS - 1; j > 0; j--) line[j] = line[j - 1];
            line[0] = x[i];
            float sum = 0;
            for (int j = 0; j < TAPS; j++) sum += line[j] * coef[j];
            out[i] = sum;
        } }"""
    run(source, {"x": x, "out": out}, {"n": 10})
    assert out.tolist() == np.convolve(x, [1, 2, 3, 4])[:10].tolist()


def test_matrix_product():
    a, b = (np.random.default_rng(s).integers(0, 9, (4, 4)).astype("f4") for s in (1, 2))
    c = np.zeros((4, 4), "f4")
    source = """__kernel void k(__global const float *a, __global const float *b, __global float *c, int n) {
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
            float s = 0;
            for (int m = 0; m < n; m++) s += a[i * n + m] * b[m * n + j];
            c[i * n + j] = s; } }"""
    run(source, {"a": a, "b": b, "c": c}, {"n": 4})
    assert (c == a @ b).all()


def test_collatz_and_triangular_nest():
    def steps(n):
        k = 0
        while n != 1:
            n, k = (n // 2 if n % 2 == 0 else 3 * n + 1), k + 1
        return k

    assert compute(
        "for (int i = 0; i < 8; i++) { ulong v = i + 1; int k = 0; "
        "while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; k++; } out[i] = k; }"
    ) == [steps(i + 1) for i in range(8)]
    assert compute("for (int i = 0; i < 8; i++) { int s = 0; for (int j = i; j < 8; ++j) s += j; out[i] = s; }") == [
        sum(range(i, 8)) for i in range(8)
    ]


# -- control flow


@pytest.mark.parametrize(
    "body, expected",
    [
        (
            "for (int i = 0; i < 8; i++) { if (i == 3) continue; if (i == 6) break; out[i] = 1; }",
            [1, 1, 1, 0, 1, 1, 0, 0],
        ),
        ("int i = 0; do { out[i] = i; if (i == 2) break; } while (++i < 5); out[7] = i;", [0, 1, 2, 0, 0, 0, 0, 2]),
        ("int i = 9; while (i < 5) out[0] = 1; do out[1] = i; while (i++ < 5); out[2] = i;", [0, 9, 10, 0, 0, 0, 0, 0]),
        (
            "for (int i = 0; ; i++) { for (int j = 0; ; j++) { if (j > i) break; if (j == 3) return; out[i] += 1; } }",
            [1, 2, 3, 3, 0, 0, 0, 0],
        ),
        (
            "int i = 0; while (1) { if (i == 2) { i++; continue; } if (i > 4) break; out[i++] = 5; }",
            [5, 5, 0, 5, 5, 0, 0, 0],
        ),
        ("for (int i = 0, j = 8; i < j; i++, j--) out[i] = j;", [8, 7, 6, 5, 0, 0, 0, 0]),
        (
            "for (int i = 0; i < 3; i++) { do { if (i == 1) continue; out[i] = 7; } while (0); out[i + 4] = i; }",
            [7, 0, 7, 0, 0, 1, 2, 0],
        ),
    ],
)
def test_jumps(body, expected):
    assert compute(body) == expected


SWITCH = """for (int i = 0; i < 8; i++) switch (i) {
    case 0: out[i] = 10; break;
    case 1: case 2: out[i] += 20;
    case 3: if (i == 2) break; out[i] += 30; break;
    default: out[i] += 40; if (i == 6) continue;
    case 5: out[i] += 50; }"""


def test_switch_falls_through():
    assert compute(SWITCH) == [10, 50, 20, 30, 90, 50, 40, 90]


def test_return_from_a_helper_in_a_loop():
    prefix = """int find(__global const int *p, int n, int x) {
        for (int i = 0; i < n; i++) if (p[i] == x) return i;
        return -1; }"""
    assert compute("out[3] = 9; out[5] = 4; out[0] = find(out, 8, 4); out[1] = find(out, 3, 4);", prefix=prefix)[
        :2
    ] == [5, -1]


def test_only_what_counts_is_evaluated():
    prefix = "int hit(__global int *p) { *p += 1; return 1; }"
    body = """int t[2] = {1, 2}; int far = 1000;
        out[0] = far < 2 && t[far] > 0; out[1] = far >= 2 || t[far] > 0;
        out[2] = far < 2 ? t[far] : 5;
        0 && hit(out + 4); 1 || hit(out + 4); 1 && hit(out + 5); (far > 0) ? hit(out + 6) : hit(out + 7);"""
    assert compute(body, prefix=prefix) == [0, 1, 5, 0, 0, 1, 1, 0]


# -- expressions


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("(uchar)250 + 10", 260),
        ("(uchar)(250 + 10)", 4),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7u > -1", 0),
        ("-1 > 2u", 1),
        ("(char)200", -56),
        ("1 << 33", 2),
        ("-8 >> 1", -4),
        ("(uint)-8 >> 28", 15),
        ("~0", -1),
        ("!5 + !0", 1),
        ("sizeof(int[3]) + sizeof(char)", 13),
        ("'a' + '\\n'", 107),
        ("(short)0x18000", -32768),
        ("5 > 3 > 1", 0),
        ("(3, 4)", 4),
        ("0x7fffffff + 1 < 0", 1),
        ("(bool)256 + (bool)0.5f", 2),
        ("010 + 0b11", 11),
        ("(int)-2.9f", -2),
        ("1 ? 2 : 3.0f", 2),
        ("min(3u, 2u) + max((char)-1, (char)1)", 3),
        ("abs(-5) + clamp(9, 1, 4)", 9),
        ("as_int(1.0f)", 0x3F800000),
        ("convert_int(3.7f)", 3),
        ("isnan(0.0f / 0.0f) + isinf(1 / 0.0f)", 2),
        ("(long)1 << 40 > 0", 1),
        ("mul24(3, 4) + mad24(2, 3, 4)", 22),
        ("rotate(0x80000001u, 1u)", 3),
        ("select(1, 2, 0)", 1),
        ("mul_hi(0x40000000, 8)", 2),
        ("(float)16777217 == 16777216.0f", 1),
        ("INT_MAX", 2147483647),
    ],
)
def test_expressions(expression, expected):
    assert compute(f"out[0] = {expression};")[0] == expected


def test_assignment_operators():
    assert compute(
        "uchar c = 250; c += 10; out[0] = c; out[1] = c++; out[2] = --c; int s = 1; s <<= 3; out[3] = s;"
        "float f = 1; f /= 4; out[4] = f * 100; bool b = 2; out[5] = b; out[6] = (s = 5) + s; s -= 2.5f; out[7] = s;"
    ) == [4, 4, 4, 8, 25, 1, 10, 2]


def test_pointers():
    prefix = (
        "void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; } int sum(const int m[2][3]) { return m[1][2] "
        "+ **m; }"
    )
    body = """__global int *p = out + 1; *p++ = 5; p += 2; *p = 6; p[-1] = 7; *(1 + p) = 8; --p; *p += 1;
        int x = 1, y = 2; swap(&x, &y); out[6] = x * 10 + y; int m[2][3] = {{1}, {2, 3, 4}}; int *q = m[1]; q[1] = 30;
        out[7] = sum(m) + m[1][1];"""
    assert compute(body, prefix=prefix) == [0, 5, 0, 8, 6, 8, 21, 35]


def test_buffer_parameter_that_moves():
    a = np.arange(5, dtype="i4")
    run("__kernel void k(__global int *a) { a++; *a = 10; a[1] = 11; }", {"a": a})
    assert a.tolist() == [0, 10, 11, 3, 4]


def test_initializers():
    body = (
        "int t[] = {1, [3] = 4, 5}; int m[2][2] = {1, 2, 3}; out[0] = sizeof(t) / sizeof(t[0]); out[1] = t[2] + t[4];"
        "out[2] = m[1][0] * 10 + m[1][1]; out[3] = c[1] + N; enum { A, B = 7, C }; out[4] = A + C;"
    )
    assert compute(body, prefix="__constant short c[2] = {1, -2}; __constant int N = 3 * 4;")[:5] == [5, 5, 30, 10, 8]


def test_scopes_shadow():
    assert compute("int x = 1; { int x = 2; out[0] = x; for (int x = 5; x < 6; x++) out[1] = x; } out[2] = x;")[:3] == [
        2,
        5,
        1,
    ]


def test_bool_and_narrow_kernel_arguments():
    out = np.zeros(3, "i4")
    run(
        "__kernel void k(__global int *out, bool b, char c, ulong u) { out[0] = b; out[1] = c; out[2] = u >> 60; c = "
        "3; }",
        {"out": out},
        {"b": 2, "c": -3, "u": 1 << 63},
    )
    assert out.tolist() == [1, -3, 8]


def test_work_item_functions():
    out = np.zeros(12, "i4")
    run(
        """__kernel void k(__global int *out) {
        out[get_global_id(1) * get_global_size(0) + get_global_id(0)] =
            get_group_id(0) + 10 * get_local_id(0) + 100 * get_work_dim() + get_global_id(7); }""",
        {"out": out},
        size=(4, 3),
    )
    assert out.tolist() == [200, 201, 202, 203] * 3


# -- preprocessor


def test_defines_and_includes(tmp_path):
    (tmp_path / "lib.h").write_text("#pragma once\n#define SCALE(x) ((x) * FACTOR)\n")
    source = """#include "lib.h"
    #include "lib.h"
    #if __OPENCL_VERSION__ >= 120 && defined(FACTOR)
    __kernel void k(__global int *out) { out[0] = SCALE(2 + 1) - -SCALE(1); out[1] = MAX2(3, 4); }
    #endif"""
    out = np.zeros(2, "i4")
    run(source, {"out": out}, defines={"FACTOR": "7", "MAX2(a, b)": "((a) > (b) ? (a) : (b))"}, include_dirs=[tmp_path])
    assert out.tolist() == [28, 4]


def test_unsuffixed_constants_can_be_float_without_a_word():
    source = "__kernel void k(__global float *a) { a[0] = 0.1; }"
    assert len(parse_source(source).warnings) == 1
    assert not parse_source(source, options=Options(single_precision_constants=True)).warnings


# -- the shape of the IR


def test_loop_attributes():
    source = """#define N 2
    __kernel void k(__global int *a, __global int *b, int n) {
        #pragma unroll N * 2
        #pragma ii 3
        rows: for (int i = 0; i < n; i++) a[i] = i;
        #pragma unroll
        #pragma ivdep array(a) safelen(N + 1)
        #pragma ivdep array(b)
        while (n > 0) { int i = 0; a[n--] = i; b[0] = 1; }
        #pragma nounroll
        #pragma ivdep
        #pragma max_concurrency 4
        do n++; while (n < 3);
        __attribute__((opencl_unroll_hint(8)))
        for (__global int *p = a; n > 0; p++, n--) *p = n; }"""
    first, second, third, fourth = (op.attrs for op in loops(source))
    assert first == {"label": "rows", "form": "for", "unroll": 4, "ii": 3}
    assert second == {"label": "while", "form": "while", "unroll": -1, "ivdep": (("a", 3), ("b", 0))}
    assert third == {"label": "do", "form": "do", "unroll": 1, "max_concurrency": 4, "ivdep": (("", 0),)}
    assert fourth["unroll"] == 8


def test_spans_of_loops_and_accesses():
    (loop,) = loops("__kernel void k(__global int *a) {\n  for (int i = 0; i < 4; i++)\n    a[i] += 1;\n}")
    assert (loop.span.line, loop.span.column) == (2, 3)
    load = next(op for op in walk(loop.regions[0]) if op.opcode == "load" and op.result.name == "a")
    assert (load.span.line, load.span.file) == (3, "k.cl")


def test_every_operation_has_a_place():
    module = compiled(
        f"int g(int x) {{ return x ? x : 1; }} __kernel void k(__global int *out) {{ {SWITCH} out[0] = g(3); }}"
    )
    for function in module.functions.values():
        first, *rest = walk(function.body)
        assert first.opcode == "const", "the predicate that is always true comes first and belongs to no line"
        assert all(op.span is not None for op in rest)


@pytest.mark.parametrize(
    "head, uses, ndrange",
    [
        ("", "", False),
        ("", "get_global_id(0)", True),
        ("", "g()", True),
        ("__attribute__((reqd_work_group_size(1, 1, 1)))", "get_global_id(0)", False),
        ("__attribute__((reqd_work_group_size(4, 1, 1)))", "get_global_id(0)", True),
    ],
)
def test_kind_of_kernel(head, uses, ndrange):
    (kernel,) = compiled(
        f"int g(void) {{ return get_local_id(0); }} {head} __kernel void k(__global int *a) {{ a[0] = {uses or 1}; }}"
    ).kernels
    assert kernel.attrs["ndrange"] is ndrange


def test_flags_only_where_needed():
    (kernel,) = compiled(
        "__kernel void k(__global int *a) { if (a[0]) return; a[1] = 1; if (a[2]) { a[3] = 1; return; } a[4] = 1; }"
    ).kernels
    assert [m for m in kernel.memories.values() if m.space == "private"] == []


def test_flags_are_no_recurrence():
    """Each iteration begins by clearing the flags that it may set."""
    (loop,) = loops(
        "__kernel void k(__global int *a) { for (int i = 0; i < 9; i++) { if (a[i]) break; a[i] = 1; } a[9] = 2; }"
    )
    stores = [op for op in loop.regions[0].ops if op.opcode == "store"]
    assert stores[0].operands[0].op.attrs["mem"] == "left"


def test_variables_parameters_and_types():
    module = compiled("""float scale(__global const float *p, float x) { return p[0] * x; }
        __kernel void k(__global const float * restrict a, volatile __global uchar *b, __constant int *c, uint n) {
            bool yes = n > 1; int t[2][3]; __global const float *p = a + 1; t[0][0] = c[0]; b[0] = yes + t[0][0] + scale(p, 1); }""")
    helper, kernel = module.functions["scale"], module.functions["k"]
    assert [v.type for v in helper.args] == [PTR, module.functions["scale"].args[1].type]
    m = kernel.memories
    assert (m["a"].space, m["a"].const, m["a"].restrict) == ("global", True, True)
    assert m["b"].volatile and m["c"].const and m["c"].space == "global"
    assert (m["yes"].element, m["t"].length, m["t"].element, m["p"].element) == (BOOL, 6, I32, PTR)
    assert [(p.name, p.kind, p.c_type, p.bytes) for p in kernel.params] == [
        ("a", "buffer", "__global const float * restrict", 8),
        ("b", "buffer", "volatile __global uchar *", 8),
        ("c", "buffer", "__constant int *", 8),
        ("n", "scalar", "uint", 4),
    ]
    assert list(module.functions) == ["scale", "k"]


def test_qualifiers_between_the_brackets_of_a_parameter_are_those_of_the_pointer():
    kernel = compiled(
        "__kernel void k(__global const int a[restrict 4], __global int b[restrict const static 4][2]) { b[a[0]][1] = 1; }"
    )
    (kernel,) = kernel.kernels
    assert all(m.restrict for m in kernel.memories.values())
    assert [p.c_type for p in kernel.params] == ["__global const int * restrict", "__global int * restrict const*"]


def test_names_of_memories_are_unique():
    (kernel,) = compiled(
        "__constant int n[2] = {1, 2}; __kernel void k(__global int *i) "
        "{ for (int j = 0; j < 2; j++) i[j] = n[j]; for (int j = 0; j < 2; j++) { int i = j; int n = i; } }"
    ).kernels
    assert len(kernel.memories) == len({m.name for m in kernel.memories.values()}) == 6


def test_index_arithmetic_is_64_bits_wide():
    offsets = [
        op
        for op in walk(compiled("__kernel void k(__global int *a, uint i) { a[i + 1] = 1; }").kernels[0].body)
        if op.opcode == "addr"
    ]
    assert offsets[0].operands[0].type == I64

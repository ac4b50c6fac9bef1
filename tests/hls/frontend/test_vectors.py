"""Vectors of every element type and width against PoCL: as output by the frontend and after all passes."""

from collections import Counter

import numpy as np
import pytest
from pocl import pocl_context, run_both

from hls.frontend import parse_source
from hls.ir.build import walk
from sim import cl

KINDS = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
    "float": "f4",
}
LENGTHS = (2, 3, 4, 8, 16)
_MASK = {1: "char", 2: "short", 4: "int", 8: "long"}


@pytest.fixture(scope="module")
def context():
    return pocl_context()


def values(kind: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "f4":
        return (rng.standard_normal(n) * 10.0 ** rng.integers(-2, 3, n)).astype("f4")
    info = np.iinfo(kind)
    found = rng.integers(info.min, info.max, n, kind, endpoint=True)
    found[:4] = [0, 1, info.min, info.max][:n]
    return found


def stored(length: int) -> int:
    return 4 if length == 3 else length


def kernel(name: str, length: int) -> str:
    """A kernel that uses operators, components, choices and functions of one vector type."""
    t, mask = f"{name}{length}", f"{_MASK[np.dtype(KINDS[name]).itemsize]}{length}"
    half = {2: "", 3: "2", 4: "2", 8: "4", 16: "8"}[length]
    integer = name != "float"
    lines = [
        f"o[0] = x + y * ({name})3;",
        "o[1] = x - y; o[2] = -x; m[0] = x < y; m[1] = x == y || !(x >= y);",
        "o[3] = x < y ? x : y; o[4] = select(x, y, m[0]);",
        f"o[5] = x; o[5].s01 = y.s10; o[5].{'lo' if length != 3 else 'xy'} += ({name}{half or ''})2;"
        if half or length == 2
        else "",
        "o[6] = min(x, y) + max(x, y) + clamp(x, y, y);",
        (
            f"{t} z = x; z.s1 = y.s0; z.{'xy' if length == 2 else 'odd' if length != 3 else 'zx'}"
            f" = {'y.yx' if length == 2 else 'y.even' if length != 3 else 'y.yy'}; o[7] = z;"
        ),
    ]
    if integer:
        lines += [
            (
                f"o[8] = x ^ (y & ({name})5) | ~x; o[9] = (x << ({t})3) + (y >> ({t})1); o[10] = x / (y | ({name})1) + x "
                f"% (y | ({name})1);"
            ),
            "o[11] = rotate(x, y) + add_sat(x, y) + sub_sat(x, y) + hadd(x, y) + rhadd(x, y);",
            "o[12] = mul_hi(x, y) + mad_hi(x, y, x) + clz(x) + popcount(y); o[13] = mad_sat(x, y, x);",
            f"o[14] = convert_{t}(abs_diff(x, y)) + convert_{t}(abs(y)); o[15] = bitselect(x, y, z);",
            "s[0] = any(m[0] != m[1]) + 2 * all(m[0] == m[0]);",
        ]
    else:
        lines += [
            "o[8] = x / y; o[9] = fabs(x) + fmin(x, y) - fmax(x, 1.0f); o[10] = mix(x, y, 0.25f);",
            "m[2] = isless(x, y); m[3] = isnan(x - x) | isnormal(y); o[11] = step(x, y) + sign(x) + copysign(x, y);",
            "o[12] = bitselect(x, y, z);",
            "s[0] = dot(x, y);" if length <= 4 else "s[0] = x.s3;",
        ]
    return (
        f"__kernel void k_{t}(__global const {t} *a, __global const {t} *b, __global {t} *o, __global {mask} *m, "
        f"__global {name} *s) {{ {t} x = a[0], y = b[0]; {' '.join(lines)} }}\n"
    )


def source(name: str) -> str:
    text = "".join(kernel(name, n) for n in LENGTHS)
    return text if name != "float" else "#pragma OPENCL FP_CONTRACT OFF\n" + text


@pytest.mark.parametrize("name", KINDS)
def test_every_width(context, name):
    kind = KINDS[name]
    for n in LENGTHS:
        size, mask = stored(n), f"i{np.dtype(kind).itemsize}"
        args = {
            "a": values(kind, size, n),
            "b": values(kind, size, 50 + n),
            "o": np.zeros(16 * size, kind),
            "m": np.zeros(4 * size, mask),
            "s": np.zeros(1, kind),
        }
        triples = ("o", "m") if n == 3 else ()
        few = n == 3 or (n == 2 and name in ("uchar", "long"))  # the passes do to every width what they do to these
        run_both(context, only(source(name), f"k_{name}{n}"), f"k_{name}{n}", args, triples=triples, passes=few)


def only(text: str, name: str) -> str:
    """The pragmas, and the one kernel of that name."""
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("#") or f" {name}(" in line)


def test_conversions(context):
    """Every rounding and saturation, between every two element types."""
    lines = []
    for source_name in KINDS:
        body = []
        for k, target in enumerate(KINDS):
            modes = [""] if target == "float" else ["", "_sat", "_sat_rte", "_sat_rtp", "_sat_rtn", "_sat_rtz"]
            if source_name == "float" and target != "float":
                modes = modes[1:]  # elsewhere a value that does not fit is undefined
            body += [
                f"vstore4(convert_{target}4{mode}(v), {k * 6 + j}, (__global {target} *)(o + {target_base(target)}));"
                for j, mode in enumerate(modes)
            ]
        lines.append(
            f"__kernel void k_{source_name}(__global const {source_name}4 *a, __global uchar *o) "
            f"{{ {source_name}4 v = a[0]; {' '.join(body)} }}\n"
        )
    for source_name, line in zip(KINDS, lines):
        given = values(KINDS[source_name], 4, 7)
        if source_name == "float":
            given = np.array([2.5, -3.5, 1e20, -0.75], "f4")
        run_both(
            context,
            line,
            f"k_{source_name}",
            {"a": given, "o": np.zeros(9 * 2048, "u1")},
            passes=source_name in ("float", "short", "ulong"),
        )


def target_base(name: str) -> int:
    return list(KINDS).index(name) * 2048


REINTERPRET = """
__kernel void k(__global const uint4 *a, __global uchar *o, float4 by, int3 three) {
    uint4 v = a[0];
    vstore16(as_uchar16(v), 0, o);
    vstore8(as_short8(v + as_uint4(by)), 1, (__global short *)o);
    vstore2(as_long2(v), 2, (__global long *)o);
    vstore4(as_float4(v >> 9), 3, (__global float *)o);
    vstore3(three * (int3)(1, 2, 3), 5, (__global int *)o);
    vstore4(as_int4(three).xyzx, 5, (__global int *)o);
    vstore4(shuffle(v, (uint4)(3, 2, 5, 0)), 6, (__global uint *)o);
    vstore8(shuffle2(v, ~v, (uint8)(0, 7, 1, 6, 2, 5, 3, 4)), 4, (__global uint *)o);
    vstore4(convert_uint4(upsample(as_short4(v.xy), as_ushort4(v.zw))), 10, (__global uint *)o);
    vstore3(cross(by.xyz, (float3)(1, 2, 3)), 15, (__global float *)o);
    float8 f = (float8)(by, (float4)(v.x & 7)); f.hi = f.lo + f.s7777;
    f.s0 += f.even.s3; f.s12 *= 2.0f; f.odd -= (float4)(0.5f);
    vstore8(f, 7, (__global float *)o); f -= 1; vstore8(f, 8, (__global float *)o);
}
"""


def test_bits_shuffles_and_literals(context):
    args = {
        "a": values("u4", 4, 3),
        "o": np.zeros(512, "u1"),
        "by": np.array([1.5, -2, 3, 4.25], "f4")[None].view("V16")[0, 0],
        "three": np.array([5, 6, 7, 0], "i4")[None].view("V16")[0, 0],
    }
    run_both(context, REINTERPRET, "k", args)


ARRAYS = """
float4 twist(float4 v, int k) { v.x += k; return k & 1 ? v.wzyx : v; }
void both(float4 *p, float *sum) { *p = p->yxwz * 2.0f; *sum += p->x; }
__constant float4 table[3] = { (float4)(1, 2, 3, 4), (float4)(5), { 6, 7, 8, 9 } };
__kernel void m(__global const float4 *a, __global float4 *o, __global float *f) {
    float4 line[5]; float sum = 0;
    for (int i = 0; i < 5; i++) line[i] = a[i] + table[i % 3];
    for (int i = 0; i < 5; i++) { line[(i * 3) % 5].zw += line[i].xy; sum += line[i].w; }
    for (int i = 0; i < 5; i++) { float4 v = twist(line[i], i); both(&v, &sum); o[i] = v; o[i].y = sum; }
    __global const float4 *p = a;
    while (p < a + 3) { *f++ = p->x + (*p).w; p++; }
    *f = (float)(p - a);
}
"""


def test_arrays_pointers_and_helpers(context):
    run_both(context, ARRAYS, "m", {"a": values("f4", 20, 1), "o": np.zeros(20, "f4"), "f": np.zeros(8, "f4")})


HALVES = """
__kernel void k(__global const half *a, __global half *o, __global float *f) {
    float4 v = vload_half4(1, a);
    f[0] = vload_half(3, a) + v.x; vstore4(v + vload_half3(2, a).xyzz + vloada_half3(0, a).zyxx, 1, f);
    vstore_half(1.0f / 3, 0, o); vstore_half_rtz(1e5f, 1, o); vstore_half_rtp(1.0001f, 2, o); vstore_half_rtn(-1.0001f, 3, o);
    vstore_half4(v * 0.3f, 1, o); vstorea_half2_rte((float2)(v.x, 2.5f), 4, o); vstore_half3_rtz(v.xyz / 3, 4, o);
    vstore_half(1.00048828125000001, 15, o);  // a double is rounded once
    vstore_half2_rtz(convert_double2(v.xy) / 3, 8, o);
}
"""


def test_halves_in_memory(context):
    a = np.random.default_rng(8).standard_normal(16).astype("f2")
    run_both(context, HALVES, "k", {"a": a, "o": np.zeros(18, "f2"), "f": np.zeros(8, "f4")})


BESIDE = """
__kernel void k(__global const uint4 *a, __global const float4 *b, __global uint4 *o, __global float4 *f, uchar n, char m) {
    uint4 x = a[0]; float4 y = b[0];
    o[0] = rotate(x, n); o[1] = rotate(x, 7); o[2] = add_sat(x, 9u) ^ sub_sat(4000000000u, x); o[3] = mul_hi(x, m);
    o[4] = abs_diff(x, n) + hadd(x, 3); o[5] = bitselect(x, a[1], 255u); o[6] = mad_sat(x, 2u, 5u); o[7] = mad24(x & 4095u, n, a[1]);
    f[0] = fma(y, 2.0f, b[1]); f[1] = mad(y, 0.5f, 1); f[2] = fmod(y, 3.0f); f[3] = copysign(y, -1.0f); f[4] = fdim(1, y);
    o[8] = select(9, x, a[1]); f[5] = select(y, 0, isless(y, b[1])); f[6] = dot(floor(y), 2) + dot(0.5f, floor(y));
}
"""


def test_numbers_beside_vectors(context):
    """A number beside vectors stands for a vector of it, converted to their elements."""
    rng = np.random.default_rng(5)
    run_both(
        context,
        BESIDE,
        "k",
        {
            "a": rng.integers(0, 1 << 32, 8, "u4"),
            "b": (rng.standard_normal(8) * 9).astype("f4"),
            "o": np.zeros(36, "u4"),
            "f": np.zeros(28, "f4"),
            "n": np.uint8(200),
            "m": np.int8(-3),
        },
    )


DIRECTIONS = """
__kernel void k(__global const float *a, __global float *o, __global float *size, __global float *apart) {
    for (int i = 0; i < 64; i++) {
        float3 v = vload3(i, a);
        vstore3(normalize(v), i, o); size[i] = length(v); apart[i] = distance(v, -v);
    }
}
"""


def test_lengths_neither_overflow_nor_underflow():
    """Components of all sizes; what is infinite counts as 1, and all else beside it as 0 (OpenCL C 7.5.1)."""
    random = np.random.default_rng(4)
    a = (random.standard_normal((64, 3)) * np.exp2(random.integers(-140, 124, (64, 3)))).astype("f4")
    a[:5] = [[0, 0, 0], [np.inf, -0.0, -np.inf], [1e-45, 0, 0], [3e38, 3e38, 3e38], [np.nan, 1, 2]]
    context = cl.create_some_context(board="de5net", device="emulator")
    program, queue = cl.Program(context, DIRECTIONS).build(), cl.CommandQueue(context)
    found = [np.zeros(shape, "f4") for shape in ((64, 3), 64, 64)]
    buffers = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=one) for one in (a, *found)]
    cl.Kernel(program, "k")(queue, (1,), None, *buffers)
    for one, buffer in zip(found, buffers[1:], strict=True):
        cl.enqueue_copy(queue, one, buffer)
    directions, sizes, apart = (one.astype("f8") for one in found)
    wanted = np.sqrt((a.astype("f8") ** 2).sum(1))
    least = np.finfo("f4").smallest_subnormal
    for one, factor in ((sizes, 1), (apart, 2)):
        right = (wanted * factor)[5:]
        assert (np.abs(one[5:] - right) <= np.spacing(right.astype("f4"))).all()
    assert (np.abs(directions[5:] - a[5:] / wanted[5:, None]) <= 1e-6).all()
    assert sizes[0] == 0 and sizes[1] == sizes[3] == np.inf and sizes[2] == least and np.isnan(sizes[4])
    assert np.allclose(directions[1], [0.5**0.5, 0, -(0.5**0.5)]) and np.signbit(directions[1, 1])
    assert (directions[2] == [1, 0, 0]).all()
    assert np.allclose(directions[3], 3**-0.5) and np.isnan(directions[4]).all() and not directions[0].any()


def test_lengths_of_floats_take_one_multiplication_of_floats():
    text = "__kernel void k(__global float *o, float3 v, float x) { o[0] = length(v); o[1] = length(x); }"
    ops = Counter(op.opcode for op in walk(parse_source(text).module.functions["k"].body))
    assert ops["fmul"] == ops["fsqrt"] == ops["uitofp"] == 1 and ops["mul"] == 3 and not ops["fadd"]


@pytest.mark.parametrize(("kind", "bits"), [("half", "f2"), ("double", "f8")])
def test_lengths_of_other_formats_do_not_overflow(kind, bits):
    source = f"__kernel void k(__global {kind} *a) {{ a[4] = length(({kind}4)(a[0], a[1], a[2], a[3])); }}"
    largest = np.finfo(bits).max
    for one in ([largest / 4] * 4, [largest, -1, 0, 0], [np.finfo(bits).smallest_subnormal, 0, 0, 0]):
        a = np.array([*one, 0], bits)
        context = cl.create_some_context(board="ecp5_onchip", device="emulator")
        program, queue = cl.Program(context, source).build(), cl.CommandQueue(context)
        buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
        cl.Kernel(program, "k")(queue, (1,), None, buffer)
        cl.enqueue_copy(queue, a, buffer)
        assert a[4] == (largest / 2 if one[1] == one[0] else one[0])

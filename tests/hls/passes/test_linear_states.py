"""Linear states, whose bits are exclusive ors of bits: an iteration every cycle, and the same numbers."""

import random

import pytest

import hls
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.passes.lowering.inline import Inline

BOARD = hls.load_board("de5net")


def planned(text: str):
    module = parse_source(text).module
    (kernel,), _ = plan_module(module, BOARD, hls.Options())
    return Inline().run(module).functions["k"], kernel


def kernel(type: str, update: str, helpers: str = "") -> str:
    return (
        f"{helpers}\n__kernel void k(__global const {type} *restrict a, __global {type} *restrict o, int n) {{\n"
        f" {type} x = 5;\n for (int i = 0; i < n; i++) {{\n  {type} d = a[i];\n  {update}\n }}\n o[0] = x;\n}}"
    )


def outcome(function, size: int, data: bytes) -> bytes:
    out = bytearray(8)
    run_kernel(function, "k", {"a": bytearray(data), "o": out}, {"n": len(data) // size}, (1,))
    return bytes(out)


FIELD = (
    "uchar times(uchar x, uchar c) { uchar r = 0;\n#pragma unroll\nfor (int k = 0; k < 8; k++) { if (c >> k & 1) r "
    "^= x;\n"
    " x = (x << 1) ^ (x & 0x80 ? 0x1D : 0); }\nreturn r; }"
)
UNROLLED = "\n#pragma unroll\n  for (int k = 0; k < {}; k++) {}"


@pytest.mark.parametrize(
    ("type", "size", "update", "helpers"),
    [
        # the check sum of a word
        ("uint", 4, "x ^= d; " + UNROLLED.format(32, "x = (x >> 1) ^ (0xEDB88320u & -(x & 1));"), ""),
        # a register with feedback
        ("uint", 4, UNROLLED.format(32, "x = (x >> 1) ^ (x & 1 ? 0xA3000000u : 0);") + " x ^= d & 1;", ""),
        ("ulong", 8, UNROLLED.format(16, "x = (x << 1) | ((x >> 63 ^ x >> 59 ^ d >> k) & 1);"), ""),
        ("ulong", 8, UNROLLED.format(4, "x = (x << 1) ^ ((long)x < 0 ? 7 : 0);") + " x ^= d;", ""),  # looks at its sign
        ("uint", 4, UNROLLED.format(8, "x = x >= 0x80000000u ? x << 1 ^ 0x04C11DB7u : x << 1;") + " x ^= d;", ""),
        ("uchar", 1, "x = times(x, 0xCA) ^ d;", FIELD),
    ],
)
def test_an_iteration_every_cycle(type, size, update, helpers):
    source, kernel_ = planned(kernel(type, update, helpers))
    assert [plan.ii for plan in kernel_.plan.loops.values()] == [1]
    data = random.Random(update).randbytes(9 * size)
    assert outcome(kernel_.function, size, data) == outcome(source, size, data)


def _step(rng: random.Random, bits: int) -> str:
    amount, place, number = rng.randrange(1, bits), rng.randrange(bits), rng.getrandbits(bits)
    return rng.choice(
        [
            f"x = (x << {amount}) ^ x;",
            f"x ^= x >> {amount};",
            f"x = (x << {amount}) | (x >> {bits - amount});",
            "x ^= d;",
            f"x ^= (x >> {place} & 1) ? {number}ul : 0;",
            f"if (!(x & {1 << place}ul)) x ^= {number}ul;",
            f"x ^= x < {1 << bits - 1}ul ? {number}ul : 0;",
            f"x ^= {number}ul & -(x & 1);",
            f"x = x & {number}ul | ~x & {number ^ (1 << bits) - 1}ul;",
            f"x = (d & {1 << place}ul) != 0 ? x ^ 3 : x;",
        ]
    )


@pytest.mark.parametrize("seed", range(12))
def test_random_states(seed):
    rng = random.Random(seed)
    type, size = rng.choice([("uchar", 1), ("ushort", 2), ("uint", 4), ("ulong", 8)])
    update = " ".join(_step(rng, 8 * size) for _ in range(rng.randint(5, 9)))
    if seed % 4 == 0:
        update += f" x += {rng.randint(1, 99)};"  # no exclusive or
    source, kernel_ = planned(kernel(type, update))
    if seed % 4:
        assert [plan.ii for plan in kernel_.plan.loops.values()] == [1]
    data = rng.randbytes(13 * size)
    assert outcome(kernel_.function, size, data) == outcome(source, size, data)


def test_what_a_loop_inside_gives_is_no_wire():
    text = (
        "__kernel void k(__global const int *restrict a, __global int *restrict o, int n) {\n int at = 7, x = 1;\n"
        " for (int i = 0; i < n; i++) {\n  int m = 3, s = 1;\n  while (a[m] > i) { m++; s ^= m; }\n  at += m;\n"
        "  for (int k = 0; k < 9; k++) x = (x << 1) ^ (x < 0 ? s : 5);\n }\n o[0] = at ^ x;\n}"
    )
    source, kernel_ = planned(text)
    data = bytes(4 * 9)
    assert outcome(kernel_.function, 4, data) == outcome(source, 4, data)

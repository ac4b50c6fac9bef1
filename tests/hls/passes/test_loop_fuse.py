"""Fused loops compute the same, and loops that would not are left alone, with the reason."""

import random

import numpy as np
import pytest
from merging import check_random, loops, outcome, passes_through

from tests.kernels.system import Launch

ARGS = (
    "__global int *restrict a, __global int *restrict b, __global const int *restrict c, __global int *p, "
    "__global int *q, int n, int m"
)


def fused(body: str, pragma: str = "loop_fuse", stages=(0, 1, 2)):
    """(loops left, records, warnings), after runs before the pass, after it, and after all, that must give the same."""
    records, told = [], []
    text = f"__kernel void k({ARGS}) {{\n#pragma {pragma}\n{{ {body} }} }}"
    module, before, after, last = passes_through(text, "fuse-loops", records.append, told.append)
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (3, 0), (4, 5), (7, 1), (-2, 4), (6, 6)):
        arrays = {name: rng.integers(-9, 99, 64).astype(np.int32) for name in "abcpq"}
        launch = Launch({name: data for name, data in arrays.items()}, {"n": n, "m": m})
        for stage in ((before, after, last)[k] for k in stages):
            assert outcome(stage, launch) == outcome(module, launch), (n, m)
    return loops(after), [r for r in records if hasattr(r, "how")], told


def to(loop):
    loop.attrs["loop_fuse"] = (1, 3, 0)


@pytest.mark.parametrize("seed", [3, 27, 29, 60])
def test_random_neighbours(seed):
    check_random(seed, "fuse-loops", ["loop_coalesce", "nofusion", "ii 9"], to)


def place(rng) -> str:
    return f"[{rng.choice(['i'] * 8 + ['2 * i', '12 - i'])} + {rng.choice([0, 0, 1, 1, 2, 5])}]"


def random_loop(rng, k: int) -> str:
    """A loop whose statements touch neighbouring elements of two arrays."""
    bound = rng.choice(["n", "n", "n", "m", "5", "7"])
    statements = [
        f"{rng.choice('ab')}{place(rng)} {rng.choice(['=', '+=', '^='])} {rng.choice('abc')}{place(rng)} + {k};"
        for _ in range(rng.randint(1, 2))
    ]
    if rng.random() < 0.2:
        statements.insert(0, f"if (c{place(rng)} > 80) break;")
    if rng.random() < 0.2:
        statements[-1] = f"if (c{place(rng)} & 1) {statements[-1]}"
    if rng.random() < 0.3:
        statements.append(f"s{k} += c{place(rng)};")
    start = rng.choice(["0", "0", "0", "1"])
    return f"for (int i = {start}; i < {bound}; i++) {{ {' '.join(statements)} }}"


@pytest.mark.parametrize("seed", range(6))
def test_random_accesses(seed):
    """Whatever is fused means what it did; a good part of it is."""
    rng, merged = random.Random(seed), 0
    for _ in range(6):
        text = " ".join(random_loop(rng, k) for k in range(3))
        body = f"int s0 = 0, s1 = 1, s2 = 2; {text} p[0] = s0 + s1 * 3 + s2 * 7;"
        left, records, _ = fused(body, stages=(1,))
        merged += len(records)
        assert left == 3 - len(records)
    assert merged


UP = "for (int i = 0; i < n; i++) {} "
M = "for (int i = 0; i < m; i++) {} "
FOUR = "for (int j = 0; j < 4; j++) {} "


@pytest.mark.parametrize(
    ("body", "carried"),
    [
        (UP.format("a[i] = c[i] * 2;") + UP.format("b[i] = a[i] + 1;"), 1),  # one counter for both
        (UP.format("a[i] = c[i] * 2;") + "for (int k = 0; k < n; ++k) b[k] = c[k] + a[k];", 1),
        (UP.format("a[i + 1] = c[i];") + UP.format("b[i] = a[i] + 1;"), 1),  # from an iteration before
        (UP.format("a[i] = b[i + 1];") + UP.format("b[i] = c[i];"), 1),  # read before it is overwritten
        (UP.format("a[i] = c[i] * 2;") + M.format("b[i] = a[i] + 1;"), 4),  # not equally often
        # equally often, another way round
        ("for (int i = 0; i < 9; i++) a[i] = i; for (int k = 9; k > 0; k--) b[k] = k;", 2),
        ("int s = 0, t = 1; " + UP.format("s += c[i];") + UP.format("t ^= c[i + 1];") + "a[0] = s; b[0] = t;", 3),
        (UP.format("a[i] = c[i];") + "int x = n * 3; " + UP.format("b[i] = x;") + UP.format("b[i] ^= a[i];"), 1),
        (UP.format("{ if (c[i] & 1) break; a[i] = 3; }") + UP.format("{ if (c[i] & 2) break; b[i] = 3; }"), 4),
    ],
)
def test_fused(body, carried):
    left, records, told = fused(body)
    assert left == 1
    assert {r.how for r in records} == {"fused"}
    assert told == []
    text = f"__kernel void k({ARGS}) {{\n#pragma loop_fuse\n{{ {body} }} }}"
    _, _, after, _ = passes_through(text, "fuse-loops")
    (loop,) = [op for op in after.body.ops if op.opcode == "loop"]
    assert len(loop.regions[0].args) >= carried


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            UP.format("a[i] = c[i];") + UP.format("b[i] = a[i + 1];"),
            (
                "the load of a at line 3 would come before the store to a at line 3 of a later iteration, and has to "
                "follow it"
            ),
        ),
        (
            UP.format("b[i] = a[i];") + UP.format("a[i + 1] = 3;"),
            (
                "the store to a at line 3 would come before the load of a at line 3 of a later iteration, and has to "
                "follow it"
            ),
        ),
        (
            UP.format("p[i] = c[i];") + UP.format("q[i] = 3;"),
            (
                "the store to q at line 3 would come before the store to p at line 3 of a later iteration, and has to "
                "follow it"
            ),
        ),
        (
            "int s = 0; " + UP.format("s += c[i];") + UP.format("b[i] = s;"),
            "it needs s, which is known only after the one at line 3 has ended",
        ),
        (
            UP.format("a[i] = c[i];") + "b[60] = n; " + UP.format("b[i] = 2;"),
            "an operation with side effects is between them (line 3)",
        ),
        (
            UP.format("a[i] = c[i];") + "\n#pragma nofusion\n" + UP.format("b[i] = 2;"),
            "the one at line 5 is marked nofusion",
        ),
        (
            UP.format("a[i] = c[i];") + "\n#pragma unroll 2\n" + UP.format("b[i] = 2;"),
            "the one at line 5 is to be unrolled",
        ),
    ],
)
def test_not_fused(body, reason):
    left, records, (told,) = fused(body)
    assert (left, records) == (2, [])
    assert told.message == f"#pragma loop_fuse: this loop is not fused with the one at line 3: {reason}"
    assert told.span.line >= 3 and told.hint


def test_independent_is_believed():
    body = UP.format("a[i] = c[i];") + UP.format("b[i] = a[m * i];")
    assert fused(body)[0] == 2
    assert fused(body, "loop_fuse independent", stages=())[0] == 1


@pytest.mark.parametrize(("pragma", "left"), [("loop_fuse", 3), ("loop_fuse depth(1)", 3), ("loop_fuse depth(2)", 2)])
def test_depth(pragma, left):
    inner = "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) "
    assert fused(inner + "a[4 * i + j] = c[j]; " + inner + "b[4 * i + j] = c[i];", pragma)[0] == left


def test_only_what_stands_in_the_block():
    body = "} " + UP.format("a[i] = 1;") + UP.format("b[i] = 1;") + "{"
    assert fused(body)[0] == 2


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("ivdep", "", (("b", 0),)),
        ("ivdep array(a)", "", ()),
        ("ivdep safelen(3)", "ivdep array(c)", (("b", 3),)),
        ("", "", None),
    ],
)
def test_promises_of_one_loop_about_what_the_other_leaves_alone(first, second, left):
    first, second = (f"\n#pragma {one}\n" if one else "" for one in (first, second))
    text = (
        f"__kernel void k({ARGS}) {{\n#pragma loop_fuse independent\n{{ "
        f"{first}{UP.format('b[c[i]] += a[i];')}{second}{UP.format('a[i] = c[i];')} }} }}"
    )
    _, _, after, _ = passes_through(text, "fuse-loops")
    (loop,) = [op for op in after.body.ops if op.opcode == "loop"]
    assert loop.attrs.get("ivdep", ()) == (left or ())

"""Copies of a kernel leave the bytes of the kernel, whatever the number of copies and iterations; what they cannot share
is refused with the reason."""

import re

import numpy as np
import pytest

from hls.diag import CompileError
from hls.driver import plan_text
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.passes.link import divided_loop
from hls.passes.link.carried_reductions import Reduction
from hls.passes.link.copy_kernel import CopyKernel
from hls.passes.link.decouple import Decouple
from hls.target.board import load_board
from tests.ir.new import input_of

HEAD = "__kernel void k(__global int *restrict a, __global const int *restrict b, int from, int n)"
#: bodies whose iterations are independent
BODIES = {
    "up": "for (int i = from; i < n; i++) a[i] = 3 * a[i] + b[i];",
    "closed, in steps": "for (int i = from; i <= n; i += 3) a[i] = i * b[i];",
    "unsigned": "for (uint i = from; i < (uint)n; i += 2) a[i] = b[i];",
    "constant": "for (int i = 0; i < 30; i++) a[i] += n;",
    "inner loop": "for (int i = from; i < n; i++) { int s = 0; for (int j = 0; j < i; j++) s += b[j]; a[i] = s; }",
    "one constant": "for (int i = from; i < n; i++) if (b[i] & 1) a[0] = 7;",
    "one value": "int x = n + from; for (int i = from; i < n; i++) if (b[i] & 1) a[b[i]] = x;",
    "unsigned closed": "for (uint i = 0; i <= (uint)n; i++) a[i] = b[i];",
    "long": "long s = from; for (long i = 0; i < n; i++) { a[i & 31] = 5; s += i; } a[35] = s;",
    "byte": "for (uchar i = 0; i < (uchar)n; i++) a[i] = b[i];",
    "early return": "if (from > 9) return; for (int i = from; i < n; i++) a[i] = b[n - i];",
    "table": "int t[8]; for (int i = 0; i < 8; i++) t[i] = i * from; for (int i = from; i < n; i++) a[i] = t[b[i] & 7];",
    "sum": "int s = n; for (int i = from; i < n; i++) s += b[i]; a[3] = s;",
    "sum and stores": "int s = 7; for (int i = 0; i < 30; i++) { a[i] = i * n; s += b[i]; } if (n != 7) a[39] = s - n;",
    "count": "int c = 0; for (int i = from; i < n; i++) if (b[i] > 9) c++; a[0] = c; a[1] = n;",
    "inner sum": "int s = 1; for (int i = from; i < n; i++) for (int j = 0; j < i; j += 3) s += b[j]; a[2] = s;",
    "extremes": "int g = -9, l = n; uint u = 9; for (int i = from; i < n; i++) { int x = b[i] - 20; if (x > g) g = x; "
    "l = min(l, x); u = max(u, (uint)x); } a[0] = g; a[1] = l; a[2] = u;",
    "minimum under a condition": "int l = 90; for (int i = from; i < n; i++) if (b[i] & 1) if (b[i] < l) l = b[i]; a[0] = l;",
    "logic": "uint x = 5, y = ~0u, z = 0; for (int i = from; i < n; i++) { x ^= b[i]; y &= b[i]; if (i & 4) z |= b[i]; } "
    "a[0] = x; a[1] = y; a[2] = z;",
    "product": "int p = 3; for (int i = from; i < n; i++) p *= b[i] | 1; a[0] = p;",
    "counter behind": "int s = 0, i = from; for (; i < n; i += 2) s += b[i]; a[0] = s; a[1] = i;",
    "loop behind": "int s = 0; for (int i = from; i < n; i++) s += b[i]; for (int j = 0; j < 9; j++) a[j] = s + b[j];",
    "early return before a sum": "if (from > 9) return; int s = 0; for (int i = from; i < n; i++) s += b[i]; a[0] = s;",
    "triangle": "for (int i = from; i < n; i++) { int c = 0; for (int j = 0; j < i; j++) c++, c += b[j] & 0; a[i] = c; }",
    "rows": "for (uint i = from; i < (uint)n; i += 2) { int s = 0; for (int j = b[i] & 3; j < (b[i + 1] & 15); j++) s ^= b[j]; "
    "a[i] = s; }",
    "under a condition": "for (int i = from; i <= n - 2; i++) if (b[i] & 1) { int s = 0; for (int j = 0; j < n; j++) s ^= b[j] + i; "
    "a[i] = s; }",
    "square": "for (int i = 0; i < n; i++) { int s = 0; for (int j = from; j < n; j++) s ^= b[j] * i; a[i] = s; }",
    "square under a constant": "for (int i = 0; i < 30; i++) { int s = 0; for (int j = 0; j < 11; j++) s ^= b[j] * i; a[i] = s; }",
    "triangle and long": "long t = n; for (int i = 0; i < 30; i++) { int s = t; for (int j = 0; j < i; j++) s ^= b[j]; "
    "a[i] = s; t += from; } a[39] = t;",
    "triangle and sums": "int t = n; uint m = 5; for (int i = 0; i < 30; i++) { int s = 1; for (int j = i; j < n; j++) "
    "s ^= b[j]; t += s; m = max(m, (uint)s); a[i] = s; } if (n > 3) a[39] = t - m;",
    "pairs in steps": "for (uint i = from; i <= (uint)n; i += 3) for (uint j = 0; j < (i & 7); j++) a[i] = a[i] * 3 + b[j];",
    "ivdep": "\n#pragma ivdep\nfor (int i = from; i < n; i++) a[b[i]] = i;",
}
SIZE = 40


def result(module, start: int, n: int) -> bytes:
    rng = np.random.default_rng(3)
    buffers = {"a": bytearray(np.arange(SIZE, dtype=np.int32)), "b": bytearray(rng.permutation(SIZE).astype(np.int32))}
    run_kernel(module, "k", buffers, {"from": start, "n": n}, (1,), None, (0,), 100_000)
    return bytes(buffers["a"])


def different(body: str) -> bool:
    before = input_of(f"{HEAD} {{ {body} }}", "copy-kernel", first=True)
    expected = {
        case: result(before, *case) for case in ((0, SIZE - 1), (2, 3), (3, 3), (7, 4), (1, 3), (11, 38), (0, 1))
    }
    for count in (2, 3, 5):
        after = CopyKernel(address_bits=32, count=count).run(before)
        assert [*after.functions] == ["k", "k_copy", *(f"k_copy{j}" for j in range(1, count - 1))]
        parts = Decouple(address_bits=32).run(after)
        for module in (after,) if len(parts.functions) == count else (after, parts):
            if any(result(module, *case) != bytes_ for case, bytes_ in expected.items()):
                return True
    return False


@pytest.mark.parametrize("name", BODIES)
def test_same_bytes(name):
    assert not different(BODIES[name])


@pytest.mark.parametrize("body", ["up", "pairs in steps"])
def test_wrong_shares_are_noticed(monkeypatch, body):
    right = divided_loop._ends_of_piece
    monkeypatch.setattr(divided_loop, "_ends_of_piece", lambda b, piece, sizes: (sizes[1], right(b, piece, sizes)[1]))
    assert different(BODIES[body])


@pytest.mark.parametrize(
    "body, rounds",
    [
        ("up", 1),
        ("table", 1),
        ("inner loop", 16),
        ("inner sum", 2),
        ("triangle", 16),
        ("rows", 16),
        ("under a condition", 16),
        ("square", 1),
        ("square under a constant", 1),
    ],
)
def test_pieces_where_the_work_varies(body, rounds):
    """Iterations whose inner loops differ are dealt in pieces; where pieces wait for each other, there are two."""
    after = CopyKernel(address_bits=32).run(input_of(f"{HEAD} {{ {BODIES[body]} }}", "copy-kernel", first=True))
    for part in after.kernels:
        around = [op.attrs["trip_count"] for op in part.body.ops if op.attrs.get("label") == "pieces"]
        assert around == ([rounds] if rounds > 1 else [])


def test_pieces_share_the_work_of_a_triangle():
    """Four copies of a triangular nest execute as many inner iterations each."""
    module = input_of(f"{HEAD} {{ {BODIES['triangle']} }}", "copy-kernel", first=True)
    after = CopyKernel(address_bits=32, count=4).run(module)
    done = []
    for part in after.kernels:
        alone = Module({part.name: part}, after.sources, after.channels)
        buffers = {"a": bytearray(4 * 512), "b": bytearray(4 * 512)}
        run_kernel(alone, part.name, buffers, {"from": 0, "n": 512}, (1,), None, (0,), 1_000_000)
        done.append(int(np.frombuffer(buffers["a"], np.int32).sum()))
    assert sum(done) == 512 * 511 // 2 and max(done) < 1.01 * min(done)


def test_more_copies_than_iterations():
    for trips, warned in ((2, True), (1, True), (3, False), (0, False)):
        body = f"for (int i = 0; i < {trips}; i++) a[i] = b[i] + n;"
        text = HEAD.replace("__kernel", "__kernel __attribute__((feed_forward(memory(0), compute(3))))")
        if trips == 0:
            body = body.replace("i < 0", "i < n")
        plan = plan_text(f"{text} {{\n#pragma unroll 1\n{body} }}", load_board("de5net"), Options(), "k.cl")
        found = [one for one in plan.warnings if one.code is not None and one.code.number == "W0711"]
        assert bool(found) == warned, trips
        assert all(f"which has {trips} iteration" in one.message and one.span.line == 3 and one.hint for one in found)


def run_floats(module, values: np.ndarray) -> bytes:
    buffers = {"v": bytearray(values), "o": bytearray(np.zeros(4, np.float32)), "w": bytearray(np.zeros(40, np.int32))}
    run_kernel(module, "k", buffers, {"n": len(values)}, (1,), None, (0,), 100_000)
    return bytes(buffers["o"]) + bytes(buffers["w"])


FLOATS = """__kernel void k(__global const float *restrict v, __global float *restrict o, __global int *restrict w, int n) {
  float least = v[0], most = -1.0f, sum = 0.5f;
  for (int i = 0; i < n; i++) {
    float x = v[i];
    if (x < least) least = x;
    if (x >= most) most = x;
    if (x > -9.0f) sum += x;
    w[i] = i;
  }
  o[0] = least; o[1] = most; o[2] = sum;
}"""


def test_sums_and_extremes_of_floats():
    """Extremes are those of the kernel, also of infinite numbers, zeros of both signs and NaNs; sums in another order."""
    nan, inf = np.nan, np.inf
    special = [
        [0.0, -0.0, 0.0],
        [-0.0, 0.0],
        [nan, 1, 2, 3],
        [1, nan, -2, nan, 5],
        [inf, inf, inf],
        [-inf, 4, inf],
        [3],
    ]
    before = input_of(FLOATS, "copy-kernel", first=True)
    for count in (2, 3):
        after = CopyKernel(address_bits=32, count=count, floats=True).run(before)
        parts = Decouple(address_bits=32).run(after)
        for values in (np.array(one, np.float32) for one in [*special, range(-20, 20)]):
            expected = run_floats(before, values)
            for module in (after, parts):
                assert run_floats(module, values) == expected, (count, values)
    with pytest.raises(CompileError, match="carries sum from one iteration to the next") as caught:
        CopyKernel(address_bits=32).run(before)
    assert caught.value.diagnostics[0].hint == "compile with -fp-relaxed, which allows sums of floats in another order"


@pytest.mark.parametrize(
    "name, fault",
    [
        ("neutral", lambda self, b, type: b.const(1, type)),
        ("join", lambda self, b, before, later: b.value("or", before, later)),
    ],
)
def test_a_wrong_join_is_noticed(monkeypatch, name, fault):
    monkeypatch.setattr(Reduction, name, fault)
    assert different(BODIES["sum"])


def test_the_nest_of_a_shared_loop_stays_a_nest():
    """The least element of all rows: without copies, the nest becomes one loop; with them, a third one is around it."""
    body = "int l = n; for (int i = from; i < n; i++) for (int j = 0; j < i; j++) if (b[j] < l) l = b[j]; a[0] = l;"
    for attribute, loops in (("", 1), ("__attribute__((feed_forward(memory(0), compute(2))))", 3)):
        text = HEAD.replace("__kernel", f"__kernel {attribute}") + f"{{ {body} }}"
        plan = plan_text(text, load_board("de5net"), Options(), "k.cl")
        assert {len(one.plan.loops) for one in plan.kernels} == {loops}
    assert [one.carries for one in plan.channels] == ["l of k_copy"]
    assert [(one.kernels, one.kind) for one in plan.networks] == [(("k", "k_copy"), "proved")]


def test_names_that_are_taken():
    before = input_of(f"{HEAD} {{ {BODIES['up']} }}", "copy-kernel", first=True)
    after = CopyKernel(address_bits=32, count=2, taken=frozenset({"k_copy"})).run(before)
    assert [*after.functions] == ["k", "k_copy1"]


REFUSED = {
    "for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i];": "the load of a at line 2 may load what another iteration stores",
    "for (int i = 1; i < n; i++) a[i] = a[i + 1] + b[i];": "the store of a at line 2 may store to what another iteration loads",
    "for (int i = 1; i < n; i++) a[b[i]] = i;": "the store of a at line 2 may store to what another iteration stores",
    "int s = 0; for (int i = 0; i < n; i++) { s += b[i]; a[i] = s; }": "carries s from one iteration to the next",
    "int s = 0; for (int i = 0; i < n; i++) s = 2 * s + b[i]; a[0] = s;": "carries s from one iteration to the next",
    "int s = 0; for (int i = 0; i < n; i++) { s += b[i]; s ^= i; } a[0] = s;": "carries s from one iteration to the next",
    "int s = 0; for (int i = 0; i < n; i++) if (s < 40) s += b[i]; a[0] = s;": "carries s from one iteration to the next",
    "int s = 0; for (int i = 0; i < n; i++) s = b[i] & 1 ? s + b[i] : i; a[0] = s;": "carries s from one iteration",
    "int l = 9, at = 0; for (int i = 0; i < n; i++) if (b[i] < l) { l = b[i]; at = i; } a[0] = at;": "carries ",
    "int s = 0; for (int i = 0; i < n; i++) { a[i] = i; s += i; } a[b[0]] = s;": "may store to what another copy stores",
    "int s = 0; for (int i = 0; i < n; i++) { s += a[i]; } a[b[0]] = s;": "may store to what another copy loads",
    "int t[64]; for (int i = 0; i < n; i++) { a[i] = i; t[i & 63] = i; } a[n] = t[n & 63];": "may load what another copy",
    "a[n] = 4; for (int i = 0; i < n; i++) a[i] = i;": "it does more than its loop",
    "for (int i = 0; i < n; i++) { if (b[i] < 0) break; a[i] = i; }": "its loop over i may end early",
    "for (int i = n; i > 0; i--) a[i] = i;": "its loop over i counts down",
    "for (uint i = n; i--;) a[i] = i;": "its loop over i counts down",
    "for (uchar i = 0; i < n; i++) a[i] = b[i];": "its loop over i counts in 8 bits, and begins anew where these do not",
    "for (long i = 0; i <= n; i++) a[i] = b[i];": "its loop over i counts in more than 32 bits",
    "for (int i = 0; b[i] > 3; i++) a[i] = i;": "its loop over i may end early, or not at a bound",
    "a[0] = n;": "it stores outside of its loops only",
    "for (int i = 0; i < n; i++) a[i] = i; for (int i = 0; i < n; i++) a[i + n] = 4;": "it does more than its loop",
    "for (int i = 0; i < n; i++) atomic_add(&a[b[i]], 1);": "cannot be copied: it ",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused(body):
    text = HEAD.replace("__kernel", "__kernel __attribute__((feed_forward(memory(0), compute(2))))")
    with pytest.raises(CompileError, match=re.escape(REFUSED[body])) as caught:
        plan_text(f"{text} {{\n{body} }}", load_board("de5net"), Options(), "k.cl")
    (message,) = caught.value.diagnostics
    assert message.code is not None and message.code.number == "E0711"
    assert message.hint and message.span is not None


@pytest.mark.parametrize(
    "given, said",
    [
        ("memory(0), compute(1)", "is the kernel as it is"),
        ("memory(0), compute(0)", "needs a compute part"),
        ("memory(1), compute(0)", "needs a compute part"),
        ("memory(0), compute(17)", "makes more than 16 copies"),
        ("memory(17), compute(17)", "makes more than 16 copies"),
        ("memory(17), compute(2)", "makes more than 16 copies"),
        ("2", "takes no argument, or memory"),
        ("compute(2), memory(0)", "takes no argument, or memory"),
        ("memory(0)", "takes no argument, or memory"),
    ],
)
def test_how_it_is_written(given, said):
    text = HEAD.replace("__kernel", f"__kernel __attribute__((feed_forward({given})))")
    with pytest.raises(CompileError) as caught:
        plan_text(f"{text} {{ {BODIES['up']} }}", load_board("de5net"), Options(), "k.cl")
    assert any(said in one.message for one in caught.value.diagnostics)


def test_given_twice_and_on_other_kernels():
    board, body = load_board("de5net"), f"{{ {BODIES['up']} }}"
    two, three = (f"__attribute__((feed_forward(memory(0), compute({c}))))" for c in (2, 3))
    for attributes, tail, said in (
        (f"{two} {three}", body, "feed_forward is given twice, and differently"),
        (two, "{ a[get_global_id(0)] = n; }", "it has many work-items"),
    ):
        with pytest.raises(CompileError, match=said):
            plan_text(HEAD.replace("__kernel", f"__kernel {attributes}") + tail, board, Options(), "k.cl")
    plan = plan_text(HEAD.replace("__kernel", f"__kernel {two}") + body, board, Options(), "k.cl")
    assert [one.function.name for one in plan.kernels] == ["k", "k_copy"] and not plan.networks
    assert "2 copies of kernel k share the iterations of its outermost loop" in [one.message for one in plan.warnings]

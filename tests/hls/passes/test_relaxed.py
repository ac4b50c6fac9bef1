"""-fp-relaxed: reassociated sums have the same exact value, and loops have a smaller interval."""

from functools import cache, partial

import numpy as np
import pytest

import hls.passes.pipeline
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.float.expand_float_reductions import ExpandFloatReductions
from hls.target.board import load_board

HEAD = "__kernel void f(__global const float *restrict a, __global float *restrict out, int n) {\n"
KERNELS = {
    "reduction": "float s = 1.0f; for (int i = 0; i < n; i++) s += a[i]; out[0] = s;",
    "difference": "float s = 1.0f; for (int i = 0; i < n; i++) s -= a[i]; out[0] = s;",
    "two": "float s = 0, p = 2; for (int i = 0; i < n; i++) { s += a[i]; p += a[i] * a[i]; } out[0] = s; out[1] = p;",
    "conditional": "float s = 0; for (int i = 0; i < n; i++) if (a[i] > 0) s += a[i]; out[0] = s;",
    "unrolled": "float s = 0;\n#pragma unroll 4\nfor (int i = 0; i < n; i++) s += a[i]; out[0] = s;",
    "inner": "for (int j = 0; j < 3; j++) { float s = 0; for (int i = 0; i < n; i++) s += a[i + j]; out[j] = s; }",
    "chain": "for (int i = 0; i < n; i++) out[i] = a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4];",
    "prefix": "float s = 0; for (int i = 0; i < n; i++) { s += a[i]; out[i] = s; }",
}


@cache
def planned(name, relaxed=True, board="de5net"):
    """The planned kernel and what was told about it; sums of loops are in parts (tests/hls/passes/test_loop_sums.py has
    the others)."""
    module = parse_source(HEAD + KERNELS[name] + "\n}\n").module
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hls.passes.pipeline, "ExpandFloatReductions", partial(ExpandFloatReductions, digits=()))
        (kernel,), told = plan_module(module, load_board(board), Options(fp_relaxed=relaxed))
    return kernel, told


def iis(name, relaxed=True):
    return sorted(plan.ii for op, plan in planned(name, relaxed)[0].plan.loops.items() if "label" in op.attrs)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7, 40])
def test_sums_of_small_integers_are_the_same(name, n):
    """Integers are added without rounding, so every order gives the same."""
    rng = np.random.default_rng(n)
    a = rng.integers(-8, 9, 64).astype(np.float32)
    outputs = []
    for relaxed in (False, True):
        kernel, _ = planned(name, relaxed)
        verify(kernel.function)
        out = np.full(64, 9, np.float32)
        run_kernel(kernel.function, "f", {"a": a, "out": out}, {"n": n, "overlap": 0})
        outputs.append(out)
    assert (outputs[0] == outputs[1]).all()


@pytest.mark.parametrize("name", ["reduction", "difference", "two", "conditional", "unrolled"])
def test_a_loop_does_not_wait_for_its_sum(name):
    assert iis(name) == [1]
    assert iis(name, relaxed=False)[-1] >= 6


@pytest.mark.parametrize("board", ["a10pac", "ecp5_onchip"])
def test_nor_does_it_on_other_boards(board):
    """There are as many parts as the way through the addition takes cycles, with the register that a tight clock puts
    before it."""
    for name in ("reduction", "two"):
        kernel, _ = planned(name, board=board)
        assert [plan.ii for op, plan in kernel.plan.loops.items() if "label" in op.attrs] == [1]


def test_a_sum_that_is_read_on_the_way_keeps_its_order():
    assert iis("prefix", False) == iis("prefix") and not planned("prefix")[1]


def test_trees_have_the_least_depth_and_as_many_additions():
    functions = {relaxed: planned("chain", relaxed)[0].function for relaxed in (False, True)}

    def depth(value):
        return (value.op.opcode == "fadd") + max(map(depth, value.op.operands), default=0) if value.op else 0

    depths, counts = [], []
    for function in functions.values():
        store = next(op for op in walk(function.body) if op.opcode == "store")
        depths.append(depth(store.operands[1]))
        counts.append(sum(op.opcode == "fadd" for op in walk(function.body)))
    assert depths == [4, 3] and counts == [4, 4]


def test_what_changed_is_told():
    notes = {name: [w.message for w in planned(name)[1]] for name in ("reduction", "chain")}
    assert notes == {
        "reduction": [
            "the sum 's' is split into 7 partial sums, so that an iteration does not wait for the addition of the previous one"
        ],
        "chain": ["a sum of 5 terms is reassociated"],
    }
    assert all(w.span and w.severity == "note" for w in planned("chain")[1])
    assert not planned("chain", relaxed=False)[1]

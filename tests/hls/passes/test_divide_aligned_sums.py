"""Dividends lose bits that cannot carry into the quotient; every result stays as it was, also where sums wrap around."""

import random

import numpy as np
import pytest
from merging import outcome, passes_through

from hls import Options
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.same import same_function
from hls.ir.verifier import verify
from hls.passes.scalar.divide_aligned_sums import DivideAlignedSums
from hls.target.board import load_board
from tests.kernels.system import Launch

HEAD = "__kernel void k(__global int *restrict out, int n, uint m, long w)"
FIRST = {"int": ("n", "-64", "0"), "uint": ("m", "0"), "long": ("w", "-64"), "ulong": ("(ulong)w", "0")}


def divided(rng: random.Random) -> str:
    """A kernel that divides a multiple of 2 to 16 plus constants of both signs, beginning near the ends of its type."""
    kind = rng.choice(sorted(FIRST))
    terms = [
        f"({kind})(i + {rng.randint(-20, 40)}) {rng.choice(['/', '%', '>>'])} {rng.choice([1, 2, 4, 6, 12, 24, 40])}"
        for _ in range(rng.randint(1, 4))
    ]
    first = f"({rng.choice(FIRST[kind])}) & ~({kind}){rng.choice([1, 3, 7, 15])}"
    body = " ^ ".join(f"(int)({term}) * {3 + 4 * k}" for k, term in enumerate(terms))
    step = rng.choice([2, 4, 8, 16, 48, 3])
    return f"{HEAD} {{ {kind} i = {first};\n#pragma unroll 1\n for (int at = 0; at < 40; at++, i += {step}) out[at] = {body}; }}"


@pytest.mark.parametrize("seed", range(40))
def test_results(seed):
    rng = random.Random(seed)
    text = divided(rng)
    module, before, _, _ = passes_through(text, "divide-aligned-sums")
    changed = DivideAlignedSums().run(before)
    verify(changed)
    for _ in range(4):
        scalars = {
            "n": rng.choice([0, 77, -2000, 2**31 - 4000, -(2**31)]),
            "m": rng.choice([0, 1, 60, 2**32 - 1, 2**32 - 40]),
            "w": rng.choice([0, 50, -1000, 2**63 - 4000, -(2**63)]),
        }
        launch = Launch({"out": np.zeros(64, np.int32)}, scalars)
        assert outcome(changed, launch) == outcome(module, launch), (text, scalars)


def test_it_changes_some_of_them():
    """Not only dividends that it has to keep are drawn."""
    changed = 0
    for seed in range(40):
        _, before, _, _ = passes_through(divided(random.Random(seed)), "divide-aligned-sums")
        changed += not same_function(before, DivideAlignedSums().run(before))
    assert changed >= 10


@pytest.mark.parametrize("count", [4096, 1 << 20])
def test_copies_of_an_unrolled_loop_load_once(count):
    """However long the loop is: its count is known, so that no copy has a condition."""
    loop = f"for (int i = 0; i < {count}; i++) a[i] = b[i] + c[i / 48];"
    text = f"__kernel void k(__global int *restrict a, __global int *restrict b, __global int *restrict c) {{\n#pragma unroll 8\n {loop} }}"
    module = parse_source(text, "k.cl", {}, []).module
    (planned,), _ = plan_module(module, load_board("de5net"), Options())
    found = [op for op in walk(planned.function.body) if op.opcode in ("load", "store", "select", "udiv", "sdiv")]
    loads = [op for op in found if op.opcode == "load"]
    assert sorted(op.opcode for op in found if op not in loads) == ["select", "store"]  # one counter that wraps around
    assert len(loads) == 2

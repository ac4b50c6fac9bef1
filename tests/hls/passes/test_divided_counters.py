"""Quotients and remainders of counters become counters; every result stays as it was, wherever counters end."""

import random

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.ir import walk
from hls.ir.verifier import verify
from hls.passes.loops.reduce_induction_divisions import ReduceInductionDivisions
from tests.kernels.system import Launch
from tests.repetitions import sampled

HEAD = "__kernel void k(__global int *restrict out, int n, uint m, ushort s, long w)"
LIMITS = {
    "int": ("n", "s", "200"),
    "uint": ("m", "s", "200u"),
    "ushort": ("s", "200"),
    "long": ("w", "n", "s"),
    "size_t": ("w", "n", "m", "s"),
}


def divided(rng: random.Random) -> str:
    kind = rng.choice(sorted(LIMITS))
    terms = [
        f"(i + {rng.randint(0, 40)}) {rng.choice('%/')} {rng.choice([1, 3, 5, 7, 8, 14, 100])}"
        for _ in range(rng.randint(1, 3))
    ]
    step, first = rng.choice([1, 1, 1, 2, 5, 17]), rng.choice([0, 0, 3, 20, -2])
    loop = f"for ({kind} i = {first}; i < {rng.choice(LIMITS[kind])} && at < 60; i += {step})"
    body = " ^ ".join(f"(int)({term}) * {3 + 4 * k}" for k, term in enumerate(terms))
    nest = rng.choice(["", "for (int o = 0; o < 3; o++)"])
    return f"{HEAD} {{ int at = 0;\n {nest}\n#pragma unroll 1\n {loop} {{ out[at & 63] = {body}; at++; }} }}"


def reduced(text: str):
    module, _, before, _ = passes_through(text, "loop-invariant-code-motion")
    return module, ReduceInductionDivisions().run(before)


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_results(seed):
    rng = random.Random(seed)
    text = divided(rng)
    module, changed = reduced(text)
    verify(changed)
    for _ in range(4):
        scalars = {
            "n": rng.choice([0, 1, 77, -5, 2**31 - 1]),
            "m": rng.choice([0, 1, 60, 2**32 - 1]),
            "s": rng.choice([0, 9, 65535]),
            "w": rng.choice([0, 50, -1, 2**63 - 1]),
        }
        launch = Launch({"out": np.zeros(64, np.int32)}, scalars)
        assert outcome(changed, launch) == outcome(module, launch), (text, scalars)


@pytest.mark.parametrize("kind, limit, some", [("int", "n", True), ("size_t", "n", True), ("uint", "~0u - m", False)])
def test_where_it_is_done(kind, limit, some):
    loop = f"for ({kind} i = 0; {'i < ' + limit if some else 'i - 1 != ' + limit}; i++) out[i & 63] = i % 14 + i / 14;"
    _, changed = reduced(f"{HEAD} {{ {loop} }}")
    assert any(op.opcode in ("urem", "srem", "udiv", "sdiv") for op in walk(changed.body)) != some

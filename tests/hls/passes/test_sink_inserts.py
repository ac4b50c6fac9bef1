"""Branches that store to one element of an array in registers share one store; the same numbers, in no more cycles."""

import random

import numpy as np
import pytest

from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.passes.recurrence.sink_inserts import SinkInserts
from hls.passes.scalar.dead_code_elimination import DeadCodeElimination
from tests.benchmarks.suite import CASES
from tests.plans import planned

BOARD = "ecp5_onchip"
HEAD = (
    "__kernel void k(__global const int *restrict a, __global int *restrict out, int n) { int r[8]; "
    "for (int i = 0; i < 8; i++) r[i] = i; for (int i = 0; i < n; i++) { int w = a[i]; "
    "int op = w & 7, d = (w >> 3) & 7, s = (w >> 6) & 7; "
)
TAIL = " } for (int i = 0; i < 8; i++) out[i] = r[i]; }"
SWITCH = """switch (op) {
case 0: r[d] = r[s] * r[d]; break;
case 1: r[d] = r[s] + r[d]; break;
case 2: r[d] = r[s] ^ 5; break;
case 3: if (r[s] > 3) r[d] = r[s] - r[d]; break;
case 4: r[d] = w; break;
default: break;
}"""
ELSEWHERE = SWITCH.replace("r[d] = w", "r[s] = w")


@pytest.fixture(autouse=True)
def _plans_of_this_test():
    """The pass is watched or taken out: plans are made anew."""
    planned.cache_clear()
    yield
    planned.cache_clear()


def inserts(function) -> int:
    """Into the carried array, but for those that nothing uses."""
    used = DeadCodeElimination().run(function)
    return sum(op.opcode == "insert" and op.operands[0].op is None for op in walk(used.body))


def watched(body: str, monkeypatch) -> list:
    """The kernel before and after the pass."""
    pairs, run = [], SinkInserts.run

    def watch(self, function):
        pairs.append((function, run(self, function)))
        return pairs[-1][1]

    with monkeypatch.context() as patch:
        patch.setattr(SinkInserts, "run", watch)
        planned(HEAD + body + TAIL, BOARD)
    return pairs


def assert_same(pairs, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for before, after in pairs:
        verify(after)
        a = rng.integers(-(1 << 31), 1 << 31, 40).astype(np.int32)
        found = []
        for function in (before, after):
            buffers = {"a": bytearray(a.tobytes()), "out": bytearray(32)}
            run_kernel(function, "k", buffers, {"n": len(a)}, (1,))
            found.append(bytes(buffers["out"]))
        assert found[0] == found[1]


def test_a_switch_has_one_store(monkeypatch):
    pairs = watched(SWITCH, monkeypatch)
    (before, after) = next((one, other) for one, other in pairs if inserts(one) > 1)
    assert (inserts(before), inserts(after)) == (5, 1)
    assert_same(pairs, 1)


def test_the_latest_value_is_selected_last(monkeypatch):
    """The product of an interpreter does not pass the cases behind it. Its registers begin with an argument: the choice
    of that is in the recurrence."""
    (machine,) = [one for one in CASES if one.kernel == "interpreter"]
    text = machine.source[machine.source.index("__kernel void interpreter(") :]
    text = text.replace("int pc = 0", "int pc = most").replace("r[i] = 0", "r[i] = most")

    def interval() -> int:
        planned.cache_clear()
        (at,) = planned(text, BOARD)["interpreter"].plan.loops.values()
        return at.ii

    assert interval() == 5
    monkeypatch.setattr(SinkInserts, "run", lambda self, function: function)
    assert interval() == 6


def test_stores_to_two_elements_stay(monkeypatch):
    pairs = watched(ELSEWHERE, monkeypatch)
    assert any(inserts(after) > 1 for _, after in pairs)
    assert_same(pairs, 2)


def statement(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        value = rng.choice(["r[s]", "w", "r[s] + r[d]", "r[s] * 3", "r[d] - 1"])
        return f"r[{rng.choice('ddddds')}] = {value};"
    one, other = (statement(rng, depth - 1) for _ in range(2))
    condition = rng.choice(["w & 1", "w & 512", "r[s] < 4", "op == 3", "r[d] > r[s]"])
    return rng.choice(
        [f"if ({condition}) {{ {one} }} else {{ {other} }}", f"if ({condition}) {{ {one} }}", one + other]
    )


def test_random_branches(monkeypatch):
    rng, changed = random.Random(5), 0
    for seed in range(14):
        pairs = watched(statement(rng, 3), monkeypatch)
        assert_same(pairs, seed)
        changed += any(inserts(after) < inserts(before) for before, after in pairs)
    assert changed >= 3

"""Under -fp-relaxed, float sums in recurrences add the operands that are available early first; without it nothing
moves."""

import random
from itertools import pairwise

import numpy as np
import pytest

import hls
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.passes.lowering.inline import Inline
from tests.repetitions import sampled

BOARD = hls.load_board("de5net")
#: name -> (what is carried, an iteration over ``in``, II as written, II in the better order)
FILTERS = {
    "biquad": (
        "x1 = 0, x2 = 0, y1 = 0, y2 = 0",
        "float y = b * in + c * x1 + b * x2 - b * y1 - c * y2; x2 = x1; x1 = in; y2 = y1; y1 = y; out[i] = y;",
        16,
        10,
    ),
    "multiply_adds": (
        "x1 = 0, y1 = 0, y2 = 0",
        "float y = fma(b, in, fma(c, x1, fma(-b, y1, c * y2))); x1 = in; y2 = y1; y1 = y; out[i] = y;",
        30,
        10,
    ),
    # of a multiply-add that is subtracted the product changes its sign, and where only the product is added, what it is
    # added to
    "subtracted": (
        "y1 = 1, y2 = 2, y3 = 3",
        "float y = in - fma(b, y2, -y3) - fma(c, y1, b) ; y3 = y2; y2 = y1; y1 = y; out[i] = y;",
        16,
        10,
    ),
    "all_subtracted": (
        "y1 = 1, y2 = 2, y3 = 3",
        "float y = fma(b, y1, -y2) - y3 - in; y3 = y2; y2 = y1; y1 = y; out[i] = y;",
        22,
        10,
    ),
    "transposed": (
        "s1 = 0, s2 = 0",
        "float y = b * in + s1; s1 = c * in - b * y + s2; s2 = b * in - c * y; out[i] = y;",
        22,
        16,
    ),
}


def planned(kind: str, filter: str, relaxed: bool, flush: bool = False):
    """(the function as the source says, the kernel as it is built, what was told)"""
    state, update, _, _ = FILTERS[filter]
    text = f"""__kernel void k(__global const float *restrict data, __global float *restrict out, int n, float b, float c) {{
  float {state};
  for (int i = 0; i < n; i++) {{ float in = data[i]; {update} }}
}}""".replace("float", kind)
    module = hls.driver.link_program(parse_source(text).module, False, None, flush)
    (kernel,), told = plan_module(module, BOARD, hls.Options(fp_relaxed=relaxed, denorms_are_zero=flush))
    return Inline().run(module).functions["k"], kernel, told


def outcome(function, kind: str, data) -> bytes:
    out = np.zeros(len(data), data.dtype)
    run_kernel(function, "k", {"data": data, "out": out}, {"n": len(data), "b": 1.0, "c": -1.0, "overlap": 0})
    return out.tobytes()


def ii(kernel) -> int:
    (region,) = kernel.plan.loops.values()
    return region.ii


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", FILTERS)
def test_what_comes_late_is_added_last(name, kind, flush):
    """Sums of small integers are exact in any order."""
    source, kernel, told = planned(kind, name, True, flush)
    verify(kernel.function)
    numbers = np.random.default_rng(3).integers(-8, 9, 12).astype(np.dtype("f4" if kind == "float" else "f8"))
    assert outcome(kernel.function, kind, numbers) == outcome(source, kind, numbers)
    _, written, _ = planned(kind, name, False, flush)
    assert ii(kernel) < ii(written)
    if kind == "float" and not flush:
        assert (ii(written), ii(kernel)) == FILTERS[name][2:]
    assert "is reassociated" in told[-1].message and told[-1].span
    rounded = [op for op in walk(kernel.function.body) if op.opcode in ("fadd", "fsub", "fmul", "fma")]
    assert all(op.attrs.get("flush", False) == flush for op in rounded)


@pytest.mark.parametrize("name", FILTERS)
def test_without_the_option_no_bit_changes(name):
    source, kernel, told = planned("float", name, False)
    numbers = np.random.default_rng(4).normal(0, 1, 9).astype(np.float32)
    assert outcome(kernel.function, "float", numbers) == outcome(source, "float", numbers)
    assert not told


def test_as_many_operations():
    """A multiply-add stays one, and so does the product that the first of them takes."""
    counts = []
    for relaxed in (False, True):
        _, kernel, _ = planned("float", "multiply_adds", relaxed)
        counts.append(
            sorted(op.opcode for op in walk(kernel.function.body) if op.opcode in ("fma", "fmul", "fadd", "fsub"))
        )
    assert counts == [["fma", "fma", "fma", "fmul"]] * 2


def _random_sum(rng: random.Random, names: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*names, *names, "in", "1.0"])
    left, right = (_random_sum(rng, names, depth - 1) for _ in range(2))
    form = rng.choice(
        ["({0} + {1})", "({0} - {1})", "fma({2}, {1}, {0})", "fma(-{2}, {1}, {0})", "({0} - {2} * {1})", "(-{0})"]
    )
    return form.format(left, right, "b" if rng.random() < 0.5 else "c")


@pytest.mark.parametrize("seed", sampled(range(30)))
def test_random_recurrences(seed, monkeypatch):
    rng = random.Random(seed)
    names = [f"s{k}" for k in range(rng.randint(1, 4))]
    update = f"float next = {_random_sum(rng, names, 3)} + {names[0]};" + "".join(
        f"{a} = {b};" for a, b in pairwise(names)
    )
    state = ", ".join(f"{name} = {rng.randrange(9)}" for name in names)
    monkeypatch.setitem(FILTERS, "random", (state, f"{update} {names[-1]} = next; out[i] = next;", 0, 0))
    source, kernel, _ = planned("double", "random", True)
    _, written, _ = planned("double", "random", False)
    numbers = np.random.default_rng(seed).integers(-8, 9, 7).astype(np.float64)
    assert np.array_equal(
        np.frombuffer(outcome(kernel.function, "double", numbers)), np.frombuffer(outcome(source, "double", numbers))
    )
    assert ii(kernel) <= ii(written)

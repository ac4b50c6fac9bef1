"""Sums of several values in recurrences add the operands that are available early first: a smaller interval, and the
same numbers."""

import random
from itertools import pairwise

import pytest

import hls
from hls.analysis.timing import TimingModel
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.passes.lowering.inline import Inline
from hls.passes.recurrence import timing_driven_reassociation as late_operands
from hls.passes.run_stages import optimize
from hls.planning.schedule import OperatorTiming
from tests.repetitions import sampled

BOARD = hls.load_board("de5net")
HEAD = "#define ROT(x, n) (((x) << (n)) | ((x) >> (32 - (n))))\n"


def planned(state: str, update: str, result: str):
    """(the function as the source says, the kernel as it is built) of a loop over words ``w``."""
    text = (
        f"{HEAD}__kernel void k(__global const uint *restrict words, __global uint *restrict out, int n) {{\n uint "
        f"{state};\n"
        f" for (int i = 0; i < n; i++) {{\n  uint w = words[i];\n  {update}\n }}\n out[0] = {result};\n}}"
    )
    module = parse_source(text).module
    (kernel,), _ = plan_module(module, BOARD, hls.Options())
    return Inline().run(module).functions["k"], kernel


def outcome(function, data: bytes) -> bytes:
    out = bytearray(4)
    run_kernel(function, "k", {"words": bytearray(data), "out": out}, {"n": len(data) // 4}, (1,))
    return bytes(out)


def same(source, kernel, seed: int) -> bool:
    data = random.Random(seed).randbytes(4 * 23)
    return outcome(source, data) == outcome(kernel.function, data)


@pytest.mark.parametrize(
    ("state", "update", "ii"),
    [
        # what was computed in iterations before: one addition closes the cycle
        (
            "a = 1, b = 2, c = 3, d = 4, e = 5",
            (
                "uint t = ROT(a, 5) + ((b & c) | (~b & d)) + e + w + 0x5a827999; e = d; d = c; c = ROT(b, 30); b = a; a "
                "= t;"
            ),
            1,
        ),
        ("a = 1, b = 1, c = 2", "uint s = a + w + b + c + (a ^ 5); a = b; b = c; c = s;", 1),
        # one of the leaves is subtracted, and so is all of them but one
        ("a = 9, b = 8, c = 7", "uint s = w - (c - (b - a)) - (a ^ 9); a = b; b = c; c = s;", 1),
        ("a = 9, b = 8, c = 7", "uint s = -(a + b) - (w + c) - (a ^ 9); a = b; b = c; c = s;", 1),
        # an inner sum that is wanted by itself
        (
            "a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8",
            (
                "uint t = h + (e ^ ROT(e, 6)) + (e & f) + w; h = g; g = f; f = e; e = d + t; d = c; c = b; b = a; a = t "
                "^ ROT(a, 2);"
            ),
            2,
        ),
        # of others
        ("a = 1, b = 2, c = 3", "uint s = max(max(max(max(a, w), b), c), a ^ 5); a = b; b = c; c = s;", 1),
    ],
)
def test_what_comes_late_meets_the_others_last(state, update, ii, monkeypatch):
    source, kernel = planned(state, update, "a ^ b ^ c")
    assert [plan.ii for plan in kernel.plan.loops.values()] == [ii]
    assert same(source, kernel, 1)
    monkeypatch.setattr(late_operands, "trees_of", lambda *_, **__: {})
    _, slower = planned(state, update, "a ^ b ^ c")
    assert all(plan.ii > ii for plan in slower.plan.loops.values())


def _random_value(rng: random.Random, names: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*names, *names, "w", str(rng.getrandbits(32)) + "u"])
    left, right = (_random_value(rng, names, depth - 1) for _ in range(2))
    form = rng.choice(
        ["({0} + {1})"] * 5
        + ["({0} - {1})"] * 4
        + [
            "({0} ^ {1})",
            "({0} | {1})",
            "({0} & {1})",
            "({0} * {1})",
            "min({0}, {1})",
            "max({0}, {1})",
            "({0} < {1} ? {0} : {1} + 3)",
            "ROT({0}, 7)",
        ]
    )
    return form.format(left, right)


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_random_recurrences(seed, monkeypatch):
    rng = random.Random(seed)
    names = [f"s{k}" for k in range(rng.randint(2, 5))]
    shared = [f"t{k}" for k in range(rng.randint(0, 2))]
    update = "".join(f"uint {name} = {_random_value(rng, names + shared[:k], 2)};\n" for k, name in enumerate(shared))
    update += f"uint next = {_random_value(rng, names + shared, rng.randint(2, 3))} + {names[0]} + w;\n"
    update += f"{names[0]} = {names[1]} + {rng.choice(shared or ['1'])};\n" + "".join(
        f"{a} = {b};\n" for a, b in pairwise(names[1:])
    )
    state, result = ", ".join(f"{name} = {rng.randrange(99)}" for name in names), " ^ ".join(names)
    source, kernel = planned(state, update + f"{names[-1]} = next;", result)
    assert same(source, kernel, seed)
    monkeypatch.setattr(late_operands, "trees_of", lambda *_, **__: {})
    _, without = planned(state, update + f"{names[-1]} = next;", result)
    assert all(
        plan.ii <= other.ii for plan, other in zip(kernel.plan.loops.values(), without.plan.loops.values(), strict=True)
    )


def test_the_timing_model_is_asked_in_proportion_to_the_operations(monkeypatch):
    """Each interval that is tried takes what operations add to an arrival from the first one."""
    asked: list = []
    step = TimingModel.step

    def of(count: int) -> int:
        values = [f"x{k}" for k in range(count)]
        state = ", ".join(f"{value} = {k}" for k, value in enumerate(values))
        update = " ".join(f"{value} += ({values[k - 1]} ^ w) + {values[k - 2]};" for k, value in enumerate(values))
        text = (
            "__kernel void k(__global const uint *restrict words, __global uint *restrict out, int n) {\n"
            f"uint {state};\n#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ uint w = words[i]; {update} }}\n"
            f"out[0] = {' ^ '.join(values)};\n}}"
        )
        (function,) = optimize(parse_source(text).module).kernels
        asked.clear()
        late_operands.TimingDrivenReassociation(OperatorTiming.of(BOARD)).run(function)
        return len(asked)

    monkeypatch.setattr(TimingModel, "step", lambda self, op: asked.append(op) or step(self, op))
    few, many = of(12), of(24)
    assert 0 < few and many < 3 * few, (few, many)

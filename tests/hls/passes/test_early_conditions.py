"""Conditions on counters computed an iteration in advance keep their meaning, and nested counters step in one cycle."""

import random
from dataclasses import replace

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.recurrence.look_ahead_control import LookAheadControl
from hls.passes.recurrence.restructure_muxes import RestructureMuxes
from hls.passes.recurrence.retime_comparisons import RetimeComparisons
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.kernels.system import Launch
from tests.repetitions import sampled

TIMING = OperatorTiming.of(load_board("de5net"))
#: one that nothing is fast enough for, so that every comparison is treated
HASTY = OperatorTiming(replace(TIMING.model, period_ns=0.5), TIMING.address_bits)
HEAD = "__kernel void k(__global int *restrict out, int n, int m, int w, uchar small) {\n"

#: what a counter ``x`` does in an iteration; ``inner`` is done where it comes round
STEPS = (
    "if (x == {l}) {{ x = {r}; {inner} }} x += {s};",
    "x += {s}; if (x {c} {l}) {{ x = {r}; {inner} }}",
    "if (x + {s} {c} {l}) {{ x = {r}; {inner} }} else x += {s};",
    "x = x {c} {l} ? {r} : x + {s}; if (x == {r}) {{ {inner} }}",
    "if (x != {l}) x += {s}; else {{ x = {r}; {inner} }}",
    "if (++x {c} {l}) {{ {inner} x = {r}; }} else if (x == {s}) x += {s};",
    "x += {s}; if (x {c} {l}) {{ x -= {l}; {inner} }}",
    "if (x {c} {l}) {{ x = x - {l}; {inner} }} x += {s};",
    "if (x {c} {l}) {{ x -= {r}; {inner} }} else if (x == {s}) x += {l}; else x += {s};",
)
LIMITS = ("m", "w", "m - 1", "w - 1", "small", "small - 1", "5", "(n & 3)")


def counters(rng: random.Random) -> str:
    """A kernel with a few counters, each stepping where the one before comes round."""
    names = "abc"[: rng.randint(1, 3)]
    body = ""
    for name in reversed(names):
        step = rng.choice(STEPS).format(
            l=rng.choice(LIMITS),
            r=rng.choice(["0", "1", "-2", "w"]),
            s=rng.choice(["1", "2", "m", "-1"]),
            c=rng.choice([">=", ">", "==", "<"]),
            inner=body,
        )
        body = step.replace("x", name)
    declared = "".join(
        f"    {rng.choice(['int', 'uint', 'uchar', 'short', 'long'])} {name} = {rng.choice(['0', '0', 'w', '3'])};\n"
        for name in names
    )
    whole = " ^ ".join(f"(int){name} * {3 + 4 * k}" for k, name in enumerate(names))
    until = rng.choice(["i < n", "i < n", f"i < n && {names[-1]} != 40"])
    return (
        f"{HEAD}{declared}    for (int i = 0; {until}; i++) {{\n        out[i] = {whole};\n        {body}\n    }}\n}}"
    )


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_random_counters(seed):
    rng = random.Random(seed)
    text = counters(rng)
    module, _, _, last = passes_through(text, "insert-memory-tokens")
    changed = RestructureMuxes(HASTY).run(LookAheadControl(HASTY).run(RetimeComparisons(HASTY).run(last)))
    verify(changed)
    for _ in range(4):
        scalars = {
            "n": rng.choice([0, 1, 23]),
            "m": rng.choice([0, 1, 3, 7, -1, 2**31 - 1]),
            "w": rng.choice([0, 1, 4, -3, -(2**31)]),
            "small": rng.choice([0, 1, 6, 255]),
        }
        launch = Launch({"out": np.zeros(23, np.int32)}, scalars)
        assert outcome(changed, launch) == outcome(module, launch), (text, scalars)


CONDITIONS = ("j < {l}", "i + j < {l}", "j - i != {l}", "(j ^ i) + m < {l}", "j * 2 + i <= {l}")


def nested(rng: random.Random) -> str:
    """A loop in another one, whose condition has several sums."""
    some = [
        rng.choice(CONDITIONS).format(l=rng.choice(["n", "m", "n + w", "5", "small"])) for _ in range(rng.randint(1, 3))
    ]
    condition = rng.choice([" && ", " && ", " || "]).join(["j < 9", *some]) if rng.random() < 0.9 else some[0]
    step = rng.choice(["j++", "j += 2", "j += w & 3", "j += i & 1 ? 1 : 2"])
    kinds = [rng.choice(["int", "uint", "ushort"]) for _ in range(2)]
    return (
        f"{HEAD}    int at = 0;\n    for ({kinds[0]} i = 0; i < 6; i++) {{ int t = 0;\n"
        f"#pragma unroll 1\n        for ({kinds[1]} j = 0; t < 20 && ({condition}); {step}, t++) at = at * 5 + j + i;\n"
        f"        out[i] = at; }}\n}}"
    )


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_random_conditions_of_inner_loops(seed):
    """Each condition in as many stages as it takes cycles."""
    rng = random.Random(seed)
    text = nested(rng)
    module, _, _, last = passes_through(text, "insert-memory-tokens")
    slow = OperatorTiming(replace(TIMING.model, period_ns=rng.choice([2.9, 3.3, 3.9])), TIMING.address_bits)
    changed = LookAheadControl(slow).run(last)
    verify(changed)
    for _ in range(3):
        scalars = {name: rng.choice([0, 1, 3, 7, -1, 2**31 - 1]) for name in "nmw"} | {"small": rng.choice([0, 6])}
        launch = Launch({"out": np.zeros(23, np.int32)}, scalars)
        assert outcome(changed, launch) == outcome(module, launch), (text, scalars)


@pytest.mark.parametrize(
    "body",
    [
        "if (b == m) { a++; b = 0; } out[i] = a * 7 + b; b++;",
        "out[i] = a * 7 + b; b = b + 1 < m ? b + 1 : 0; a += b == 0;",
        "out[i] = a * 7 + b + c; b++; if (b == m) { b = 0; a++; if (a == w) { a = 0; c++; } }",
        "out[i] = a * 7 + b + c; if (++b >= m) { b = 0; if (++a >= w) { a = 0; c++; } }",
        "a += 16; if (a >= m) { a -= m; b++; } out[i] = a * 3 + b;",
        "if (a >= m) { a = a - m; b++; } out[i] = a * 3 + b; a += w;",
        "out[i] = d * 7 + e; if (e == small - 1) { e = 0; if (d == small - 1) { d = 0; c++; } else d++; } else e++;",
    ],
)
def test_counters_that_come_round_step_in_a_cycle(body):
    text = f"{HEAD} int a = 0, b = 0, c = 0; uchar d = 0, e = 0;\n for (int i = 0; i < n; i++) {{ {body} }} }}"
    assert interval(text) == 1


@pytest.mark.parametrize(
    "step, ends",
    [
        ("x = x < 32 - 16 ? x + 16 : 0; y = x == 0 ? y + 1 : y;", "y < n"),
        ("x += 8; if (x == 64) { x = 0; y++; }", "y != n"),
    ],
)
def test_rows_counted_by_columns_end_a_loop_in_time(step, ends):
    """The condition comes cycles behind the state that it asks of: it is computed so many iterations ahead."""
    text = f"{HEAD} int x = 0, y = 0;\n do {{ out[x + y * m] = w; {step} }} while ({ends}); }}"
    assert interval(text) == 1


@pytest.mark.parametrize("condition", ["j < 64 && i + j < n", "j < 64 && (i ^ j) + m < n && j + w != m"])
def test_conditions_of_inner_loops_take_stages(condition):
    """No iteration is issued before it is known whether the loop goes on."""
    text = f"{HEAD} for (int i = 0; i < n; i += 64) for (int j = 0; {condition}; j++) out[i + j] = w; }}"
    kernels, _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    assert [(plan.ii, plan.speculative) for plan in kernels[0].plan.loops.values()] == [(1, False), (1, False)]


def interval(text: str) -> int:
    kernels, _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    (plan,) = kernels[0].plan.loops.values()
    return plan.ii

"""A minimum or maximum in a recurrence takes one cycle, with floats compared as integers, and every bit is the same."""

import random

import numpy as np
import pytest

import hls
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.passes.lowering.inline import Inline
from hls.passes.recurrence import absorb_guards as early_guards
from hls.passes.recurrence import float_min_max_as_integer as float_orders
from tests.repetitions import sampled

BOARD = hls.load_board("de5net")
HEAD = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
#: an iteration over ``t`` with the state ``best``, ``second`` and ``who``, and a condition ``c`` that the loop does not
#: carry
LOOPS = {
    "least": "if (t < best) best = t;",
    "last_least": "if (t <= best) { best = t; who = i; }",
    "greatest": "if (t > best) { best = t; who = i; }",
    "last_greatest": "best = best > t ? best : t;",
    "under_a_condition": "if (t < best && c) { best = t; who = i; }",
    "or_under_a_condition": "if (t < best || c) { best = t; who = i; }",
    "inside_a_condition": "if (c) { if (best >= t) { best = t; who = i; } }",
    "replaced_where_it_is_a_nan": "if (!(best >= t)) best = t;",
    "kept_where_it_is_none": "if (!(best < t || best != best)) best = t;",
    "fmin": "best = fmin(best, t);",
    "fmax": "best = fmax(t, best);",
    "both_ends": "if (t < best) best = t; else if (t > second) second = t;",
    "two_least": "if (t < best) { second = best; best = t; } else if (t < second) second = t;",
    "of_two": "float u = t + 1; if (t < best) best = t; if (u > best) best = u;",
    "begun_anew": "if (c) { best = t; who = i; } else if (t < best) { best = t; who = i; }",
}
#: of those that take two
TWO = ("of_two",)
TYPES = {
    "float": np.dtype("f4"),
    "double": np.dtype("f8"),
    "half": np.dtype("f2"),
    "int": np.dtype("i4"),
    "uint": np.dtype("u4"),
    "char": np.dtype("i1"),
}
FLOATS = ("float", "double", "half")


def text_of(kind: str, update: str) -> str:
    return f"""{HEAD}__kernel void k(__global const {kind} *restrict data, __global {kind} *restrict out, __global int *restrict at, int n) {{
  {kind} best = data[0], second = data[1]; int who = -1;
  for (int i = 0; i < n; i++) {{ {kind} t = data[2 + i]; int c = i % 3 == 0; {update.replace("float ", kind + " ")} out[3 + i] = best; }}
  out[0] = best; out[1] = second; out[2] = data[n]; at[0] = who;
}}"""


def planned(kind: str, update: str):
    return built(text_of(kind, update))


def built(text: str):
    """(the function as the source says, the kernel as it is built)"""
    module = parse_source(text).module
    (kernel,), _ = plan_module(module, BOARD, hls.Options())
    verify(kernel.function)
    return Inline().run(module).functions["k"], kernel


def outcome(function, data) -> bytes:
    out, at = np.zeros(len(data) + 3, data.dtype), np.zeros(1, np.int32)
    run_kernel(function, "k", {"data": data, "out": out, "at": at}, {"n": len(data) - 2, "overlap": 0})
    return out.tobytes() + at.tobytes()


def special(kind: str, rng: random.Random, count: int) -> np.ndarray:
    """Numbers close to each other, and what is special among them: NaN of both signs, infinities, both zeros, subnormal
    ones; extremes of integers."""
    type = TYPES[kind]
    if kind not in FLOATS:
        info = np.iinfo(type)
        return np.array(
            [
                rng.choice(
                    [
                        info.min,
                        info.max,
                        info.min + 1,
                        info.max - 1,
                        rng.randrange(0, 3),
                        rng.randint(int(info.min), int(info.max)),
                    ]
                )
                for _ in range(count)
            ],
            type,
        )
    tiny = float(np.finfo(type).smallest_subnormal)
    pool = [
        float("nan"),
        -float("nan"),
        float("inf"),
        -float("inf"),
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        -2.0,
        tiny,
        -tiny,
        float(np.finfo(type).max),
    ]
    some = rng.sample(pool, rng.randint(2, len(pool)))
    return np.array([rng.choice(some) if rng.random() < 0.8 else rng.uniform(-3, 3) for _ in range(count)], type)


def iis(kernel) -> list[int]:
    return [plan.ii for plan in kernel.plan.loops.values()]


def without_both(monkeypatch):
    monkeypatch.setattr(float_orders, "_is_order", lambda one: False)
    monkeypatch.setattr(early_guards, "_join_all", lambda one: None)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", LOOPS)
def test_floats(name, kind, monkeypatch):
    source, kernel = planned(kind, LOOPS[name])
    for seed in range(24):
        data = special(kind, random.Random(seed), 2 + seed % 9)
        assert outcome(source, data) == outcome(kernel.function, data), data
    # a comparison of 64 bits leaves no room for the choice
    assert iis(kernel) == [1 + (name in TWO or kind == "double")]
    without_both(monkeypatch)
    assert iis(planned(kind, LOOPS[name])[1]) > iis(kernel)


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind not in FLOATS])
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, update in LOOPS.items()
        if not {"fmin", "fmax", "best != best"} & set(update.replace("(", " ").split())
    ],
)
def test_integers(name, kind):
    source, kernel = planned(kind, LOOPS[name])
    for seed in range(16):
        data = special(kind, random.Random(seed), 2 + seed % 9)
        assert outcome(source, data) == outcome(kernel.function, data), data
    assert iis(kernel) == [1 + (name in TWO)]


@pytest.mark.parametrize("condition", ["t < best && c", "c && best <= t", "t >= best || c", "!(t > best || c)"])
def test_guards_of_integers_gain_a_cycle(condition, monkeypatch):
    update = f"if ({condition}) {{ best = t; who = i; }}"
    assert iis(planned("int", update)[1]) == [1]
    without_both(monkeypatch)
    assert iis(planned("int", update)[1]) == [2]


def _random_condition(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        form = rng.choice(
            [
                "({0} {2} {1})",
                "({1} {2} {0})",
                "({1} {2} {0})",
                "({0} {2} {1})",
                "c",
                "({0} != {0})",
                "({0} == {0})",
                "({1} == {1})",
            ]
        )
        return form.format(
            rng.choice(["best", "best", "second"]),
            rng.choice(["t", "t", "u", "1.0f"]),
            rng.choice(["<", "<=", ">", ">="]),
        )
    left, right = (_random_condition(rng, depth - 1) for _ in range(2))
    return rng.choice(["({0} && {1})", "({0} || {1})", "!{0}"]).format(left, right)


def _random_statement(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(
            ["{0} = {1};", "{0} = {1};", "{0} = fmin({0}, {1});", "{0} = fmax({1}, {0});", "who = i;", "second = best;"]
        ).format(rng.choice(["best", "best", "second"]), rng.choice(["t", "t", "u"]))
    inner, other, condition = (
        _random_statement(rng, depth - 1),
        _random_statement(rng, depth - 1),
        _random_condition(rng, rng.randint(0, 2)),
    )
    return rng.choice(["if ({0}) {{ {1} }}", "if ({0}) {{ {1} }} else {{ {2} }}", "{2} if ({0}) {{ {1} }}"]).format(
        condition, inner, other
    )


@pytest.mark.parametrize("seed", sampled(range(24)))
def test_random_loops(seed, monkeypatch):
    rng = random.Random(seed)
    update = f"float u = -t; {_random_statement(rng, rng.randint(1, 3))}"
    source, kernel = planned("float", update)
    for k in range(12):
        data = special("float", random.Random(100 * seed + k), 2 + k % 8)
        assert outcome(source, data) == outcome(kernel.function, data), data
    without_both(monkeypatch)
    assert iis(kernel) <= iis(planned("float", update)[1])


UNROLLED = {
    "greatest": "for (int k = 0; k < 4; k++) best = fmax(best, row[k]);",
    "least": "for (int k = 0; k < 4; k++) if (row[k] < best) { best = row[k]; who = 4 * i + k; }",
    "last_least": "for (int k = 0; k < 4; k++) if (best >= row[k]) { best = row[k]; who = 4 * i + k; }",
    "begins_anywhere": "for (int k = 0; k < 4; k++) best = best > row[k] ? best : row[k];",
    "under_conditions": "for (int k = 0; k < 4; k++) if (row[k] > best && (i + k) % 3) { best = row[k]; who = 4 * i "
    "+ k; }",
    "seen_between": "for (int k = 0; k < 4; k++) { if (row[k] < best) { best = row[k]; who = 4 * i + k; } if (k == "
    "1) out[2 + i] = best; }",
}


@pytest.mark.parametrize("kind", ["float", "int", "uint"])
@pytest.mark.parametrize("name", UNROLLED)
def test_steps_in_one_iteration_are_one(name, kind):
    update = UNROLLED[name] if kind == "float" else UNROLLED[name].replace("fmax", "max")
    text = f"""__kernel void k(__global const {kind} *restrict data, __global {kind} *restrict out, __global int *restrict at, int n) {{
  {kind} best = data[0]; int who = -1;
  for (int i = 0; i < n; i++) {{
    __global const {kind} *row = data + 4 * i;
    #pragma unroll
    {update}
  }}
  out[0] = best; at[0] = who;
}}"""
    source, kernel = built(text)
    for seed in range(20):
        data = special(kind, random.Random(seed), 4 * (1 + seed % 4))
        outcomes = []
        for function in (source, kernel.function):
            out, at = np.zeros(len(data), data.dtype), np.zeros(1, np.int32)
            run_kernel(function, "k", {"data": data, "out": out, "at": at}, {"n": len(data) // 4, "overlap": 0})
            outcomes.append(out.tobytes() + at.tobytes())
        assert outcomes[0] == outcomes[1], data
    # where a NaN takes the place of every number, and every number its place, the last one of the steps is not the best
    # of them
    assert iis(kernel) == [3 if (name, kind) == ("begins_anywhere", "float") else 1]


def test_a_loop_that_waits_for_its_end_is_left_alone(monkeypatch):
    """Its condition waits for all that is computed from where the iteration begins."""
    head = "uint s = 1; float best = INFINITY; int i = 0;"
    text = (
        f"__kernel void k(__global float *restrict out, float eps) {{ {head}\n#pragma speculated_iterations 0\n "
        f"while (best > eps) {{"
        "float t = as_float(s & 0x3fffffff); s = s * 5 + 1; if (t < best) best = t; i++; } out[0] = i; }"
    )
    _, kernel = built(text)
    without_both(monkeypatch)
    assert iis(kernel) == iis(built(text)[1])


def test_what_asks_about_the_value_outside_of_the_recurrence_compares_integers():
    """The end of the loop waits for no float."""
    source, kernel = planned("float", "if (t < best) best = t; if (best <= second) break;")
    assert iis(kernel) == [1]
    for seed in range(20):
        data = special("float", random.Random(seed), 3 + seed % 7)
        assert outcome(source, data) == outcome(kernel.function, data), data
    assert not any(op.opcode in ("flt", "fle") for op in walk(kernel.function.body))

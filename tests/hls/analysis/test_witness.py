"""Conflicts found by trial: each is one that the polyhedral library confirms, and they spare it most of its queries."""

import random

import pytest

from hls.analysis.dependence import dependence, witness
from hls.analysis.dependence.dependence import dependences
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.parser import parse_function
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.repetitions import sampled


def flat(text):
    """The kernel before the order of its accesses is found, and the width of its addresses."""
    options = PipelineOptions()
    return optimize(parse_source(text, "k.cl", {}, []).module, options).kernels[0], options.address_bits


def place(rng):
    """An index that wraps around, in which one unknown or several occur."""
    inner = " + ".join(rng.sample(["v", "2 * v", "i", "p[i + 1]", "n", "3 * i"], rng.randint(1, 2)))
    count = rng.choice([0, 1, 5, 17, 40])
    return rng.choice(
        [f"({inner} + {count}) & 63", f"((uint)({inner}) / 4 + {count}) % 60", f"({inner} + {count}) * 2 & 62"]
    )


def masked_kernel(rng):
    """Conditional updates of a private array and of a buffer at indices that wrap around."""
    updates = "\n".join(
        f"{rng.choice(['', f'if (v & {1 << rng.randint(0, 5)})', 'if (v > 3)'])} {rng.choice('to')}[{place(rng)}] += {k};"
        for k in range(rng.randint(2, 5))
    )
    return (
        "__kernel void k(__global int *restrict o, __global const int *restrict p, int n) {\n"
        "int t[64];\n#pragma unroll 1\nfor (int i = 0; i < 64; i++) t[i] = p[i];\n"
        f"#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ int v = p[i];\n{updates}\n}}\n"
        "#pragma unroll 1\nfor (int i = 0; i < 64; i++) o[64 + i] = t[i];\n}"
    )


@pytest.mark.parametrize("seed", sampled(range(24)))
def test_each_conflict_found_by_trial_is_one(seed, monkeypatch):
    found = []

    def recorded(query):
        if answer := conflicts(query):
            found.append(query)
        return answer

    conflicts = dependence.conflicts_at_once
    monkeypatch.setattr(dependence, "conflicts_at_once", recorded)
    function, bits = flat(masked_kernel(random.Random(seed)))
    dependences(function, bits)
    assert found
    for query in found:
        assert dependence._answered(query.text) == int(query.loop is not None), query.text


def updated(updates):
    """A kernel that makes these updates of a private array in each iteration."""
    return flat(
        "__kernel void k(__global int *restrict o, __global const int *restrict p, int n) {\nint t[64];\n"
        "#pragma unroll 1\nfor (int i = 0; i < 64; i++) t[i] = p[i];\n"
        f"#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ int v = p[i];\n{updates}\n}}\n"
        "#pragma unroll 1\nfor (int i = 0; i < 64; i++) o[i] = t[i];\n}"
    )


@pytest.mark.parametrize(
    "updates",
    [
        "\n".join(f"if (v & {1 << k}) t[(v + {k}) & 63] += {k};" for k in range(12)),
        # no one number meets all of these conditions
        "\n".join(f"if (v > {70 * k}) t[v & 63] += {k};" for k in range(12)),
        "\n".join(f"if (v == {70 * k}) t[(v + n) & 63] += {k};" for k in range(12)),
        # the conditions of a branch are those of all before it
        " else ".join(f"if (v > {70 * k}) t[v * {k} & 63] = {k};" for k in reversed(range(12))),
    ],
    ids=["bits", "thresholds", "numbers", "chain"],
)
def test_conditional_updates_need_few_queries(updates, monkeypatch):
    function, bits = updated(updates)
    asked = []
    answered = dependence._answered.__wrapped__
    monkeypatch.setattr(dependence, "_answered", lambda text: asked.append(text) or answered(text))
    dependences(function, bits)
    assert len(asked) <= 12, len(asked)  # of more than 100 pairs of accesses


def test_of_many_conditional_updates_most_are_tried_once(monkeypatch):
    """Most pairs conflict at the point where a pair before did, which is the first one that is tried."""
    queries, points = [], []
    conflicts, measured = dependence.conflicts_at_once, witness._Point._distance
    monkeypatch.setattr(dependence, "conflicts_at_once", lambda query: queries.append(query) or conflicts(query))
    monkeypatch.setattr(witness._Point, "_distance", lambda point: points.append(point) or measured(point))
    updated("\n".join(f"if (v > {3 * k}) t[v & 63] += v * {k};" for k in range(16)))
    assert len(queries) > 200
    assert len(points) < 1.5 * len(queries), (len(points), len(queries))


def test_an_access_that_never_executes_conflicts_with_none():
    """The conditions of the second store contradict each other."""
    function = parse_function("""\
kernel @k(%v.0: i32) {
  param v: scalar "int" 4
  memory o: global i32 x ? restrict
  %1: i32 = const {value = 10}
  %2: i32 = const {value = 20}
  %3: i32 = const {value = 30}
  %4: i1 = slt %1, %v.0
  %5: i1 = slt %2, %v.0
  %6: i1 = slt %v.0, %3
  %7: i1 = slt %v.0, %1
  %8: i1 = and %4, %5
  %9: i1 = and %8, %6
  %10: i1 = and %8, %7
  %11: i64 = const {value = 0}
  %12: ptr = addr %11 {mem = "o"}
  store %12, %1, %9
  store %12, %2, %10
  return
}
""")
    tester = dependence.DependenceTester(function, 64)
    once, never = (op for op in walk(function.body) if op.opcode == "store")
    assert tester.domains.is_empty(never) and not tester.domains.is_empty(once)
    assert not tester.pair(once, never) and not tester.pair(never, never)
    assert tester.pair(once, once) == []  # in one iteration an access has no order with itself
    never.operands[2] = once.operands[2]
    (fact,) = dependence.DependenceTester(function, 64).pair(once, never)
    assert (fact.src, fact.dst, fact.loop) == (once, never, None)

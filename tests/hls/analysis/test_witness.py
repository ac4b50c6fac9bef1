"""Conflicts found by trial: each is one that the polyhedral library confirms, and they spare it most of its queries."""

import random

import pytest

from hls.analysis.dependence import dependence
from hls.analysis.dependence.dependence import dependences
from hls.frontend import parse_source
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.repetitions import half_long


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


@pytest.mark.parametrize("seed", half_long(range(24)))
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


def test_conditional_updates_need_few_queries(monkeypatch):
    updates = "\n".join(f"if (v & {1 << k}) t[(v + {k}) & 63] += {k};" for k in range(12))
    function, bits = flat(
        "__kernel void k(__global int *restrict o, __global const int *restrict p, int n) {\nint t[64];\n"
        "#pragma unroll 1\nfor (int i = 0; i < 64; i++) t[i] = p[i];\n"
        f"#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ int v = p[i];\n{updates}\n}}\n"
        "#pragma unroll 1\nfor (int i = 0; i < 64; i++) o[i] = t[i];\n}"
    )
    asked = []
    answered = dependence._answered.__wrapped__
    monkeypatch.setattr(dependence, "_answered", lambda text: asked.append(text) or answered(text))
    dependences(function, bits)
    assert len(asked) <= 12, len(asked)  # of more than 100 pairs of accesses

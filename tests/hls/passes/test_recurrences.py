"""Reductions over a loop (sums, products, logic, minimum and maximum): the same bytes in fewer cycles, in any form
of the source."""

import random
from functools import cache

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.recurrence.recurrence_height_reduction import RecurrenceHeightReduction
from hls.passes.recurrence.tree_height_reduction import TreeHeightReduction
from hls.passes.run_stages import optimize
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.repetitions import sampled

HEAD = "__kernel void f(__global const {type} *restrict a, __global {type} *restrict out, int n) {{\n"
#: bodies of a loop over i that is unrolled eight times, or says how itself; s, m and c begin as they are said to
KERNELS = {
    "sum": ("int", "s += a[i];"),
    "products": ("int", "s += a[i] * a[i + 1];"),
    "difference": ("int", "s -= a[i];"),
    "to_and_fro": ("int", "if (a[i] & 1) s += a[i]; else s -= 3;"),
    "count": ("int", "if (a[i] > 7) s++;"),
    "logic": ("uint", "s ^= a[i]; m |= a[i]; c &= a[i] | 1;"),
    "product": ("uint", "s *= a[i] | 1;"),
    "greatest": ("int", "m = max(m, a[i]); c = min(c, a[i]);"),
    "greatest_unsigned": ("uint", "m = max(m, a[i]); c = min(c, a[i]);"),
    "greatest_by_hand": ("int", "if (a[i] > m) m = a[i]; if (a[i] < c) c = a[i];"),
    "guarded_greatest": ("int", "if (a[i] & 1) m = max(m, a[i]);"),
    "bytes": ("uchar", "s += a[i]; m = max(m, a[i]);"),
    "two_sums": ("int", "if (a[i] > 0) s += a[i]; else if (a[i] < -5) s += 3; if (a[i] == 9) s -= 2;"),
    "prefix": ("int", "s += a[i]; out[i] = s;"),
}


def source(name: str, unroll: int = 8) -> str:
    type, body = KERNELS[name]
    return (
        HEAD.format(type=type)
        + f"{type} s = 1, m = 2, c = 77;\n#pragma unroll {unroll}\nfor (int i = 0; i < n; i++) {{ {body} }}\n"
        "out[500] = s; out[501] = m; out[502] = c;\n}\n"
    )


@cache
def planned(name):
    module = parse_source(source(name)).module
    return plan_module(module, load_board("de5net"), Options())[0][0]


@pytest.mark.parametrize("name", KERNELS)
def test_an_unrolled_loop_starts_an_iteration_a_cycle(name):
    """Eight operations in a chain would take as many cycles."""
    kernel = planned(name)
    (loop,) = kernel.plan.loops.values()
    # a product of two products takes the multiplier's latency; eight in a row would take eight times that
    assert loop.ii <= (4 if name == "product" else 1)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 40])
def test_the_same_bytes(name, n):
    type, _ = KERNELS[name]
    module = parse_source(source(name, 1)).module
    function = planned(name).function
    verify(function)
    dtype = {"int": np.int32, "uint": np.uint32, "uchar": np.uint8}[type]
    a = np.random.default_rng(n).integers(-100, 100, 520).astype(dtype)
    before, after = np.zeros(520, dtype), np.zeros(520, dtype)
    run_kernel(module, "f", {"a": a, "out": before}, {"n": n})
    run_kernel(function, "f", {"a": a, "out": after}, {"n": n, "overlap": 0})
    assert (before == after).all()


OPS = [
    "{s} + {x}",
    "{x} + {s}",
    "{s} - {x}",
    "{s} ^ {x}",
    "{s} | {x}",
    "{s} & {x}",
    "{s} * {x}",
    "max({s}, {x})",
    "min({x}, {s})",
]


def random_body(rng: random.Random) -> str:
    """A chain of updates of three carried values, under conditions and not, that look at each other now and then."""
    kind, lines = rng.choice(OPS[:3] + [rng.choice(OPS)]), []
    for _ in range(rng.randint(2, 9)):
        s = rng.choice("sssstu")
        x = rng.choice(
            [
                f"a[i + {rng.randint(0, 3)}]",
                f"a[i + {rng.randint(0, 3)}]",
                str(rng.randint(1, 9)),
                "i",
                rng.choice("stu"),
            ]
        )
        update = f"{s} = {(rng.choice(OPS) if rng.random() < 0.25 else kind).format(s=s, x=x)};"
        guard = rng.choice(["a[i] > 3", "(i & 1)", f"{rng.choice('stu')} < 40", "a[i + 1] < a[i]"])
        lines.append(
            rng.choice(
                [
                    update,
                    update,
                    f"if ({guard}) {update}",
                    f"if ({guard}) {update} else {s} = {kind.format(s=s, x='5')};",
                    f"{update} out[8 * i + {len(lines)} % 8] = {s};",
                ]
            )
        )
    return "\n".join(lines)


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_random_chains(seed):
    """Each pass by itself, over what the pipeline has made of the kernel so far, and the whole pipeline against the
    source."""
    rng = random.Random(seed)
    type = rng.choice(["int", "uint", "uchar", "short"])
    text = (
        f"__kernel void f(__global const {type} *restrict a, __global {type} *restrict out, int n) {{\n"
        f"{type} s = 1, t = 2, u = 3;\n#pragma unroll {rng.choice([1, 1, 2, 4])}\nfor (int i = 0; i < n; i++) {{ "
        f"{random_body(rng)} }}\n"
        "out[1000] = s; out[1001] = t; out[1002] = u;\n}\n"
    )
    module = parse_source(text).module
    dtype = {"int": np.int32, "uint": np.uint32, "uchar": np.uint8, "short": np.int16}[type]
    a = np.random.default_rng(seed).integers(-50, 120, 64).astype(dtype)
    results = []
    optimized = optimize(module, PipelineOptions(check=True))
    (function,) = optimized.functions.values()
    alone = TreeHeightReduction(OperatorTiming.of(load_board("de5net")), least=3).run(
        RecurrenceHeightReduction().run(function)
    )
    verify(alone)
    for each, scalars in ((module, {"n": 23}), (function, {"n": 23, "overlap": 0}), (alone, {"n": 23, "overlap": 0})):
        out = np.zeros(1024, dtype)
        run_kernel(each, "f", {"a": a, "out": out}, scalars)
        results.append(out)
    assert all((out == results[0]).all() for out in results[1:]), text

"""Partial results: what is predicted, beside a replay of the text in which the sketch was completed."""

import numpy as np
import pytest

from hls.driver import plan_text
from hls.model.estimate import Planned, timed
from hls.options import Options
from hls.planning import Compilation
from hls.tune.partial_results import PartialResults
from hls.tune.sketch import described, sketch
from sim import cl
from tests.model.launched import MAIN, Given, Program

HEAD = "__kernel void bins(__global const uchar *restrict at, __global const float *restrict w,\n"
HEAD += "                   __global float *restrict out, int n)\n{\n"
TEXT = f"""{HEAD}    float bin[256];
    for (int i = 0; i < 256; i++) bin[i] = out[i];
    for (int i = 0; i < n; i++) {{
        if (w[i] > 3.0f) bin[at[i]] += w[i];
    }}
    for (int i = 0; i < 256; i++) out[i] = bin[i];
}}
"""
RANDOM = np.random.default_rng(3)
N = 4000
AT, W, OUT = (
    RANDOM.integers(0, 256, N).astype(np.uint8),
    RANDOM.integers(0, 9, N).astype(np.float32),
    np.ones(256, "f4"),
)
GIVEN = Given("bins", {"at": AT, "w": W, "out": OUT}, {"n": np.int32(N)})


def found(text):
    """The cycles of the kernel's launch, and its rewrites with the cycles after each."""
    program = Program(text)
    plan = plan_text(text, program.board, Options(), MAIN)
    workload = program.workloads(GIVEN)["bins"]
    (kernel,) = plan.kernels
    planned = Planned(kernel.function, kernel.memory, kernel.plan, kernel.unrolled, kernel.merged, MAIN)
    partials = PartialResults(plan.module, Compilation(plan.board, plan.options), MAIN)
    return timed(planned, workload, plan.board).cycles, partials.rewrites(kernel, planned, workload)


def replayed(text):
    context = cl.create_some_context(device="model")
    there = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=one.copy()) for one in GIVEN.buffers.values()]
    queue, result = cl.CommandQueue(context), OUT.copy()
    event = cl.Program(context, text).build().bins(queue, (1,), None, *there, np.int32(N))
    cl.enqueue_copy(queue, result, there[2]).wait()
    return event.stats.to_dict()["cycles"], result


def test_the_completed_sketch_is_as_fast_as_predicted(monkeypatch):
    monkeypatch.setenv("SLUICE_STATS", "0")
    now, all_of = found(TEXT)
    ((rewrite, predicted),) = all_of.items()
    lines = sketch(rewrite, None, {"": TEXT.splitlines()}).splitlines()
    assert described(rewrite) == "partial results: 8 arrays in turn instead of bin"
    loop = next(k for k, line in enumerate(lines) if "turn++" in line)
    behind = lines.index("// behind the loop")
    text = TEXT.replace("    for (int i = 0; i < n", "\n".join(lines[:loop]) + "\n    for (int i = 0; i < n")
    text = text.replace("bin[at[i]] += w[i];", "bin_part[turn & 7][at[i]] += w[i];\n        turn++;")
    text = text.replace("    }\n", "    }\n" + "\n".join(lines[behind:]) + "\n")
    (before, expected), (after, result) = replayed(TEXT), replayed(text)
    assert (result == expected).all()
    assert predicted == pytest.approx(after, rel=0.08) and now == pytest.approx(before, rel=0.02)
    assert after < 0.4 * before


@pytest.mark.parametrize(
    "old, new",
    [
        ("bin[at[i]] += w[i]", "bin[at[i]] = w[i] - bin[at[i]]"),  # not the sum of partial results
        ("bin[at[i]] += w[i]", "bin[at[i]] *= w[i]"),  # one is no zero
        ("bin[at[i]] += w[i]", "bin[at[i]] = bin[at[i] ^ 1] + w[i]"),  # another element
        ("bin[at[i]] += w[i]", "{ bin[at[i]] += w[i]; out[i & 255] = bin[i & 255]; }"),  # read in between
    ],
)
def test_what_partial_results_would_change_has_none(old, new):
    assert not found(TEXT.replace(old, new))[1]

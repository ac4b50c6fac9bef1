"""Loops that learn an iteration later whether they go on: the iteration that the program does not make has no effect."""

import numpy as np
import pytest
from test_transforms import compiled

from hls.driver import plan_module, plan_text
from hls.frontend import parse_source
from hls.ir import Attr, Module, walk
from hls.model.estimate import estimate
from hls.options import Options
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.recurrence import delay_exits
from hls.passes.run_stages import link_program, optimize
from hls.report.collect import collect_kernel
from hls.report.facts.loops import every
from hls.report.loop_text import loop_tree
from hls.target.board import load_board
from tests.model.launched import Given, Program
from tests.programs.late_exits import late_launches, late_program
from tests.sim.emulator.both import Run, interpreted

#: accesses are not coalesced, as where memory is on the chip
ONCHIP = PipelineOptions(word_bytes=0)
HEAD = "kernel void k(global int *restrict p, global int *restrict o, int n)"
ROOTS = (
    "for (int i = 0; i < n; i++) { int x = o[i]; while (p[x] != x) { p[x] = p[p[x]]; x = p[x]; } o[i] = x; }",
    "for (int k = 0; k < n; k++) { int v = o[k], i = k; while (i && p[i / 2] > v) { p[i] = p[i / 2]; i = i / 2; } p[i] = v; }",
)


def _marked(module: Module) -> Module:
    """The program with all loops asked for."""
    for function in module.functions.values():
        for op in walk(function.body):
            if op.opcode == "loop":
                op.attrs[Attr.DELAY_EXIT] = True
    return module


@pytest.mark.parametrize("first", range(0, 32, 8))
def test_random_programs(first):
    """On buffers of exactly their size; the early loads of the last iteration may leave them."""
    delayed = 0
    for seed in range(first, first + 8):
        module = link_program(parse_source(late_program(seed)).module)
        flat = optimize(_marked(link_program(parse_source(late_program(seed)).module)), ONCHIP)
        delayed += sum(Attr.EXIT_DELAYED in op.attrs for f in flat.functions.values() for op in walk(f.body))
        for launch in late_launches(seed):
            run = Run(f"late{seed}", launch.buffers, launch.scalars)
            optimized = Run(run.kernel, run.buffers, dict(run.scalars) | {"overlap": 0})
            assert interpreted(flat, optimized) == interpreted(module, run), late_program(seed)
    assert delayed > 2


@pytest.mark.parametrize("body", ROOTS)
def test_the_plan_delays_exits_that_limit_the_ii(body, monkeypatch):
    """Where the loop is entered once, and iterations then start earlier."""

    def ii() -> list[int]:
        module = link_program(parse_source(f"{HEAD} {{ {body} }}").module)
        (kernel,), _ = plan_module(module, load_board("ecp5_onchip"), Options())
        return [region.ii for region in kernel.plan.loops.values()]

    delayed = ii()
    monkeypatch.setattr(delay_exits, "_delay", lambda function, loop: None)
    assert len(delayed) == 1 and delayed[0] < max(ii())  # of two loops the outer one waits for the inner


@pytest.mark.parametrize(
    "body",
    [
        "int x = 0; for (int i = 0; i < n; i++) { x += p[i]; o[i] = x; }",  # the end is known
        "for (int i = 0; i < n; i++) for (int j = 0; p[j] > i; j++) o[j] = i;",  # entered again and again
        "\n#pragma speculated_iterations 0\nfor (int j = 0; p[j] > n; j++) p[j] = n;",  # not wanted
    ],
)
def test_other_loops_stay(body):
    _, function = compiled(f"{HEAD} {{ {body} }}")
    assert not any(delay_exits.may_delay(function, op) for op in walk(function.body))


def test_the_report_and_the_estimate_count_the_last_iteration():
    """An iteration for each step of a search, one for each search, and the one without effects."""
    text = f"{HEAD} {{ {ROOTS[0]} }}"
    plan = plan_text(text, load_board("ecp5_onchip"), Options(), "k.cl")
    kernel = collect_kernel(plan.kernels[0], plan.module, plan.board.read_latency)
    assert [loop.speculated for loop in every(kernel.loops) if loop.ii] == [1]
    assert "Delayed exit: one more iteration" in " ".join(" ".join(loop_tree(kernel.loops, 150)).split())
    program = Program(text, "ecp5_onchip")
    links = np.maximum(np.arange(512, dtype=np.int32) - 1, 0)
    given = Given("k", {"p": links, "o": np.full(300, 511, np.int32)}, {"n": 300})
    workload = program.workloads(given)["k"]
    (found,) = estimate(program.kernels["k"], workload, program.board).loops
    assert found.iterations == sum(one.iterations for one in workload.loops) + 1

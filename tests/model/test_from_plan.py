"""The scheduler's plans against the model's rules: both agree on when a token may follow another."""

from pathlib import Path

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board
from tests.repetitions import sampled

from .from_plan import kernel_spec, run_kernel_model
from .recording import Invocation, record
from .spec import LoopSpec

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(ROOT.glob("examples/*/kernel.cl")) + [
    ROOT / f"tests/kernels/{name}.cl" for name in ("loops", "recurrences")
]
BOARD = load_board("de5net")


def plans(text, elastic_depth=0):
    """The planned kernels of a source text, by name."""
    module = parse_source(text, "kernel.cl", {}, []).module
    kernels, _ = plan_module(module, BOARD, Options(elastic_depth=elastic_depth))
    return {k.function.name: k for k in kernels}


def loops_of(spec):
    yield spec
    for level in spec.levels:
        for operation in level.row:
            if isinstance(operation.unit, LoopSpec):
                yield from loops_of(operation.unit)


@pytest.mark.parametrize("path", sampled(SOURCES), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_points_follow_from_the_recurrences(path):
    for kernel in plans(path.read_text()).values():
        try:
            spec, operations = kernel_spec(kernel, BOARD)
        except ValueError as error:
            assert any(
                what in str(error)
                for what in ("fences", "channels", "meet", "compute units", "windows", "hazard units", "stand still")
            )
            continue
        for loop in loops_of(spec):
            if loop.name != "top":
                same_points(loop, kernel.plan.loops[operations[loop.name]])


def same_points(loop, plan):
    """The model derives the points from decision and recurrences; the plan says them."""
    point = lambda p: (p.level, p.stage)
    assert loop.again == point(plan.again), loop.name
    assert loop.again_delay == plan.again_delay, loop.name
    for level in plan.levels[1:]:
        derived = loop.ready(level.index)
        if level.ready is None:
            assert derived in (None, (level.index, 0)), "a point that lets the next token in as soon as this one is in"
        else:
            assert derived == point(level.ready), (loop.name, level.index)


NEST = """__kernel void nest(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j < i; j++)
            if (j != 1) sum += a[i + j];
        out[i] = sum;
    }
}
"""


def test_recording():
    """What a run did, by iteration; what was off is None."""
    function = plans(NEST)["nest"].function
    top = record(function, {"a": np.arange(16, dtype=np.int32), "out": np.zeros(8, np.int32)}, {"n": 4}, (1,))
    (outer,) = top.iterations[0].values()
    inner = [next((v for op, v in facts.items() if op.opcode == "loop"), None) for facts in outer.iterations]
    assert [len(i.iterations) if isinstance(i, Invocation) else None for i in inner] == [None, 1, 2, 3]
    stores = [v for facts in outer.iterations for op, v in facts.items() if op.opcode == "store"]
    assert stores == [0, 4, 8, 12]
    assert [list(facts.values()) for facts in inner[3].iterations] == [[12], [None], [20]]


def test_trips_and_cycles_of_a_run():
    """The nest issues as many tokens as the run had iterations, one a cycle, plus the memory's latency at the start."""
    kernel, n = plans(NEST)["nest"], 64
    buffers = {"a": bytearray(4 * 2 * n), "out": bytearray(4 * n)}
    run = run_kernel_model(kernel, BOARD, buffers, {"a": 0, "out": 4096}, {"n": n}, ((1,), None, None))
    inner = run.loops[4, "j"]
    assert (inner.issued, inner.invocations) == (n * (n - 1) // 2, n - 1)
    assert inner.measured_ii < 1.05
    assert inner.issued < run.cycles < 1.2 * inner.issued


def test_memory_on_the_chip_is_refused():
    with pytest.raises(ValueError, match="on the chip"):
        kernel_spec(plans(NEST)["nest"], load_board("ecp5_onchip"))

"""Loops are built as their pragmas say, and compute the right bytes."""

from pathlib import Path

import numpy as np
import pytest

from hls.diag import CompileError
from hls.driver import compile
from tests.kernels.system import Launch, kernel_names

SOURCE = (Path(__file__).parent / "pragmas.cl").read_text()


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    return Launch(
        {"a": rng.integers(0, 64, 80).astype(np.int32), "b": rng.integers(0, 64, 80).astype(np.int32)}, {"n": n}
    )


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 17, 64)], (0, 1))


@pytest.mark.verilator
def test_rates(system):
    (stats,) = system.check("slower", [launch(64)])
    assert stats["loops"][0]["static_ii"] == 4
    assert 3.99 <= stats["loops"][0]["measured_ii"] <= 4.1
    (stats,) = system.check("promised", [launch(64)])
    assert stats["loops"][0]["static_ii"] == 1
    (stats,) = system.check("far_ahead", [launch(64)])
    assert stats["loops"][0]["static_ii"] == 90
    (stats,) = system.check("far_apart", [launch(64)])
    inner = next(loop for loop in stats["loops"] if loop["static_ii"] == 70)
    assert 14 <= inner["measured_ii"] <= 20, "four invocations take turns"
    (stats,) = system.check("one_of_three", [launch(64)])
    assert len(stats["loops"]) == 1
    (stats,) = system.check("one_after_the_other", [launch(64)])
    assert stats["loops"][0]["measured_ii"] > 5


def test_an_interval_that_cannot_be_met_names_the_recurrence():
    source = (
        "__kernel void k(__global float *restrict a, int n) {\n  float sum = 0;\n  #pragma ii 1\n"
        "  for (int i = 0; i < n; i++) sum += (float)i;\n  a[0] = sum;\n}"
    )
    with pytest.raises(CompileError) as caught:
        compile(source)
    message = caught.value.diagnostics[0]
    assert message.span.line == 4
    assert (
        "#pragma ii 1 cannot be met: the least is 6, because sum needs the result of the previous iteration"
        in message.message
    )


def test_an_interval_at_the_cost_of_the_clock():
    """Where only the length of chains is in the way, the interval is met, and what that costs is said."""
    source = (
        "__kernel void k(__global int *restrict a, int n) {\n  int v = n;\n  #pragma ii 2\n  #pragma unroll 9\n"
        "  for (int i = 0; i < n; i++) { v += 1; v ^= i; }\n  a[0] = v;\n}"
    )
    result = compile(source)
    (loop,) = result.kernels[0].plan.loops.values()
    assert loop.ii == 2
    (warning,) = [w for w in result.warnings if "lowers fmax" in w.message]
    assert warning.span.line == 5
    assert "MHz instead of 240" in warning.message

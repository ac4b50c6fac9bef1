"""Predictions beside loops: sums over copies and launches, and loops that only the hardware or only the source has."""

import pytest

from hls import Options, compile
from hls.model.prediction import SCHEMA, Interval, PredictedLoop, Prediction
from hls.report.collect import collect
from hls.report.facts.loops import every
from hls.report.model import Kernel, Loop
from hls.report.predicted import with_predictions

KERNEL = Kernel(
    "k", None, False, loops=(Loop("i", None, 1, id="k/i", children=(Loop("j", None, 2, id="k/i/j"),)), Loop("u", None, 0, id="k/u"))
)  # fmt: skip


def loop(iterations: float, interval: float, cause: str = "schedule", invocations: float = 1.0) -> PredictedLoop:
    return PredictedLoop("", 1, "", iterations, invocations, 1, interval, 1.0, cause, 1)


def launch(
    *loops: PredictedLoop, cycles: float = 100.0, wide: float = 0.0, assumed: tuple[str, ...] = ()
) -> Prediction:
    around = Interval(cycles, cycles - wide, cycles + wide)
    return Prediction(SCHEMA, "k", "b", around, 1e-6, loops, (), f"wide {wide:g}", assumed)


def predicted(kernel: Kernel) -> dict:
    return {one.id: one.predicted for one in every(kernel.loops)}


def test_copies_of_a_loop_are_summed_and_the_slowest_counts():
    found = predicted(with_predictions(KERNEL, ["k/i", "k/i/j", "k/i/j"], [launch(loop(4, 9), loop(8, 2), loop(6, 3))]))
    assert (found["k/i/j"].iterations, found["k/i/j"].invocations, found["k/i/j"].interval) == (14, 2, 3)
    assert found["k/i"].interval == 9 and found["k/u"] is None


def test_intervals_of_launches_count_by_their_iterations():
    launches = [launch(loop(10, 2, "schedule")), launch(loop(30, 6, "memory")), launch(loop(0, 99, "nothing"))]
    found = predicted(with_predictions(KERNEL, ["k/i"], launches))["k/i"]
    assert (found.iterations, found.invocations, found.interval, found.cause) == (40, 3, 5, "memory")


def test_a_loop_that_never_runs_has_an_interval_nevertheless():
    found = predicted(with_predictions(KERNEL, ["k/i"], [launch(loop(0, 2)), launch(loop(0, 4))]))["k/i"]
    assert (found.iterations, found.interval) == (0, 3)


def test_a_loop_of_the_hardware_without_an_entry_is_left_out():
    found = predicted(with_predictions(KERNEL, ["", "k/i/j"], [launch(loop(5, 50), loop(7, 2))]))
    assert found["k/i"] is None and found["k/i/j"].iterations == 7


def test_launches_are_summed():
    launches = [launch(loop(1, 1), cycles=100, wide=5, assumed=("a", "b")), launch(loop(1, 1), cycles=50, wide=9, assumed=("b",))]  # fmt: skip
    found = with_predictions(KERNEL, ["k/i"], launches).predicted
    assert (found.launches, found.cycles, found.least, found.most) == (2, 150, 136, 164)
    assert found.wide == "wide 9" and found.assumed == ("a", "b")


def test_without_predictions_the_kernel_is_as_it_was():
    assert with_predictions(KERNEL, ["k/i"], []) is KERNEL


def test_a_prediction_of_other_loops_is_an_error():
    with pytest.raises(ValueError):
        with_predictions(KERNEL, ["k/i", "k/i/j"], [launch(loop(1, 1))])


def test_only_the_stores_at_the_port_that_limits_are_counted():
    """Two write ports for three stores: two of them share one."""
    source = """__kernel void k(__global const int *restrict in, __global int *restrict out, int n)
    {
        __local int __attribute__((doublepump, numwriteports(2))) h[4096];
        #pragma ivdep array(h)
        for (int i = 0; i < n; i++) { int x = in[i]; h[x & 4095] = i; h[(x >> 9) & 4095] = x; h[(x >> 3) & 4095] = 7; }
        for (int i = 0; i < 4096; i++) out[i] = h[i];
    }"""
    report = collect(compile(source, "de5net", Options(), "k.cl"), "k.cl")
    loops = {one.id: one for one in every(report.kernels[0].loops)}
    assert "2 of 3 stores to h (lines 5, 5, 5) share one write port" in loops["k/i"].bottleneck.sentence

"""A chain of autorun kernels: the reported latency is that of the run."""

import numpy as np
import pytest

from hls.report.collect import collect
from tests.kernels.groups import ChannelSystem
from tests.kernels.system import Launch
from tests.kernels.test_memory import narrow_words

pytestmark = pytest.mark.verilator

LENGTH = 8
#: two chains whose ends one kernel joins: a value goes round, so that an iteration takes as long as the chain
SOURCE = f"""
channel int long_way[{LENGTH + 1}], short_way[2];
__attribute__((max_global_work_dim(0))) __attribute__((autorun)) __attribute__((num_compute_units({LENGTH})))
__kernel void step(void) {{
    const int id = get_compute_id(0);
    while (1) write_channel_intel(long_way[id + 1], read_channel_intel(long_way[id]) * 3 + id);
}}
__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void single(void) {{
    while (1) write_channel_intel(short_way[1], read_channel_intel(short_way[0]) * 3 + 7);
}}
__kernel void round_long(__global int *restrict out, int n) {{
    int x = 1;
    for (int i = 0; i < n; i++) {{ write_channel_intel(long_way[0], x); x = read_channel_intel(long_way[{LENGTH}]); }}
    out[0] = x;
}}
__kernel void round_short(__global int *restrict out, int n) {{
    int x = 1;
    for (int i = 0; i < n; i++) {{ write_channel_intel(short_way[0], x); x = read_channel_intel(short_way[1]); }}
    out[0] = x;
}}
"""


@pytest.fixture(scope="module")
def system():
    system = ChannelSystem(SOURCE, narrow_words())
    yield system
    system.close()


def launch(n: int) -> Launch:
    return Launch({"out": np.zeros(1, np.int32)}, {"n": n})


def round_trip(system, kernel: str, n: int = 60) -> float:
    """Cycles of an iteration, which waits for its value to come back."""
    (run,) = system.check_together({kernel: launch(n)})
    return run[kernel]["loops"][0]["measured_ii"]


def test_reported_latency_is_measured(system):
    reported = {
        kernel.name: [(way.source, way.target, way.cycles) for way in kernel.ways]
        for kernel in collect(system.result, "").kernels
    }
    cycles = [reported[f"step_{k}"] for k in range(LENGTH)]
    assert [[way[:2] for way in ways] for ways in cycles] == [
        [(f"long_way[{k}]", f"long_way[{k + 1}]")] for k in range(LENGTH)
    ]
    (single,) = reported["single"]
    chain = sum(ways[0][2] for ways in cycles)
    assert round_trip(system, "round_long") - round_trip(system, "round_short") == chain - single[2]


def test_same_values_under_stalls(system):
    system.check_together({"round_long": launch(20), "round_short": launch(20)}, (0, 1, 2))

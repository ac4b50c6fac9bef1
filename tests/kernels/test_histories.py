"""Values of several iterations ago, under random stalls, in stall-free and in stall-enabled levels."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hls.driver import compile
from tests.kernels.system import KernelSystem, Launch, kernel_names

SOURCE = (Path(__file__).parent / "histories.cl").read_text()
#: The II that the distance allows, by kernel: the latency of the chain of operations over it.
INTERVALS = {
    "eight_products": 1,
    "four_sums": 2,
    "unknown_start": 1,
    "several_taps": 2,
    "until_large": 2,
    "rounds": 1,
    "row_starts": 1,
}


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    return Launch({"a": rng.uniform(0.5, 2.0, 128).astype(np.float32), "out": np.zeros(80, np.float32)}, {"n": n})


@cache
def compiled():
    return compile(SOURCE)


@pytest.mark.parametrize("kernel", INTERVALS)
def test_intervals(kernel):
    plan = next(k.plan for k in compiled().kernels if k.plan.name == kernel)
    (loop,) = (one for one in plan.loops.values() if any(c.root is not None for c in one.carried))
    assert loop.ii == INTERVALS[kernel]


def test_the_count_of_tokens_on_their_way_does_not_repeat_itself():
    """Fifteen stages between reading and writing: a choice whose two sides are written out each would double with every
    stage."""
    assert sum(map(len, compiled().verilog.values())) < 6e6


@pytest.fixture(scope="module", params=[0, 64], ids=["rigid", "elastic"])
def system(request):
    system = KernelSystem(SOURCE, elastic_depth=request.param)
    yield system
    system.close()


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 2, 3, 7, 12, 40)], (0, 1, 2))

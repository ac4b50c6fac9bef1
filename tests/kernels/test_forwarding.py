"""Loads of on-chip global memory that watch the store of an earlier iteration, against the interpreter; and their
rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.plans import planned

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "forwarding.cl").read_text()
#: initiation interval of the innermost loop on ecp5_onchip
RATES = {
    "counts": 1,
    "least": 1,
    "relax": 1,
    "paths": 1,
    "slow": 2,
    "bytes": 1,
    "sometimes": 1,
    "two_stores": 2,
    "filled_before": 1,
    "reached": 1,
}


def launch(kernel: str, n: int, few: int) -> Launch:
    """``few``: the number of elements between which the indices change, so that neighbouring iterations conflict."""
    rng = np.random.default_rng(n + few)
    kind = np.uint8 if kernel == "bytes" else np.int32
    at, w = (rng.integers(0, most, 64).astype(np.int32) for most in (few, 90))
    h = rng.integers(0, 90, 32).astype(kind)
    return Launch({"at": at, "w": w, "h": h}, {"n": n})


@pytest.fixture(scope="module", params=[0, 1000], ids=["stall_free", "stall_enabled"])
def system(request):
    system = KernelSystem(SOURCE, "ecp5_onchip", elastic_depth=request.param, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    names = {argument.name for argument in system.kernels[kernel].arguments}
    launches = [launch(kernel, n, few) for n, few in ((0, 1), (1, 1), (60, 1), (60, 3), (64, 32))]
    launches = [
        Launch({name: array for name, array in one.buffers.items() if name in names}, one.scalars) for one in launches
    ]
    *_, last = system.check(kernel, launches, (1, 2, 3, 0))
    loop = max(last["loops"], key=lambda loop: loop["iterations"])
    assert loop["static_ii"] == RATES[kernel]
    assert loop["measured_ii"] <= 1.05 * RATES[kernel] or kernel == "paths"  # whose outer loops wait


def test_a_pointer_chase_is_not_delayed():
    """A load whose address depends on its own result would take a cycle longer with a port that forwards."""
    text = """__kernel void chase(__global int *restrict next, __global int *restrict out, int n) {
        int p = 0;
        for (int i = 0; i < n; i++) { p = next[p]; next[p ^ 1] = i; }
        *out = p; }"""
    kernel = planned(text, "ecp5_onchip")["chase"]
    (plan,) = kernel.plan.loops.values()
    assert plan.ii == 2
    assert not any(access.forwarding for access in kernel.memory.accesses.values())

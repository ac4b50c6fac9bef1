"""Memories of double-pumped blocks, like the interpreter, with stalls: how many blocks, at which rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "pumped.cl").read_text()
#: of each kernel: initiation interval of its slowest loop, banks, and blocks with two or four accesses a cycle in all
MEMORIES = {}
SPACES = {"eight_reads": ((1024,), (256,)), "atomics": ((64,), (16,))}


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    a = rng.integers(0, 1 << 20, 1024).astype(np.int32)
    return Launch({"a": a, "out": np.full(1024, -77, np.int32)}, {"n": n}, *SPACES.get(kernel, ((1,), None)))


@pytest.fixture(scope="module", params=[0, 1000], ids=["stall_free", "stall_enabled"])
def system(request):
    system = KernelSystem(SOURCE, elastic_depth=request.param)
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (16, 512)], (0, 1, 2))

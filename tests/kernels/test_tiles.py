"""Tiles in local memory, with many lanes: against the interpreter, without serialization, in as few copies as their
loads need."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "tiles.cl").read_text()
#: of each kernel: banks and copies of banks in all, and its index space
KERNELS = {
    "transpose": ({"t": (16, 16)}, (16, 32), (16, 16)),
    "tiles": ({"p": (4, 16), "q": (4, 64)}, (32, 32), (16, 16)),
}


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE)
    yield system
    system.close()


@pytest.mark.parametrize("kernel", KERNELS)
def test_tiles(system, kernel):
    memories, size, group = KERNELS[kernel]
    built = next(k for k in system.result.kernels if k.plan.name == kernel)
    assert all(plan.ii == 1 for plan in built.plan.loops.values())
    assert {name: (m.map.banks, sum(m.bank_copies)) for name, m in built.memory.onchip.items()} == memories
    a = np.random.default_rng(1).integers(0, 1 << 20, 1024).astype(np.int32)
    launch = Launch({"a": a, "out": np.full(1024, -77, np.int32)}, {"n": 3}, size, group)
    system.check(kernel, [launch, launch], (0, 1, 2))

"""Long delays in memories, under random stalls, in stall-free and in stall-enabled levels."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch, kernel_names

SOURCE = (Path(__file__).parent / "delays.cl").read_text()


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    return Launch({"a": rng.uniform(0.5, 2.0, 128).astype(np.float32), "out": np.zeros(64, np.float32)}, {"n": n})


@pytest.fixture(scope="module", params=[0, 200], ids=["rigid", "elastic"])
def system(request):
    system = KernelSystem(SOURCE, elastic_depth=request.param)
    yield system
    system.close()


def test_every_kernel_has_values_in_memories(system):
    text = "".join(system.result.verilog.values())
    for kernel in kernel_names(SOURCE):
        assert re.search(rf"^module \\sluice_system\.{kernel}\.\S*\.delay_", text, re.MULTILINE), kernel


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 2, 3, 17, 40)], (0, 1, 2))

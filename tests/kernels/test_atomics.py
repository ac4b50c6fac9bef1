"""Atomic operations on global memory: right under random stalls, and as fast as the words they work on allow."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch

SOURCE = (Path(__file__).parent / "atomics.cl").read_text()
COUNT = 1024
#: Most cycles for each operation: one where the words are held, and the reads and writes that are under way at once elsewhere.
CYCLES = {"scattered": 6.5, "bins": 1.3, "one_counter": 1.2, "compared": 4}
WORK_ITEMS = {"one_counter", "compared"}


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE)
    yield system
    system.close()


def launch(kernel: str, misalign: int = 0) -> Launch:
    given = np.random.default_rng(misalign).integers(0, 1 << 20, COUNT).astype(np.int32)
    return Launch({"in": given, "t": np.zeros(16384, np.int32)}, {"n": COUNT}, (COUNT if kernel in WORK_ITEMS else 1,), misalign=misalign)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", CYCLES)
def test_rates(system, kernel):
    plain, *_ = system.check(kernel, [launch(kernel), launch(kernel, 3)], (0, 1, 2))
    overhead = 300  # launch, the first word, and words written at the end
    assert plain["cycles"] - overhead < CYCLES[kernel] * COUNT

"""Atomic operations on global memory: correct under random stalls, and as fast as the words they access allow.

    python -m tests.kernels.test_atomics

prints the cycles of a launch for each of its operations, launch and end included.
"""

import contextlib
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch

SOURCE = (Path(__file__).parent / "atomics.cl").read_text()
COUNT = 2048
#: Most cycles for each operation: one where the words are held, and the reads and writes that are under way at once
#: elsewhere. of an iteration of ``paired``, which has two, and a work-item of ``side_by_side``, which has one or two.
CYCLES = {
    "scattered": 7,
    "bins": 1.4,
    "one_counter": 1.3,
    "compared": 3.5,
    "paired": 2.6,
    "side_by_side": 2,
    "exchanged": 3.5,
    "largest": 20,
    "raised": 9,
}
WORK_ITEMS = {"one_counter", "compared", "side_by_side", "exchanged", "raised"}
GROUPS = {"side_by_side", "raised"}


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE)
    yield system
    system.close()


def launch(kernel: str, misalign: int = 0) -> Launch:
    given = np.random.default_rng(misalign).integers(0, 1 << 20, COUNT).astype(np.int32)
    return Launch(
        {"in": given, "t": np.zeros(16384, np.int32)},
        {"n": COUNT},
        (COUNT if kernel in WORK_ITEMS else 1,),
        (32,) if kernel in GROUPS else None,
        misalign=misalign,
    )


def cycles(system: KernelSystem, kernel: str, seeds=(0,)) -> float:
    """For each operation, without stalls; checked with all of the seeds, and with other addresses."""
    plain, *_ = system.check(kernel, [launch(kernel), launch(kernel, 3)], seeds)
    return plain["cycles"] / COUNT


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", CYCLES)
def test_rates(system, kernel):
    assert cycles(system, kernel, (0, 1, 2)) < CYCLES[kernel]


if __name__ == "__main__":
    with contextlib.closing(KernelSystem(SOURCE)) as built:
        for name in CYCLES:
            print(f"{name}: {cycles(built, name):.2f} cycles for each of {COUNT} operations")

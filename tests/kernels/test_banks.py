"""Banked memories with stall-free and stall-enabled levels, against the interpreter; their rate, and the number of
copies."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "banks.cl").read_text()
#: of each kernel: initiation interval of its slowest loop, banks, and copies of banks in all
MEMORIES = {
    "lanes": (1, {"t": (4, 20)}),
    "unrolled": (1, {"t": (4, 4)}),
    "histograms": (1, {"h": (4, 4)}),
    "window": (1, {"t": (2, 10)}),
    "either": (1, {"t": (1, 1)}),
    "halves": (1, {"t": (1, 1)}),
    "masked": (1, {"t": (4, 4)}),
    "wrong_bits": (4, {"t": (4, 4)}),
    "few_copies": (3, {"t": (1, 1)}),
    "rows": (1, {"t": (8, 8)}),
    "halves_of_one": (2, {"t": (2, 2)}),
    "lanes_of_100": (1, {"h": (4, 4)}),
}
SPACES = {"lanes": ((128,), (64,))}


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    a = rng.integers(0, 1 << 20, 1024).astype(np.int32)
    return Launch({"a": a, "out": np.full(1024, -77, np.int32)}, {"n": n}, *SPACES.get(kernel, ((1,), None)))


system = with_both_levels(SOURCE)


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (16, 512)], (0, 1, 2))


@pytest.mark.parametrize("kernel", MEMORIES)
def test_memories(system, kernel):
    """The interval of the slowest loop, the banks and their copies; no loop is slower in simulation than planned."""
    ii, memories = MEMORIES[kernel]
    built = next(k for k in system.result.kernels if k.plan.name == kernel)
    assert max(plan.ii for plan in built.plan.loops.values()) == ii
    assert {name: (m.map.banks, sum(m.bank_copies)) for name, m in built.memory.onchip.items()} == memories
    (stats,) = system.check(kernel, [launch(kernel, 512)])
    for loop in stats["loops"]:
        if loop["iterations"] >= 128 and kernel not in SPACES:
            assert loop["measured_ii"] <= 1.05 * loop["scheduled_ii"] + 0.5

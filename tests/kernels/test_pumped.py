"""Double-pumped memories, against the interpreter, with stalls: the number of blocks, and the rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "pumped.cl").read_text()
#: of each kernel: initiation interval of its slowest loop; banks, ports for reading and blocks of its memory, of all
#: banks together
MEMORIES = {
    "eight_reads": (1, 1, 8, 4),
    "three_ports": (1, 1, 3, 1),
    "histogram": (1, 1, 1, 1),
    "histograms": (1, 4, 4, 4),
    "atomics": (1, 32, 64, 32),
    "window": (1, 1, 9, 3),
    "either": (1, 4, 8, 4),
    "bytes": (1, 1, 3, 1),
    "few_blocks": (2, 1, 3, 1),
    "two_units": (1, 1, 3, 1),
}
SPACES = {"eight_reads": ((128,), (64,)), "atomics": ((64,), (16,)), "two_units": ((512,), (32,))}


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
    built = next(k for k in system.result.kernels if k.plan.name == kernel)
    (memory,) = built.memory.onchip.values()
    ii = max([1, *(plan.ii for plan in built.plan.loops.values())])
    assert memory.pumped and (ii, memory.map.banks, sum(memory.bank_ports), sum(memory.bank_copies)) == MEMORIES[kernel]
    assert system.result.interface.double_clock

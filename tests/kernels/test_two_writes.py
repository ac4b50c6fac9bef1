"""Memories with two write ports, against the interpreter, with stalls: their rate, and the number of blocks."""

from pathlib import Path

import numpy as np
import pytest

from hls.ir import Attr
from tests.kernels.system import Launch, kernel_names, with_both_levels

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "two_writes.cl").read_text()
#: of each kernel: initiation interval of its slowest innermost loop; banks, ports for writing of each, blocks of all
#: together
MEMORIES = {
    "scatter": (1, 1, 2, 1),
    "swap": (1, 1, 2, 1),
    "sort": (1, 1, 2, 1),
    "four": (2, 1, 2, 1),
    "three": (2, 1, 2, 1),
    "some": (1, 1, 2, 1),
    "bytes": (1, 1, 2, 1),
    "banks": (1, 2, 2, 2),
    "two_loops": (1, 1, 2, 1),
    "apart": (1, 1, 2, 1),
    "invocations": (1, 1, 2, 1),
    "unrolled": (4, 1, 2, 1),
    "rows": (2, 4, 2, 4),
    "groups": (1, 16, 2, 16),
    "late": (2, 1, 2, 1),
}
SPACES = {"groups": ((128,), (16,))}


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
    ii = max([1, *(plan.ii for plan in built.plan.loops.values() if not any(op.opcode == "loop" for op in plan.place))])
    assert memory.pumped and (ii, memory.map.banks, memory.write_ports, sum(memory.bank_copies)) == MEMORIES[kernel]


def test_two_loops_have_a_port_each(system):
    """A store before a loop and the one in it need no order, and no booking of a port."""
    built = next(k for k in system.result.kernels if k.plan.name == "apart")
    (memory,) = built.memory.onchip.values()
    assert [memory.turn(op) for op in memory.stores if Attr.BOOKED in op.attrs] == [1, 0] and not built.plan.bookings

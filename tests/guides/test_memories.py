"""The memories of the vendor's guides and other well-known patterns: bytes under random stalls, no stalled accesses,
as few block RAMs as are known to suffice."""

import pytest

from hls import Options, load_board
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.passes.run_stages import link_program
from tests.guides.memories import MEMORIES, SOURCE, Planned, measure
from tests.kernels.system import KernelSystem


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE.read_text())
    yield system
    system.close()


@pytest.mark.verilator
@pytest.mark.parametrize("row", MEMORIES, ids=lambda row: row.kernel)
def test_memory(system, row):
    found = measure(system, row, seeds=(0, 1))
    assert found.met, found


def test_planned():
    """Banks, copies and intervals, without a simulation."""
    module = link_program(parse_source(SOURCE.read_text(), str(SOURCE), {}, []).module)
    kernels, _ = plan_module(module, load_board("de5net"), Options())
    found = {kernel.function.name: Planned.of(kernel) for kernel in kernels}
    assert found.keys() == {row.kernel for row in MEMORIES}
    assert {row.kernel: found[row.kernel] for row in MEMORIES if not found[row.kernel].meets(row)} == {}

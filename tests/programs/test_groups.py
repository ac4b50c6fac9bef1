"""Random kernels that work in groups: one system on the board, and many through the passes. ``campaign --groups`` runs more."""

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.ir.launch import units_of
from hls.options import Options
from hls.target.board import load_board
from tests.kernels.system import MAX_CYCLES

from .campaign import run_system
from .groups import group_launches, random_group_kernel


@pytest.mark.verilator
def test_random_groups():
    runs, failures = run_system(0, kernels=6, groups=True)
    assert runs == 36
    assert not failures, "\n".join(f"kernel seed {f.seed}: {f.error}\n{f.kernel.text}" for f in failures)


@pytest.mark.parametrize("seed", range(40))
def test_planned_kernels_mean_the_same(seed):
    """What is planned, copies of local memory and units included, writes what the source says."""
    kernel = random_group_kernel(seed)
    module = parse_source(kernel.text, "k.cl", {}, []).module
    (planned,), _ = plan_module(module, load_board("de5net"), Options())
    assert units_of(planned.function) == kernel.units
    for launch in group_launches(kernel, seed):
        found = []
        for one in (module, Module({"k": planned.function}, module.sources, module.channels)):
            buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
            run_kernel(one, "k", buffers, launch.scalars, launch.global_size, launch.local_size, launch.offset, MAX_CYCLES)
            found.append(buffers)
        assert found[0] == found[1], kernel.text


def test_all_kinds_come_by():
    kernels = [random_group_kernel(seed) for seed in range(200)]
    assert {k.lanes for k in kernels} == {1, 2, 4} and {k.units for k in kernels} == {1, 2, 3}
    texts = "\n".join(k.text for k in kernels)
    assert all(word in texts for word in ("barrier", "atomic_min", "atomic_xor", "for (i0", "get_group_id(0) & 3"))

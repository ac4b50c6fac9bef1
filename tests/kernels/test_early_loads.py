"""Loads made before their condition, two loads of one address, and carried elements, with and without random stalls."""

from pathlib import Path

import numpy as np
import pytest

from hls.ir import is_early, walk
from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names, with_both_levels
from tests.plans import planned

SOURCE = (Path(__file__).parent / "early_loads.cl").read_text()
#: kernel -> II of its innermost loop, loads that are made early, loads of global memory (where it is DRAM)
LOADS = {
    "least_sum": (1, 1, 2),
    "least_looked_up": (1, 0, 2),
    "greatest_at": (1, 0, 2),
    "greatest_of_other": (1, 1, 3),
    "greatest_in_rows": (1, 0, 2),
    "chain": (1, 2, 3),
    "used_elsewhere": (1, 1, 2),
    "in_part": (1, 1, 2),
    "inside": (1, 1, 3),
    "until_found": (1, 1, 3),
}


def launch(n: int, seed: int, **other) -> Launch:
    rng = np.random.default_rng(seed)
    w = (1000 - np.sort(rng.integers(0, 900, 64)) + rng.integers(-90, 90, 64)).astype(np.int32)
    w[rng.integers(n // 2, max(n // 2 + 1, n))] = 77
    buffers = {"w": w, "h": rng.integers(0, 64, 64).astype(np.int32), "out": np.full(64, 5, np.int32)}
    return Launch(buffers | other, {"n": n}, misalign=seed % 3)


@pytest.mark.parametrize("board", ["de5net", "ecp5_onchip"])
@pytest.mark.parametrize("kernel", LOADS)
def test_no_condition_of_a_load_is_waited_for(kernel, board):
    plan = planned(SOURCE, board)[kernel]
    loads = [op for op in walk(plan.function.body) if op.opcode == "load"]
    ii = next(p.ii for loop, p in plan.plan.loops.items() if not any(op.opcode == "loop" for op in p.region.ops))
    count = len(loads) if board == "de5net" else LOADS[kernel][2]
    assert (ii, sum(map(is_early, loads)), count) == LOADS[kernel]


system = with_both_levels(SOURCE)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n, n) for n in (64, 1, 0, 32)], (0, 1, 2, 3))


@pytest.fixture(scope="module")
def onchip(request):
    system = KernelSystem(SOURCE, "ecp5_onchip", choose=chosen(request))
    yield system
    system.close()


def outside(wanted: bool) -> Launch:
    """The second half of the loads of h leaves the buffer; the first of them is ``wanted`` or none is."""
    w = np.full(64, 2000, np.int32)
    w[:32] = 900 - np.arange(32)
    w[32] = 3 if wanted else 2000
    return Launch({"w": w, "h": np.arange(32, dtype=np.int32), "out": np.zeros(4, np.int32)}, {"n": 64})


def check_outside(system, seeds):
    """A load that is not wanted may fail without an effect; one that is wanted sets the kernel's status."""
    system.check("least_sum", [outside(wanted=False)], seeds)
    for seed in seeds:
        system.loaded.session.reset(seed)
        run, _ = system.launch("least_sum", outside(wanted=True))
        assert run.status


@pytest.mark.verilator
def test_a_load_outside_is_an_error_where_it_is_wanted(system):
    check_outside(system, (0, 1, 2))


@pytest.mark.verilator
def test_loads_made_in_vain_are_counted(system):
    (stats,) = system.check("least_sum", [outside(wanted=False)])
    # the first 32 elements grow less and less, as h adds up to 7: some of them are no new least sum
    shares = {access["buffer"]: access["in_vain"] for access in stats["memory"] if access["kind"] == "load"}
    least, wanted = 1000, 0
    for k, x in enumerate(outside(wanted=False).buffers["w"]):
        if x < least:
            least, wanted = x + (k & 7), wanted + 1
    assert shares == {"w": None, "h": (64 - wanted) / 64}


@pytest.mark.verilator
def test_a_load_of_memory_on_the_chip_outside_is_an_error_where_it_is_wanted(onchip):
    check_outside(onchip, (0, 1))


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes_of_memory_on_the_chip(onchip, kernel):
    onchip.check(kernel, [launch(n, n) for n in (64, 1)], (0, 1))

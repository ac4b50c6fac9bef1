"""Carried values that are read past their registers, or without a choice in front of them, under random stalls."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hls.driver import compile
from hls.options import Options
from tests.kernels.system import KernelSystem, Launch, kernel_names

SOURCE = (Path(__file__).parent / "forwarded.cl").read_text()
BOARD = "ecp5_onchip"
#: the IIs of the innermost loop: with a register on the way each chain would have 2, and the sum 7
INTERVALS = {"walk": 1, "automaton": 1, "chains": 1, "list": 1, "rows": 1, "serial_sum": 6}


def launch(n: int) -> Launch:
    rng = np.random.default_rng(n)
    following = rng.integers(0, 1 << 16, 128).astype(np.uint16)
    return Launch({"next": following, "out": np.zeros(64, np.int32)}, {"n": n})


@cache
def compiled():
    return compile(SOURCE, BOARD, Options())


@pytest.mark.parametrize("kernel", INTERVALS)
def test_intervals(kernel):
    plan = next(k.plan for k in compiled().kernels if k.plan.name == kernel)
    innermost = min(plan.loops.values(), key=lambda one: sum(op.opcode == "loop" for op in one.region.ops))
    assert innermost.ii == INTERVALS[kernel]
    past = [c for c in innermost.carried if c.forwards is not None]
    assert bool(past) == (kernel != "serial_sum")
    for c in past:
        assert 0 < c.write.stage - c.read.stage <= innermost.ii
    assert any(c.preset for c in innermost.carried) == (kernel not in ("list", "rows"))


@pytest.fixture(scope="module")
def system():
    """Levels of at most two stages are stall-enabled, the others, those of two kernels, are not."""
    system = KernelSystem(SOURCE, BOARD, elastic_depth=2)
    yield system
    system.close()


def test_both_kinds_of_levels(system):
    kinds = {
        name: {level.elastic for loop in system.plan(name).loops.values() for level in loop.levels}
        for name in system.kernels
    }
    assert [name for name, found in kinds.items() if False in found] == ["chains", "serial_sum"]


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 2, 3, 7, 40)], (0, 1, 2))

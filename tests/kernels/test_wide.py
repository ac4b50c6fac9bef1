"""Kernels whose accesses are coalesced into wide ones, on boards with different memories: every byte as in the
interpreter."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.kernels.test_memory import narrow_words

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "wide.cl").read_text()
SIZES = (0, 1, 7, 13)
SEEDS = (0, 1, 2)


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    buffers = {name: rng.integers(-999, 999, 64).astype(np.int32) for name in ("a", "b", "out")}
    if kernel == "bytes":
        buffers = {"p": rng.integers(0, 256, 64).astype(np.uint8), "q": np.full(64, 77, np.uint8)}
    elif kernel == "mixed":
        buffers = {"w": rng.integers(-1 << 60, 1 << 60, 64), "h": np.full(64, -1, np.int16)}
    return Launch(buffers, {"n": n}, (max(1, n),) if kernel.startswith("items") else (1,), misalign=n % 5)


#: those run with words as wide as two elements, too
NARROW = ("add_tail", "backwards", "window", "bytes", "mixed")


@pytest.fixture(scope="module")
def narrow(request):
    system = KernelSystem(SOURCE, narrow_words(), choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in SIZES], SEEDS)


@pytest.mark.parametrize("kernel", NARROW)
def test_bytes_of_narrow_words(narrow, kernel):
    narrow.check(kernel, [launch(kernel, n) for n in SIZES], SEEDS)


@pytest.mark.parametrize(
    "kernel, loads, stores",
    [
        ("add_tail", 2, 1),
        ("add_unsigned", 2, 1),
        ("backwards", 1, 1),
        ("in_place", 1, 1),
        ("points", 1, 1),
        ("window", 1, 1),
        ("overlaps", 1, 1),
        ("bytes", 1, 1),
        ("mixed", 1, 1),
        ("items", 1, 1),
        ("rows", 1, 1),
        ("rows_in_place", 2, 1),
        ("items_in_place", 2, 1),
    ],
)
def test_units(system, kernel, loads, stores):
    """As many units as wide accesses."""
    accesses = next(k.memory.accesses.values() for k in system.result.kernels if k.plan.name == kernel)
    assert [sum(a.direction == kind for a in accesses) for kind in ("load", "store")] == [loads, stores]

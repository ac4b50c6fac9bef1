"""Arrays with copies for iterations of outer loops, against the interpreter under random stalls; the number of
copies, and their effect on the rate."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names, with_both_levels

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "private_copies.cl").read_text()
#: of each kernel: copies of its array, and the banks that they are in
COPIES = {
    "reversed": (8, 1),
    "of_the_guide": (8, 1),
    "as_asked": (4, 4),
    "cleared_and_filled": (4, 4),
    "counts": (4, 4),
    "sometimes": (8, 1),
    "nested": (8, 1),
    "until": (8, 1),
    "kept": (1, 1),
    "recurrent": (8, 1),
    "large": (2, 1),
    "last_chunk_shorter": (8, 1),
    "least_of_two": (4, 4),
    "until_both_end": (8, 1),
    "asserted": (1, 1),
}


def launch(n: int) -> Launch:
    a = np.random.default_rng(n).integers(1, 1 << 20, 1024).astype(np.int32)
    return Launch({"a": a, "out": np.full(1024, -77, np.int32)}, {"n": n})


system = with_both_levels(SOURCE)


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n) for n in (0, 1, 5, 16)], (0, 1, 2))


@pytest.mark.parametrize("kernel", COPIES)
def test_copies(system, kernel):
    built = next(k for k in system.result.kernels if k.plan.name == kernel)
    (memory,) = built.memory.onchip.values()
    assert (memory.copies, memory.map.banks) == COPIES[kernel]


def test_iterations_overlap(system):
    """An iteration of 64 trips in each of two loops takes 64 cycles, not the way through both."""
    (stats,) = system.check("reversed", [launch(16)])
    inner = [loop for loop in stats["loops"] if loop["iterations"] == 16 * 64]
    assert len(inner) == 2 and stats["cycles"] < 1.4 * 16 * 64


@pytest.mark.parametrize("kernel", ["last_chunk_shorter", "least_of_two", "until_both_end"])
def test_chunks_overlap(system, kernel):
    (stats,) = system.check(kernel, [launch(16)])
    assert stats["cycles"] < 1.4 * 16 * 61


def test_iterations_take_turns(system):
    """While an element waits for the one before, those of other copies are computed."""
    (stats,) = system.check("recurrent", [launch(16)])
    slow = max(stats["loops"], key=lambda loop: loop["static_ii"] if loop["iterations"] == 16 * 64 else 0)
    assert slow["static_ii"] > 2 and stats["cycles"] < 1.5 * 16 * 64

"""Sweeps over buffers: they run at their interval, in place as well, and neighbours are read in long bursts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "sweeps.cl").read_text()
#: cycles between iterations of the innermost loop: one, and what filling the pipeline and memory's refresh take of some
#: hundred
MOST_II = dict.fromkeys(("in_place", "downwards", "bytes_in_place", "to_and_fro", "prefix", "bubbles"), 1.15)
MOST_II["filtered_rows"] = 1.3  # passes of 50 rows only, and each row begins in a word of its own


def launch(kernel: str, n: int, m: int) -> Launch:
    rng = np.random.default_rng(n)
    arrays = {"a": rng.integers(0, 100, 1700).astype(np.int32), "b": rng.integers(0, 100, 1700).astype(np.int32)}
    if kernel == "bytes_in_place":
        arrays = {"a": rng.integers(0, 256, 1700).astype(np.uint8)}
    return Launch(arrays, {"n": n, "m": m}, misalign=n % 5)


@pytest.fixture(scope="module")
def system(request):
    system = KernelSystem(SOURCE, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n, m) for n, m in ((0, 3), (1, 2), (2, 3), (33, 4), (300, 2))], (0, 1, 2))


@pytest.mark.parametrize("kernel", ["shifted", "items_shifted"])
def test_buffers_that_may_overlap(system, kernel):
    """Where they do no word is read ahead of its turn, where they do not they are; work-items owe each other no
    order."""
    bursts = []
    for overlap in (False, True):
        launches = [
            replace(launch(kernel, n, 2), overlap=overlap, global_size=(n if kernel == "items_shifted" else 1,))
            for n in (1, 40, 800)
        ]
        stats = system.check(kernel, launches, (0, 1))
        bursts.append(next(access["average_burst"] for access in stats[-1]["memory"] if access["kind"] == "load"))
    assert bursts[0] >= 10
    assert (bursts[1] < 2) == (kernel == "shifted")


@pytest.mark.parametrize("kernel", MOST_II)
def test_a_sweep_does_not_wait_for_the_one_before(system, kernel):
    (stats,) = system.check(kernel, [launch(kernel, 800, 4)])
    assert max(stats["loops"], key=lambda loop: loop["iterations"])["measured_ii"] <= MOST_II[kernel]


def test_a_merge_compares_nothing_with_the_buffer_that_it_fills(system):
    """What is loaded decides what is loaded next: about eight cycles, most of them for the first access to each word.
    Compared with the stores of its own pass, they were fourteen."""
    (stats,) = system.check("merged", [launch("merged", 256, 4)])
    assert max(stats["loops"], key=lambda loop: loop["iterations"])["measured_ii"] <= 10


@pytest.mark.parametrize("kernel, least", [("copied", 10), ("sums_of_rows", 12)])
def test_neighbours_are_read_in_long_bursts(system, kernel, least):
    """800 elements are 50 words, in four blocks of 16 that bursts do not cross; the first word of all, which waits for
    no other, is a burst of its own."""
    (stats,) = system.check(kernel, [launch(kernel, 800, 20 if kernel == "sums_of_rows" else 4)])
    bursts = {access["kind"]: access["average_burst"] for access in stats["memory"]}
    assert bursts["load"] >= least

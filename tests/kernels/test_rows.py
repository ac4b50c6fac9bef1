"""Work-items whose loads are prefetched, up to the end of their row."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.plans import planned

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "rows.cl").read_text()
#: loads that are read ahead
AHEAD = {
    "in_line": 2,
    "in_rows": 2,
    "by_group": 2,
    "turned_in_groups": 1,
    "two_units": 2,
    "through_an_index": 1,
    "guarded": 2,
    "inner_part": 2,
}


def launch(size, local=None, offset=None, seed=0) -> Launch:
    rng = np.random.default_rng(seed)
    arrays = {
        "a": rng.integers(0, 1000, 2300),
        "s": rng.integers(0, 200, 2300).astype(np.uint8),
        "b": rng.integers(0, 9, 2300),
    }
    arrays = {name: array.astype(np.int32) if name != "s" else array for name, array in arrays.items()}
    return Launch(arrays, {"n": 150}, size, local, offset, misalign=seed % 5)


@pytest.fixture(scope="module")
def system(request):
    system = KernelSystem(SOURCE, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    launches = [
        launch((1,), (1,)),
        launch((64,), (8,), (5,), 1),
        launch((96, 3), (32, 1), (0, 2), 2),
        launch((4, 2, 3), (4, 2, 1), (0, 0, 0), 3),
        launch((640,), (64,), (3,), 4),
    ]
    system.check(kernel, launches, (0, 1, 2))


@pytest.mark.parametrize("kernel", AHEAD)
def test_which_loads_know_where_their_row_ends(kernel):
    assert sum(access.reads_ahead for access in planned(SOURCE)[kernel].memory.accesses.values()) == AHEAD[kernel]


def test_a_row_is_read_in_long_bursts(system):
    (stats,) = system.check("in_line", [launch((2000,), (50,))])
    assert next(access["average_burst"] for access in stats["memory"] if access["buffer"] == "a") >= 10

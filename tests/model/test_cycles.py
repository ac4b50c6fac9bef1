"""The model's cycles equal the hardware's: for every example, and for kernels with control flow of every form."""

import pytest

from tests.kernels import test_loops
from tests.kernels.system import KernelSystem, kernel_names

from .compare import SIZES, compare_example, compare_kernel

pytestmark = pytest.mark.verilator

#: Nests of integers, in which nothing but the machine itself decides.
EXACT = ("collatz", "collatz_ndrange", "divergent", "triangular")
#: What these have, and the model has not.
REFUSED = {
    **dict.fromkeys(("break_and_continue", "break_on_data", "early_return"), "fences"),
    "merging": "loads inside a level that may stand still",
}
#: Cycles that a row left open by an earlier run, or not, makes in the memory's first answers.
OPEN_ROWS = 12
#: A refresh at the edge of a burst may hold up the hardware and not the model, or the other way round, some 20 cycles;
#: the next run begins elsewhere between two of them.
RUNS = 3


@pytest.mark.parametrize("example", sorted(SIZES))
def test_examples(example):
    for one in compare_example(example, SIZES[example]):
        kernel = one.stats["kernel"]
        assert abs(one.error) <= (0.01 if kernel in EXACT else 0.03), f"{kernel}: {one.model.cycles}, {one.hardware}"
        same_loops(one)


def same_loops(one):
    """Both issued the same iterations of the same invocations, at the same rate."""
    for loop in one.stats["loops"]:
        figures = one.model.loops[loop["line"], loop["label"]]
        assert (figures.issued, figures.invocations) == (loop["iterations"], loop["invocations"]), loop


@pytest.fixture(scope="module")
def system():
    """Stall-enabled levels; the examples have the others."""
    system = KernelSystem(test_loops.SOURCE, elastic_depth=1000)
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(test_loops.SOURCE))
def test_loops_of_every_form(system, kernel):
    if kernel in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[kernel]):
            compare_kernel(system, kernel, test_loops.launch(17))
        return
    found = []
    for _ in range(RUNS):
        one = compare_kernel(system, kernel, test_loops.launch(17))
        found.append((one.model.cycles, one.hardware))
        if abs(one.model.cycles - one.hardware) <= max(OPEN_ROWS, 0.03 * one.hardware):
            return
    pytest.fail(f"cycles of the model, and of the hardware: {found}")

"""The benchmark kernels: bytes of all on the emulator, and the cycles of some on the board with memory on the chip."""

import pytest

from .__main__ import RECORDED
from .suite import CASES, latencies, run

BOARD = "ecp5_onchip"
#: Files whose kernels are simulated; `make bench` runs all, on two boards.
SIMULATED = ("dense.cl", "signals.cl")


@pytest.mark.parametrize("file", sorted({case.file for case in CASES}))
def test_bytes_on_the_emulator(file):
    cases = [case for case in CASES if case.file == file]
    assert len(list(run(cases, BOARD, "emulator"))) == len(cases)


def test_names_are_unique_and_all_are_recorded():
    names = [case.kernel for case in CASES]
    assert len(set(names)) == len(names) >= 40
    for board in RECORDED:
        assert set(RECORDED[board]) == set(names)


@pytest.mark.parametrize("board", sorted(RECORDED))
def test_a_bound_holds_for_what_was_measured(board):
    """A bound above a measured figure would be wrong."""
    for case in CASES:
        assert case.bound(case.arguments(), latencies(board)) <= min(RECORDED[board][case.kernel]), case.kernel


@pytest.mark.verilator
@pytest.mark.parametrize("file", SIMULATED)
def test_cycles_do_not_grow(file):
    for figure in run([case for case in CASES if case.file == file], BOARD):
        _, last = RECORDED[BOARD][figure.case.kernel]
        assert figure.cycles <= 1.01 * last, figure.case.kernel

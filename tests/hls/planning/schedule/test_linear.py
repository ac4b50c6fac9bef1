"""Linear programs of difference constraints: their least vertex, and no output on the way."""

import numpy
import pytest

from hls.planning.schedule.linear import DifferenceProgram


def test_the_least_vertex():
    program = DifferenceProgram([1, 2], [(0, numpy.inf), (3, 9)], rows=[(1, 0, -2)])  # x1 - x0 <= -2
    assert program.solve() == pytest.approx([5, 3])


def test_a_program_without_solution_is_an_error():
    with pytest.raises(RuntimeError, match="the linear program failed"):
        DifferenceProgram([1, 1], [(0, 4), (3, 9)], rows=[(1, 0, -2)]).solve()


def test_solving_prints_nothing(capfd):
    """What a compile prints belongs to its user's script: a host program's output is compared byte for byte."""
    DifferenceProgram([1], [(2, 5)], integral=[0]).solve()
    assert capfd.readouterr() == ("", "")

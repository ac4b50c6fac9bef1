"""Positions of registers, and the guarantees of every pipelined part about its latency."""

import gc
import random
import warnings
from itertools import combinations

import pytest
from amaranth.hdl import UnusedElaboratable

from rtl_lib.arith.catalog import PARTS
from rtl_lib.arith.multiply import IntMul, MulParams
from rtl_lib.arith.pipelined import Step, balanced_cuts, beside, least_registers, segments
from rtl_lib.fp.format import BINARY32

CHAINS = [tuple(random.Random(n).choice([0.0, 1.0, 1.5, 2.0, 4.5]) for _ in range(1 + n % 8)) for n in range(40)]


@pytest.mark.parametrize("levels", CHAINS)
def test_cuts_leave_the_shallowest_deepest_segment(levels):
    for count in range(len(levels)):
        cuts = balanced_cuts(levels, count)
        assert list(cuts) == sorted(set(cuts)) and len(cuts) == count
        best = min(max(segments(levels, trial)) for trial in combinations(range(1, len(levels)), count))
        assert max(segments(levels, cuts)) == best


@pytest.mark.parametrize("levels", CHAINS)
@pytest.mark.parametrize("limit", [0.5, 2.0, 4.5, 7.0])
def test_least_registers_are_enough_and_one_less_is_not(levels, limit):
    count = least_registers(levels, limit)
    if count is None:
        assert max(levels) > limit
        return
    assert max(segments(levels, balanced_cuts(levels, count))) <= limit
    assert count == 0 or max(segments(levels, balanced_cuts(levels, count - 1))) > limit


def test_the_last_registers_go_to_output_then_input():
    assert balanced_cuts((1.0, 1.0), 1) == (1,)
    assert balanced_cuts((1.0, 1.0), 2) == (1, 2)
    assert balanced_cuts((1.0, 1.0), 3) == (0, 1, 2)
    with pytest.raises(ValueError, match="at most 3"):
        balanced_cuts((1.0, 1.0), 4)


def test_steps_beside_each_other_are_as_deep_as_the_deepest():
    step = beside(
        "both", Step("x", 1.0, lambda wire, *, a: {"x": a}), Step("y", 3.0, lambda wire, *, a, b: {"y": a + b})
    )
    assert step.levels == 3.0 and step.reads == ("a", "b")
    assert step.build(None, a=1, b=2) == {"x": 1, "y": 3}


@pytest.fixture
def unfinished_parts():
    """Lets a test make parts that fail before they are elaborated without Amaranth's warning about that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedElaboratable)
        yield
        gc.collect()


@pytest.mark.usefixtures("unfinished_parts")
def test_latency_out_of_range_is_refused():
    params = MulParams(8, 8, 8)
    top = IntMul.latencies(params)[-1]
    for latency in (-1, top + 1, 1.5, None):
        with pytest.raises(ValueError, match=f"imul: latency must be 0 to {top}"):
            IntMul(params, latency)


@pytest.mark.usefixtures("unfinished_parts")
@pytest.mark.parametrize("part", PARTS.values())
def test_parameters_of_another_part_are_refused(part):
    wrong = BINARY32 if part is IntMul else MulParams(8, 8, 8)
    with pytest.raises(TypeError, match=part.Params.__name__):
        part(wrong, 0)


@pytest.mark.usefixtures("unfinished_parts")
def test_a_step_that_reads_a_missing_value_is_named():
    class Broken(IntMul):
        @classmethod
        def steps(cls, params):
            return (Step("lost", 1.0, lambda wire, *, nowhere: {"o": nowhere}),)

    with pytest.raises(KeyError, match="step lost reads nowhere"):
        Broken(MulParams(8, 8, 8), 0).elaborate(None)

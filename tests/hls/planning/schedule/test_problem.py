"""The rules: contradictions are refused before scheduling, and every invalid schedule is detected after it."""

from dataclasses import replace

import pytest

from hls.planning.schedule.modulo import schedule
from hls.planning.schedule.problem import Dependence, InvalidSchedule, Operation, Problem, ProblemError
from tests.repetitions import sampled

A, B = Operation("a"), Operation("b")


@pytest.mark.parametrize(
    "problem, message",
    [
        (Problem((A, A), (), 4.0), "operation a is given twice"),
        (Problem((A,), (), 4.0, overhead_ns=4.0), "leaves nothing"),
        (Problem((Operation("a", latency=-1),), (), 4.0), "negative or infinite"),
        (Problem((Operation("a", delay=float("nan")),), (), 4.0), "negative or infinite"),
        (Problem((Operation("a", out_delay=1.0),), (), 4.0), "no out_delay"),
        (Problem((Operation("a", earliest=3, latest=2),), (), 4.0), "after 3 and before 2"),
        (Problem((Operation("a", resource="port"),), (), 4.0), "port, which has no limit"),
        (Problem((Operation("a", resource="port"),), (), 4.0, limits={"port": 0}), "limit 0"),
        (Problem((A,), (Dependence("a", "x"),), 4.0), "names x"),
        (Problem((A, B), (Dependence("a", "b", -1),), 4.0), "negative distance"),
        (Problem((A, B), (Dependence("a", "b", 1, 0),), 4.0), "passes through a register"),
        (Problem((A, B), (Dependence("a", "b", 0, -1),), 4.0), "not there before"),
        (Problem((A,), (), 4.0, groups=(("a", "x"),)), "group names x"),
        (
            Problem(
                (replace(A, resource="r"), replace(B, resource="r")), (), 4.0, limits={"r": 1}, groups=(("a", "b"),)
            ),
            "a, b start together and use r 2 times",
        ),
        (
            Problem((replace(A, resource="r", latest=0), replace(B, resource="r", latest=0)), (), 4.0, limits={"r": 1}),
            "a, b start together and use r 2 times",
        ),
        (Problem((A, B), (Dependence("a", "b"), Dependence("b", "a")), 4.0), "depend on themselves"),
    ],
)
def test_contradictions_are_refused(problem, message):
    with pytest.raises(ProblemError, match=message):
        problem.check()
    with pytest.raises(ProblemError, match=message):
        schedule(problem)


PIPELINE = Problem(
    (
        Operation("in", 1, out_delay=1.0, earliest=1),
        Operation("add", delay=2.0, width=32),
        Operation("sub", delay=2.0, width=32, latest=9),
        Operation("load", 2, resource="port", delay=1.0),
        Operation("store", 1, resource="port"),
        Operation("twin"),
    ),
    (
        Dependence("in", "add"),
        Dependence("add", "sub"),
        Dependence("sub", "load"),
        Dependence("load", "store"),
        Dependence("sub", "add", 1),
        Dependence("store", "load", 1, 0, data=False),
    ),
    period_ns=4.5,
    overhead_ns=0.5,
    limits={"port": 1},
    groups=(("store", "twin"),),
)


def test_the_pipeline_itself_is_right():
    solution = schedule(PIPELINE)
    assert solution.ii == 3
    assert dict(solution.start) == {"in": 1, "add": 2, "sub": 3, "load": 3, "store": 5, "twin": 5}


@pytest.mark.parametrize(
    "change, ii, message",
    [
        ({"in": 0}, 3, "in starts at 0, not within 1"),
        ({"sub": 10, "load": 11, "store": 13, "twin": 13}, 9, "not within 0 .. 9"),
        ({"twin": 7}, 3, "does not start in one cycle"),
        ({"load": 2}, 3, "load starts at 2 .* sub lets it start at 3"),
        ({"store": 4, "twin": 4}, 3, "store starts at 4"),
        ({}, 2, r"add starts at 2 \(distance 1\) but sub lets it start at 4|load starts"),
        ({"store": 6, "twin": 6}, 3, "port has 2 uses in cycle 0 of 3"),
        ({"sub": 2}, 3, "chain into sub takes 5.000 of 4.000 ns"),
        ({"load": 5.0}, 3, "integer start"),
        ({"load": None}, 3, "integer start"),
        ({}, 0, "II of at least 1"),
    ],
)
def test_verify_catches(change, ii, message):
    with pytest.raises(InvalidSchedule, match=message):
        PIPELINE.verify(ii, dict(schedule(PIPELINE).start) | change)


def test_verify_wants_every_operation():
    start = dict(schedule(PIPELINE).start)
    del start["twin"]
    with pytest.raises(InvalidSchedule, match="start of each operation"):
        PIPELINE.verify(3, start)


def test_a_value_from_a_register_starts_a_new_chain():
    chain = Problem((replace(A, delay=3.0), replace(B, delay=3.0)), (Dependence("a", "b"),), 4.0)
    chain.verify(1, {"a": 0, "b": 1})
    with pytest.raises(InvalidSchedule, match="chain into b takes 6.000"):
        chain.verify(1, {"a": 0, "b": 0})


def test_overlong_operations_stand_alone():
    """An operation slower than the clock cannot be mended by the schedule, but must not make its neighbours slower."""
    slow = Operation("slow", delay=9.0)
    problem = Problem(
        (replace(A, delay=0.5), slow, replace(B, delay=0.0)), (Dependence("a", "slow"), Dependence("slow", "b")), 4.0
    )
    assert problem.overlong == (slow,)
    assert dict(schedule(problem).start) == {"a": 0, "slow": 1, "b": 2}
    for start in ({"a": 0, "slow": 0, "b": 1}, {"a": 0, "slow": 1, "b": 1}):
        with pytest.raises(InvalidSchedule):
            problem.verify(1, start)


def test_overlong_output_is_registered_once():
    slow = Operation("slow", 2, out_delay=9.0)
    problem = Problem((slow, B), (Dependence("slow", "b"),), 4.0)
    assert problem.overlong == (slow,)
    assert schedule(problem).start["b"] == 3


def test_wires_before_an_overlong_operation_cost_nothing():
    problem = Problem((A, Operation("slow", delay=9.0)), (Dependence("a", "slow"),), 4.0)
    assert dict(schedule(problem).start) == {"a": 0, "slow": 0}


@pytest.mark.parametrize("seed", sampled(range(20)))
def test_a_shorter_ii_or_an_earlier_start_breaks_a_tight_schedule(problem_of, seed):
    """The bottleneck is real: one II less breaks every schedule found, also under any single move."""
    problem = problem_of(seed, size=12)
    solution = schedule(problem)
    if solution.ii == 1:
        return
    moves = [{}, *({key: start + by} for key, start in solution.start.items() for by in (-1, 1))]
    for move in moves:
        with pytest.raises(InvalidSchedule):
            problem.verify(solution.ii - 1, dict(solution.start) | move)

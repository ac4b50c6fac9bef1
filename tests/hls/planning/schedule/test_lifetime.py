"""Minimal register bits, against an exact integer program that assumes no integrality."""

import pytest

from hls.planning.schedule.lifetime import register_bits
from hls.planning.schedule.modulo import Infeasible, schedule
from hls.planning.schedule.problem import Dependence, Operation, Problem, ProblemError
from tests.repetitions import sampled


@pytest.mark.parametrize("seed", sampled(range(100, 130)))
@pytest.mark.parametrize("slack", [0, 2, None])
def test_fewest_bits_against_exact(problem_of, exact, seed, slack):
    problem = problem_of(seed, size=8, tight=seed % 3 == 0)
    try:
        solution = schedule(problem, slack=slack)
    except (Infeasible, ProblemError):
        assert problem.groups
        return
    program = exact(problem, solution.ii)
    length = None if slack is None else program.least_length() + slack
    assert solution.register_bits == program.least_bits(length)


@pytest.mark.parametrize("seed", sampled(range(20)))
def test_limited_resources_keep_their_slots_and_length(problem_of, exact, seed):
    problem = problem_of(seed, size=7, limited=True)
    solution = schedule(problem)
    assert solution.register_bits >= exact(problem, solution.ii).least_bits(solution.length)
    relaxed = schedule(problem, slack=None)
    assert relaxed.register_bits <= solution.register_bits


def fork():
    """A narrow value that waits for a slow operation, widened on the way: the widening should wait with it."""
    operations = (
        Operation("byte", 1, width=8),
        Operation("wide", width=64),
        Operation("slow", 9, width=32),
        Operation("sum", delay=1.0, width=64),
    )
    return Problem(
        operations,
        (Dependence("byte", "wide"), Dependence("wide", "sum"), Dependence("byte", "slow"), Dependence("slow", "sum")),
        4.0,
    )


def test_narrow_values_wait():
    solution = schedule(fork())
    assert solution.start["wide"] == solution.start["sum"] == 10
    assert solution.register_bits == 9 * 8


def test_weights_replace_widths():
    solution = schedule(fork(), weights={"byte": 100})
    assert solution.start["wide"] == 1
    assert register_bits(solution.problem, solution.start, {"byte": 100}) == 9 * 64


def test_a_value_used_often_is_held_once():
    operations = (Operation("x", 1, width=32), *(Operation(i, earliest=i, latest=i, width=0) for i in (3, 4, 5)))
    problem = Problem(operations, tuple(Dependence("x", i) for i in (3, 4, 5)), 4.0)
    solution = schedule(problem)
    assert solution.start["x"] == 2  # as late as its first use allows
    assert solution.register_bits == 2 * 32


def test_carried_values_are_held_by_their_state_register():
    operations = (
        Operation("state", width=32),
        Operation("next", delay=1.0, width=32),
        Operation("late", earliest=8, latest=8, width=1),
    )
    dependences = (Dependence("state", "next"), Dependence("next", "state", 1), Dependence("state", "late"))
    solution = schedule(Problem(operations, dependences, 4.0))
    assert solution.ii == 1
    assert solution.register_bits == 0  # both wait in front of the header, not behind it


def test_equal_schedules_start_early():
    """The value waits in front of b or behind it, at the same price."""
    operations = (
        Operation("a", 1, width=8, latest=0),
        Operation("b", 1, width=8),
        Operation("late", earliest=9, latest=9, width=0),
        Operation("free", width=0),
    )
    solution = schedule(
        Problem(operations, (Dependence("a", "b"), Dependence("b", "late"), Dependence("a", "free")), 4.0)
    )
    assert solution.register_bits == 7 * 8
    assert [solution.start[key] for key in ("a", "b", "free")] == [0, 1, 1]

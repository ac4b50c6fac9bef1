"""Minimal II: against an exact solver, on instances from the literature, and the reported reason why it is not
smaller."""

import time
from collections import Counter
from itertools import pairwise

import pytest

from hls.planning.schedule import modulo
from hls.planning.schedule.modulo import Infeasible, schedule
from hls.planning.schedule.problem import Dependence, Operation, Problem, ProblemError
from hls.planning.schedule.slots import find_starts
from tests.repetitions import sampled


def scheduled(problem, exact):
    """The schedule of a problem; None if there is none, and the exact solver finds none either."""
    try:
        solution = schedule(problem)
    except ProblemError:
        assert problem.groups, "only a random group can contradict the rest"
        return None
    except Infeasible as error:
        assert error.bottleneck.ii is None
        assert not exact(problem, 20).feasible()
        return None
    assert solution.minimal
    assert solution.ii == next(ii for ii in range(1, solution.ii + 1) if exact(problem, ii).feasible())
    return solution


@pytest.mark.parametrize("seed", sampled(range(25)))
def test_recurrences_and_chains_against_exact(problem_of, exact, seed):
    problem = problem_of(seed, size=8, tight=seed % 2 == 1)
    if solution := scheduled(problem, exact):
        assert solution.length == exact(problem, solution.ii).least_length()


@pytest.mark.parametrize("seed", sampled(range(25)))
def test_limited_resources_against_exact(problem_of, exact, seed):
    scheduled(problem_of(seed, size=7, limited=True, tight=seed % 2 == 1), exact)


def canis_2014():
    """Canis, Brown and Anderson, "Modulo SDC scheduling with recurrence minimization", FPL 2014, figure 2.

    Two loads, an addition and a store to the array of the first load, one memory port, all of one cycle; the store
    is before the next iteration's load. Reconstructed from its public restatement in CIRCT's scheduling tests. There
    II 3 is optimal: what makes it hard is that the load in the recurrence must leave a slot for the other one.
    """
    port, add = {"latency": 1, "resource": "port"}, {"latency": 1}
    return Problem(
        (
            Operation("load_a", **port),
            Operation("load_b", **port),
            Operation("add", **add),
            Operation("store_a", **port),
            Operation("last"),
        ),
        (
            Dependence("load_a", "add"),
            Dependence("load_b", "add"),
            Dependence("add", "store_a"),
            Dependence("store_a", "last", data=False),
            Dependence("store_a", "load_a", 1, 0, data=False),
        ),
        period_ns=10.0,
        limits={"port": 1},
    )


def test_canis_2014_figure_2():
    solution = schedule(canis_2014())
    assert (solution.ii, solution.recurrence_ii, solution.resource_ii) == (3, 3, 3)
    assert solution.length == 5, "load_b at 0, load_a at 2, store_a at 4"


def test_two_ports_do_not_help_the_recurrence():
    problem = canis_2014()
    wide = Problem(problem.operations, problem.dependences, problem.period_ns, limits={"port": 2})
    assert schedule(wide).ii == 3
    assert schedule(wide).resource_ii == 2


def test_resource_bound_rounds_up():
    operations = tuple(Operation(i, 1, resource="unit") for i in range(5))
    solution = schedule(Problem(operations, (), 10.0, limits={"unit": 2}))
    assert solution.ii == 3
    assert solution.bottleneck.describe() == "II >= 3: 5 uses of unit, 2 in a cycle"


def test_both_bounds_can_be_missed_together():
    """A recurrence of three uses, each a multiple of 2 cycles behind another: II 3 and 2 alone, 5 together."""
    operations = tuple(Operation(key, 2, resource="unit") for key in "abc")
    dependences = (Dependence("a", "b", data=False), Dependence("b", "a", 1, 0, data=False), Dependence("b", "c"))
    solution = schedule(Problem(operations, dependences, 10.0, limits={"unit": 1}))
    assert (solution.recurrence_ii, solution.resource_ii, solution.ii) == (4, 3, 4)
    tied = (*dependences, Dependence("c", "b", 1, -2, data=False))  # c at most II behind b: still II 4
    assert schedule(Problem(operations, tied, 10.0, limits={"unit": 1})).ii == 4
    pinned = tuple(Operation(key, 2, resource="unit", earliest=at, latest=at) for key, at in zip("abc", (0, 2, 4)))
    crowded = schedule(Problem(pinned, dependences, 10.0, limits={"unit": 1}))
    assert (crowded.recurrence_ii, crowded.ii) == (4, 5), "a and c meet at II 4"
    assert "recurrences between them" in crowded.bottleneck.describe()


def accumulator(adds=3):
    """total = total + x0 + x1 + ...: a carried read, a chain of additions, the value back into its register."""
    operations = (Operation("total", width=32), *(Operation(f"add{i}", delay=1.6, width=32) for i in range(adds)))
    keys = [op.key for op in operations]
    chain = tuple(Dependence(a, b) for a, b in pairwise(keys))
    return Problem(operations, (*chain, Dependence(keys[-1], "total", 1)), period_ns=4.0, overhead_ns=0.5)


@pytest.mark.parametrize("adds, ii", [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_chained_recurrence(adds, ii):
    """Two additions of 1.6 ns fit into the 3.5 ns of a cycle."""
    assert schedule(accumulator(adds)).ii == ii


def test_explanation_of_a_chain():
    solution = schedule(accumulator())
    text = solution.bottleneck.describe()
    assert text.splitlines()[0] == "II >= 2: a recurrence takes 2 cycles over 1 iteration(s)"
    assert "add0 1.60 ns + add1 1.60 ns + add2 1.60 ns" in text
    shares = solution.bottleneck.shares()
    assert sum(shares.values()) == pytest.approx(2)
    assert shares["add0"] == pytest.approx(1 / 3)


def test_latency_over_distance():
    operations = (Operation("read", width=32), Operation("mac", 7, width=32))
    dependences = (Dependence("read", "mac"), Dependence("mac", "read", 3))
    solution = schedule(Problem(operations, dependences, 4.0))
    assert solution.ii == 3  # (7 + 1) / 3, rounded up
    assert (solution.bottleneck.cycles, solution.bottleneck.distance) == (8, 3)
    assert solution.bottleneck.shares() == {"mac": 8}


def test_no_bottleneck_at_ii_1():
    assert schedule(accumulator(1)).bottleneck is None


def test_requested_ii():
    assert schedule(accumulator(5), ii_request=7).ii == 7
    assert not schedule(accumulator(5), ii_request=7).minimal
    with pytest.raises(Infeasible, match="II 2 was asked for") as caught:
        schedule(accumulator(5), ii_request=2)
    assert caught.value.bottleneck.ii == 3


@pytest.mark.parametrize("request_and_limit", [(0, None), (None, 0), (-3, 5)])
def test_no_ii_below_1(request_and_limit):
    with pytest.raises(ValueError, match="at least 1"):
        schedule(accumulator(1), *request_and_limit)


def test_requested_ii_without_room_for_resources():
    with pytest.raises(Infeasible) as caught:
        schedule(canis_2014(), ii_request=2)
    assert caught.value.bottleneck.ii == 3
    with pytest.raises(Infeasible, match="at most 2"):
        schedule(canis_2014(), max_ii=2)


def test_bounds_that_no_ii_can_meet():
    operations = (Operation("slow", 5), Operation("end", latest=3))
    with pytest.raises(Infeasible, match="cannot be scheduled") as caught:
        schedule(Problem(operations, (Dependence("slow", "end"),), 4.0))
    assert caught.value.bottleneck.kind == "bounds"
    assert "slow -> end: 5 cycle(s), value" in str(caught.value)
    assert "end -> the iteration's start: -3 cycle(s), fixed latest cycle" in str(caught.value)


def test_pinned_and_grouped_operations():
    operations = (Operation("a", 1), Operation("b", 4), Operation("c", earliest=9, latest=9), Operation("d"))
    problem = Problem(operations, (Dependence("a", "c"), Dependence("b", "c")), 4.0, groups=(("a", "b", "d"),))
    start = schedule(problem).start
    assert start["c"] == 9
    assert start["a"] == start["b"] == start["d"]


def test_empty_problem():
    solution = schedule(Problem((), (), 4.0))
    assert (solution.ii, solution.length, solution.register_bits) == (1, 0, 0)


def test_only_resources_and_nothing_else():
    solution = schedule(Problem(tuple(Operation(i, resource="u") for i in range(3)), (), 4.0, limits={"u": 1}))
    assert sorted(start % 3 for start in solution.start.values()) == [0, 1, 2]


def test_a_thousand_operations(problem_of):
    problem = problem_of(3, size=1000, recurrences=30)
    begin = time.process_time()
    solution = schedule(problem)
    assert time.process_time() - begin < 3.0, "a second on an idle machine"
    assert solution.minimal


def test_many_limited_uses(problem_of):
    problem = problem_of(4, size=120, limited=True, recurrences=6)
    begin = time.process_time()
    solution = schedule(problem)
    assert time.process_time() - begin < 6.0
    assert solution.ii >= solution.resource_ii


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_tokens_that_keep_their_distance_never_meet_at_a_port(problem_of, seed):
    """The least distance of which tokens may start a multiple apart, tried cycle by cycle with as many as are under way
    at once."""
    problem = problem_of(seed, size=8, tight=True)
    try:
        solution = schedule(problem)
    except (Infeasible, ProblemError):
        return
    least = next(m for m in range(1, solution.ii + 1) if not problem.crowded(m, solution.start))
    length = max(solution.start.values()) + 1
    for apart in range(1, least + 1):
        uses = Counter(
            (op.resource, solution.start[op.key] + token * apart)
            for op in problem.operations
            if op.resource
            for token in range(length // apart + 2)
        )
        meets = any(count > problem.limits[resource] for (resource, _), count in uses.items())
        assert meets == (apart < least), (apart, least)


@pytest.mark.parametrize("seed", sampled(range(30)))
def test_placing_by_eviction_against_the_search(problem_of, seed, monkeypatch):
    """Where the search gives up at once, schedules are right (``solve`` verifies them), and hardly worse."""
    problem = problem_of(seed, size=12, limited=True, tight=seed % 2 == 1)
    try:
        best = schedule(problem)
    except (Infeasible, ProblemError):
        return
    monkeypatch.setattr(modulo, "TRIES", 0)
    found = schedule(problem)
    assert best.ii <= found.ii <= best.ii + 1
    assert not found.minimal


def late_collision(fillers):
    """Four uses of a port compete for three cycles, which the first three take first. Each could move by a cycle, as
    could all the ``fillers``, which are placed before the fourth: a search that takes back what it placed last tries
    both cycles of each filler before it moves one of the three."""
    three = [Operation(("first", i), earliest=i, latest=i + 1, resource="port") for i in range(3)]
    others = [Operation(("filler", i), earliest=10 + 2 * i, latest=11 + 2 * i, resource="port") for i in range(fillers)]
    fourth = Operation("fourth", earliest=0, latest=2, resource="port")
    slow = Operation("slow", latency=19 + 2 * fillers)
    return Problem((*three, *others, fourth, slow), (Dependence("slow", "slow", 1),), 10.0, limits={"port": 1})


def test_one_interval_is_tried_where_the_search_gives_up(monkeypatch):
    tried = []

    def counted(problem, system, ii, *rest):
        tried.append(ii)
        return find_starts(problem, system, ii, *rest)

    monkeypatch.setattr(modulo, "find_starts", counted)
    solution = schedule(late_collision(40))
    assert solution.ii == solution.recurrence_ii == 100
    assert set(tried) == {100}
    assert len(tried) <= 4, "once more for a shorter schedule, until that search gives up as well"

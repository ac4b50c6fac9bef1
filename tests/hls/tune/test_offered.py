"""Knobs that promise or rearrange something: candidates by the form of a program, and those that are offered."""

import pytest

from hls.diag import Span
from hls.frontend import parse_source
from hls.model.workload import Histogram, LoopRuns, Place, Range, Workload
from hls.tune import Knob, Point, Problem
from hls.tune.advice_text import no_knobs
from hls.tune.offered import _with_restrict, offered
from hls.tune.points import Limit
from hls.tune.transformations import transformations

SOURCE = """\
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void items(__global const int *restrict a, __global int *restrict o)
{
    o[get_global_id(0)] = a[get_global_id(0)];
}
__kernel void groups(__global int *restrict o) { o[get_global_id(0)] = 1; }
__kernel void tables(__global const int *a, __global int *o, __constant int *c, int n)
{
    int near[4], __attribute__((numbanks(2))) far[4];
    for (int i = 0; i < n; i++) near[i & 3] = a[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            o[i * n + j] = near[j & 3] + far[i & 3] + c[j];
    #pragma ivdep
    for (int i = 0; i < n; i++) o[i] = near[i & 3];
    for (int i = 0; i < 1; i++) o[i] = 0;
}
__kernel void unused(__global const int *a, __global int *o) { for (int i = 0; i < 9; i++) o[i] = a[i]; }
"""


def launched(kernel: str, size: int = 256, group: int = 32) -> Workload:
    """With 1 or 8 iterations of each loop of the source."""
    trips = {10: 8, 11: 8, 12: 8, 15: 8, 16: 1}
    columns = {12: 9}
    loops = tuple(
        LoopRuns(Place("", line, columns.get(line, 5)), None, n, Histogram((Range(n, n, 1),)))
        for line, n in trips.items()
    )
    return Workload(3, kernel, "b", 64, 4096, "", "", (size, 1, 1), (group, 1, 1), (), loops, (), (), ())


def candidates(*workloads: Workload) -> dict[str, tuple]:
    module = parse_source(SOURCE, "k.cl", {}, []).module
    return {one.name: one.values for one in transformations(module, workloads, "k.cl")}


def test_candidates_by_the_form_of_the_program():
    assert candidates(launched("tables")) == {
        "ivdep i@10": (None, 1),
        "loads ahead i@10": (None, 1),
        "ivdep i@11": (None, 1),
        "coalesce i@11": (None, 2),
        "ivdep j@12": (None, 1),
        "loads ahead j@12": (None, 1),
        "banks near@9": (None, 1, 2, 4),
        "restrict tables": (None, 1),
        "feed-forward tables": (None, 1, 2, 4),
        "constant cache bytes": (None, 4096, 65536),
    }


def test_sizes_of_groups_divide_all_launches():
    assert candidates(launched("items")) == {}
    found = candidates(launched("groups"), launched("groups", 128))
    assert found == {"group size groups": (None, "32,1,1", "16,1,1", "64,1,1")}
    assert candidates(launched("groups"), launched("groups", 256, 64)) == {}


UNROLL = Knob("unroll i@1", "unroll", None, (None, 2, 4))
CANDIDATES = (
    Knob("ivdep i@1", "ivdep", None, (None, 1)),
    Knob("restrict k", "restrict", None, (None, 1)),
    Knob("coalesce i@1", "loop_coalesce", None, (None, 2, 3)),
    Knob("banks t@2", "numbanks", None, (None, 2, 4)),
    Knob("loads ahead i@9", "loads_ahead", None, (None, 1), kernel="busy"),
    Knob("feed-forward k", "feed_forward", None, (None, 1, 2)),
)


class Formulas:
    """ivdep is worth half, but does not hold; restrict nothing; three levels a tenth; banks only with copies; a split
    cannot be built."""

    def __init__(self):
        self.checked = []

    def unchecked(self, values):
        given = tuple((name, value) for name, value in values.items() if value is not None)
        assert not values["loads ahead i@9"]  # its kernel waits for nothing: it is not planned
        if values["feed-forward k"]:
            return Point(given, problem=Problem("E0709", "cannot be split"))
        copies = values["unroll i@1"] or 1
        ports = min(copies, values["banks t@2"] or 1) if copies > 1 else 1
        cycles = 1000 / ports * (0.9 if values["coalesce i@1"] == 3 else 1) * (0.5 if values["ivdep i@1"] else 1)
        return Point(given, 0.0, cycles, 1.0)

    estimate = unchecked

    def limits(self, point):
        return Limit("busy", "issued", None, 0.3), Limit("k", "waiting for load of a", 3, 0.7)

    def broken(self, values):
        self.checked += [name for name in ("ivdep i@1", "restrict k") if values[name]]
        return Problem("E1002", "iteration 3 reads what 2 wrote") if values["ivdep i@1"] else None


def test_offered_is_what_saves_cycles_and_holds():
    formulas = Formulas()
    kept, left = offered(CANDIDATES, (UNROLL,), formulas)
    assert [(one.name, one.values) for one in kept] == [("coalesce i@1", (None, 3)), ("banks t@2", (None, 2, 4))]
    assert formulas.checked == ["ivdep i@1"]  # restrict saves nothing: no run for it
    assert no_knobs(left) == [
        "no knobs, as they save less than 0.5% of the cycles: restrict k, loads ahead i@9",
        "ivdep i@1: not possible: iteration 3 reads what 2 wrote",
        "feed-forward k: not possible: cannot be split",
    ]


@pytest.mark.parametrize("kernel, places", [("b", [2]), ("", None)])
def test_restrict_comes_from_the_kernel_of_the_knob(kernel, places):
    """Not from one that stands before it; a function that several kernels call has none."""
    candidates = [
        Knob(f"restrict {name}", "restrict", span, (None, 1), (span,), kernel=name)
        for name, span in (("b", Span("k.cl", 2, 1)), ("a", Span("k.cl", 5, 1)))
    ]
    loop = Knob("ivdep i@9", "ivdep", Span("k.cl", 9, 1), (None, 1), kernel=kernel)
    found = _with_restrict(loop, candidates)
    assert (found and [span.line for span, _, _ in found.also]) == places

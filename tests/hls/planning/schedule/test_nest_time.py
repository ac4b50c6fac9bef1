"""Where addresses are compared at run time, by what the schedules say of the time of a nest."""

import pytest

from hls.driver import plan_source
from hls.options import Options
from hls.planning.schedule.nest_time import LOADED_TRIPS, UNKNOWN_TRIPS, nest_time
from hls.target.board import load_board

ONCHIP = load_board("ecp5_onchip")
HEAD = "__kernel void k(__global int *restrict a, __global const int *restrict at, int n) {"


def planned(body: str):
    (kernel,), _ = plan_source(f"{HEAD} {body} }}", ONCHIP, Options(), "k.cl")
    return kernel


def compares(body: str) -> bool:
    """Whether the plan compares addresses at run time."""
    kernel = planned(body)
    return any(op.opcode == "hazard" for region in kernel.plan.loops.values() for op in region.place)


PATH = "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"


@pytest.mark.parametrize(
    ("body", "pays"),
    [
        # an update at a loaded place: iterations would be several cycles apart
        ("for (int e = 0; e < n; e++) a[at[e]] = as_int(as_float(a[at[e]]) + 1.5f);", True),
        # the outer loop would wait for the nest, whose loads and stores are to one element at a time
        (PATH + " a[i * n + j] += at[i * n + k] * at[k * n + j];", True),
        # each sweep over a row meets the element a[i * n + k] once, which costs more than waiting for the nest
        (PATH + " { int d = a[i * n + k] + a[k * n + j]; if (d < a[i * n + j]) a[i * n + j] = d; }", False),
    ],
)
def test_addresses_are_compared_where_that_saves_time(body, pays):
    assert compares(body) == pays


def test_a_loop_between_loaded_bounds_is_assumed_to_be_short():
    rows = "for (int v = 0; v < n; v++) {{ int s = 0; for (int e = {}; e < {}; e++) s ^= at[e] * s; a[v] = s; }}"
    long = nest_time(planned(rows.format("0", "n")).plan)
    short = nest_time(planned(rows.format("at[v]", "at[v + 1]")).plan)
    assert long == UNKNOWN_TRIPS / LOADED_TRIPS * short


def test_a_constant_trip_count_is_used():
    loop = "for (int i = 0; i < {}; i++) a[i] = at[i] + n;"
    assert nest_time(planned(loop.format(1000)).plan) == 1000
    assert nest_time(planned(loop.format("n")).plan) == UNKNOWN_TRIPS

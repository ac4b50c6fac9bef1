"""Private arrays that limit a loop are implemented in the way that makes it faster; all others are unchanged."""

import pytest

from hls.driver import CompiledKernel, plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.planning import iterate
from hls.planning.schedule.array_bottleneck import held_up, relieves
from hls.target.board import load_board

HEAD = (
    "__kernel void k(__global const float *restrict a, __global const uchar *restrict p, __global float *restrict "
    "out, int n) {\n"
)
ROUND = (
    HEAD
    + """    KEPT float acc[16];
    for (int i = 0; i < 16; i++) acc[i] = 0.0f;
    int i = 0;
    for (int t = 0; t < n; t++) { acc[i] += a[t]; if (++i == 16) i = 0; }
    for (int i = 0; i < 16; i++) out[i] = acc[i];
}"""
)
TILES = (
    HEAD
    + """    for (int tile = 0; tile < n; tile++) {
        KEPT float acc[16];
        for (int i = 0; i < 16; i++) acc[i] = tile;
        for (int t = 0; t < n; t++) acc[p[t] & 15] += a[t];
        for (int i = 0; i < 16; i++) out[16 * tile + i] = acc[i];
    }
}"""
)
NEST = (
    HEAD
    + """    KEPT float acc[64];
    for (int i = 0; i < 64; i++) acc[i] = 0.0f;
    for (int t = 0; t < n; t++)
        for (int i = 0; i < 8; i++)
            #pragma unroll 1
            for (int j = 0; j < 8; j++) acc[8 * i + j] += a[t + i] * a[t + j];
    for (int i = 0; i < 64; i++) out[i] = acc[i];
}"""
)


LEVELS = """
__kernel void k(__global const int *restrict keys, __global const int *restrict child, __global int *restrict at,
                __global int *restrict to, int n)
{
    for (int level = 0; level < 4; level++)
        for (int i = 0; i < n; i++) {
            for (int t = 0; t < 16; t++)
                if (keys[at[i] + t] == i && child[to[i] + t] < n) { to[i] = child[to[i] + t]; break; }
            at[i] = to[i];
        }
}
"""


def planned(text: str, kept: str = "") -> CompiledKernel:
    (kernel,), _ = plan_module(parse_source(text, "k.cl", {"KEPT": kept}, []).module, load_board("de5net"), Options())
    return kernel


PASSES = (
    HEAD
    + """    uchar data[1024], moved[1024];
    for (int i = 0; i < n; i++) data[i] = p[i];
    for (int pass = 0; pass < 4; pass++) {
        uint counts[16];
        for (int i = 0; i < 16; i++) counts[i] = 0;
        #pragma unroll 1
        for (int t = 0; t < TRIPS; t++) counts[data[t] >> pass & 15]++;
        uint sum = 0;
        for (int i = 0; i < 16; i++) { uint c = counts[i]; counts[i] = sum; sum += c; }
        #pragma unroll 1
        for (int t = 0; t < TRIPS; t++) moved[counts[data[t] >> pass & 15]++] = data[t];
        for (int i = 0; i < n; i++) data[i] = moved[i];
    }
    for (int i = 0; i < n; i++) out[i] = data[i];
}"""
)


def interval(kernel: CompiledKernel, label: str) -> int:
    return max(plan.ii for loop, plan in kernel.plan.loops.items() if loop.attrs.get("label") == label)


def test_elements_that_come_back_late_are_in_a_memory():
    kernel = planned(ROUND)
    assert interval(kernel, "t") == 1 and "acc" in kernel.memory.onchip and not held_up(kernel.function, kernel.plan)


def test_columns_are_arrays_of_their_own_until_they_hold_up_a_loop():
    """Of an array with known columns each is a value; the whole array is the memory."""
    kernel = planned(
        HEAD
        + """    int h[8][2];
    for (int i = 0; i < 8; i++) for (int d = 0; d < 2; d++) h[i][d] = 0;
    for (int t = 0; t < n; t++) { h[p[t] & 7][0]++; h[p[t] & 7][1] += t; }
    for (int i = 0; i < 8; i++) out[i] = h[i][0] + h[i][1];
}"""
    )
    assert interval(kernel, "t") == 1 and "h" in kernel.memory.onchip


def test_the_program_has_the_last_word():
    kernel = planned(ROUND, "__attribute__((register))")
    assert interval(kernel, "t") > 1 and not kernel.memory.onchip and held_up(kernel.function, kernel.plan) == {"acc"}
    assert relieves(planned(ROUND).plan, kernel.plan) and not relieves(kernel.plan, planned(ROUND).plan)


@pytest.mark.parametrize("text, array", [(ROUND, "acc"), (LEVELS, "at_in_flight")], ids=["own", "made"])
def test_only_arrays_of_the_program_are_tried_as_memories(text, array, monkeypatch):
    """Naming one that passes made would change nothing: all of them would run again for the same plan."""
    tried, found = [], []
    asked, optimize = iterate.held_up, iterate.optimize
    monkeypatch.setattr(iterate, "held_up", lambda *kernel: found.append(asked(*kernel)) or found[-1])
    monkeypatch.setattr(
        iterate, "optimize", lambda alone, how, *early: tried.append(how.in_memory) or optimize(alone, how, *early)
    )
    planned(text)
    assert {array} in found and any(tried) == (array == "acc")


def test_where_others_take_turns_registers_do():
    """Invocations of the loop take turns, so nothing is held up; in a memory an iteration waits for the one before."""
    kernel = planned(TILES)
    assert not kernel.memory.onchip and not held_up(kernel.function, kernel.plan)
    assert not relieves(planned(TILES, "__attribute__((memory))").plan, kernel.plan)


@pytest.mark.parametrize(("trips", "ii"), [("n", 1), ("1000", 1), ("6", 3)])
def test_a_loop_around_may_lose_what_it_gains_inside(trips, ii):
    """Counters in a memory are set and summed up by loops, 16 cycles each, so few iterations would gain nothing."""
    kernel = planned(PASSES.replace("TRIPS", trips))
    assert interval(kernel, "t") == ii and ("counts" in kernel.memory.onchip) == (ii == 1)


@pytest.mark.parametrize("kept", ["", "__attribute__((memory))"])
def test_a_nest_that_is_passed_by_one_iteration_at_a_time_is_one_loop(kept):
    kernel = planned(NEST, kept)
    assert interval(kernel, "t") == 1 and [one.how for one in kernel.merged] == ["coalesced"]

"""How many invocations of nested loops are interleaved."""

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.planning.schedule.queues import WORTH_SLOTS, balanced
from hls.target.board import load_board

SEARCH = """__kernel void k(__global const uchar *restrict a, __global int *restrict out, int n) {
    __local uchar s[1024];
    for (int i = 0; i < 1024; i++) s[i] = a[i];
    for (int t = 0; t < n; t++) {
        int best = 255 * 8;
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 16; x++) {
                int sum = 0;
                #pragma unroll 1
                for (int i = 0; i < 8; i++) {
                    sum += abs_diff(s[t + i & 1023], s[32 * y + x + i & 1023]);
                    if (sum >= best) break;
                }
                best = sum < best ? sum : best;
            }
        out[t] = best;
    }
}"""
WORDS = """__kernel void k(__global const char *restrict text, __global const char *restrict p, __global const int *restrict f, __global int *restrict out, int n, int m) {
    __local int next[64]; __local char word[64];
    for (int i = 0; i < m; i++) { next[i] = f[i]; word[i] = p[i]; }
    for (int t = 0; t < n; t++) {
        int q = 0;
        for (int i = 0; i < n; i++) {
            while (q > 0 && word[q] != text[t * n + i]) q = next[q];
            if (word[q] == text[t * n + i]) q++;
            EACH
        }
        END
    }
}"""


def loops(text: str) -> dict:
    (kernel,), _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    return {loop.attrs.get("label"): plan for loop, plan in kernel.plan.loops.items()}


def test_a_loop_that_waits_for_one_inside_has_a_slot_for_each_of_its_turns():
    """A row of the search gives one invocation at a time to the loop inside; so turns there need as many searches at
    once."""
    found = loops(SEARCH)
    assert found["x"].slots > 1 and found["y"].slots == found["x"].slots


def test_where_order_keeps_the_loop_around_alone_nobody_could_take_turns():
    """Then the loop inside, which that waits for, has one invocation at a time. Both issue ahead of their condition."""
    ahead = loops(WORDS.replace("EACH", "out[i] += q;").replace("END", ""))
    turns = loops(WORDS.replace("EACH", "").replace("END", "out[t] = q;"))
    assert ahead["i"].slots == ahead["while"].slots == 1 and ahead["while"].speculative
    assert turns["i"].slots > 1 and turns["while"].slots > 1 and turns["while"].speculative


ROWS = """__kernel void k(__global const float *restrict a, __global float *restrict out, int n) {
    for (int i = 0; i < ROWS; i++) {
        float s = 0;
        for (int j = 0; j < TRIPS; j++) s += a[i * 64 + j];
        float most = s;
        BEHIND
        out[i] = most;
    }
}"""


def row_slots(rows: str = "30", trips: str = "40", behind: str = "") -> tuple[int, int]:
    """Slots and II of the loop over a row."""
    found = loops(ROWS.replace("ROWS", rows).replace("TRIPS", trips).replace("BEHIND", behind))["j"]
    return found.slots, found.ii


def test_invocations_of_known_number_are_divided_evenly_among_the_slots():
    assert row_slots() == (10, 7)
    assert row_slots(rows="35") == (7, 7)  # even already
    assert row_slots(rows="400") == (7, 7)  # hardly any cycle to gain
    assert row_slots(rows="5") == (7, 7)  # all at once in any case


def test_slots_remain_as_many_as_the_ii_where_rounds_are_not_known_to_be_even():
    assert row_slots(rows="n") == (7, 7)
    assert row_slots(trips="i + 20") == (7, 7)
    # the loop behind would have to wait for the first of ten rows instead of seven
    assert row_slots(behind="for (int c = 0; c < 50; c++) most = fmax(most, s * a[c]);") == (7, 7)


def cycles_in_turns(slots: int, ii: int, invocations: int, trips: int) -> int:
    """Cycles until the last token, where requests have priority over the slots, which take turns."""
    waiting, ready, running, cycle = invocations, [], 0, 0
    while waiting or ready:
        fit = next((one for one in ready if one[0] <= cycle), None)
        if waiting and running < slots:
            waiting, running = waiting - 1, running + 1
            ready.append((cycle + ii, trips - 1))
        elif fit:
            ready.remove(fit)
            if fit[1] > 1:
                ready.append((cycle + ii, fit[1] - 1))
            else:
                running -= 1
        cycle += 1
    return cycle


@pytest.mark.parametrize("ii", [2, 5, 7, 13])
def test_balanced_slots_take_the_fewest_cycles(ii):
    """Within the share that further slots must gain, of the best number for a header that issues one token a cycle."""
    for invocations in range(1, 5 * ii, 3):
        cycles = {slots: cycles_in_turns(slots, ii, invocations, 60) for slots in range(ii, 2 * ii + 1)}
        assert cycles[balanced(ii, invocations, 2 * ii)] <= WORTH_SLOTS * min(cycles.values()) + 2 * ii
        assert balanced(ii, invocations, ii) == ii

from tests.plans import planned_text

"""Plans of whole loops, for boards of different kinds."""

import pytest

SUMS = """
kernel void sums(global const int *restrict a, global int *restrict b)
{
    for (int i = 0; i < 64; i++)
        b[i] = a[i] + (a[i + 1] + a[i + 2]);
}
"""
NEST = """
#pragma OPENCL FP_CONTRACT OFF
kernel void nest(global const float *restrict a, global float *restrict b)
{
    for (int i = 0; i < 8; i++) {
        float sum = 0;
        for (int k = 0; k < 32; k++)
            sum += a[32 * i + k];
        b[i] = sum;
    }
}
"""
DECIDES_LATE = """
#pragma OPENCL FP_CONTRACT OFF
kernel void halved(global const float *restrict a, global int *restrict b)
{
    for (int i = 0; i < 64; i++) {
        float x = a[i];
        int n = 0;
        while (x > 1.0f) {
            x *= 0.5f;
            n++;
        }
        b[i] = n;
    }
}
"""


def plan_of(source: str, board: str = "ecp5_onchip"):
    (kernel,) = planned_text(source, board).kernels
    return kernel.plan


def loop_at(plan, line: int):
    return next(region for loop, region in plan.loops.items() if loop.span.line == line)


@pytest.mark.parametrize(("board", "apart"), [("ecp5_onchip", True), ("de5net", False)])
def test_sums_of_sums_are_kept_apart_where_a_chain_adds_two_words(board, apart):
    plan = plan_of(SUMS, board)
    data = {op for op in plan.apart if op.opcode == "add" and op.result.type.bits == 32}
    assert (len(data) == 1) == apart and (bool(plan.apart) == apart)


def test_a_loop_is_entered_once_unless_another_is_around_it():
    plan = plan_of(NEST)
    assert loop_at(plan, 5).once and not loop_at(plan, 7).once


def test_where_slots_take_turns_the_header_has_the_first_stage_for_itself():
    """And the II stays that of the addition: its cycles, the register, and at most one for the choice in front of
    it."""
    plan = plan_of(NEST)
    inner = loop_at(plan, 7)
    addition = next(op for op in inner.place if op.opcode == "fadd")
    assert inner.ii <= plan.latency[addition] + 2
    assert inner.slots == 8  # of 32 rows, so that no round is left over
    assert all(c.read.stage >= 1 for c in inner.carried if c.read.level == 0)
    assert all(
        point.stage >= 1
        for op, point in inner.place.items()
        if point.level == 0 and op.opcode not in ("const", "array")
    )
    assert all(c.read.stage == 0 for c in loop_at(plan, 5).carried if c.arg.name == "i")


def test_no_stage_is_left_empty_where_the_recurrence_goes_through_the_decision():
    """The next iteration is issued when the product is compared: a stage more would be a cycle more of the II."""
    inner = loop_at(plan_of(DECIDES_LATE), 8)
    assert inner.slots > 1 and inner.again.stage == inner.ii - 1
    assert any(c.read.stage == 0 for c in inner.carried)


def test_a_loop_between_stores_to_one_memory():
    """The stores before and behind it are never in one level, though they share the port and nothing else keeps their
    order."""
    text = (
        "kernel void k(global const int *restrict a, global int *restrict b, int n) { for (int t = 0; t < n; t++) { "
        "int w[64]; w[0] = t; "
        "for (int k = 1; k < 64; k++) w[k] = a[k]; w[15] = 7; b[t] = w[a[t] & 63]; } }"
    )
    (kernel,) = planned_text(text).kernels
    loop = next(plan for op, plan in kernel.plan.loops.items() if op.attrs["label"] == "t")
    direct = [
        place.level
        for op, place in loop.place.items()
        if op.opcode == "store" and op.operands[0].op.attrs["mem"].endswith("w")
    ]
    assert len(direct) == 2 and len(set(direct)) == 2


FOLLOWED = """
kernel void followed(global const int *restrict next, global int *restrict out, int n)
{
    int links[64];
    for (int i = 0; i < 64; i++)
        links[i] = next[i];
    int at = 1;
    for (int i = 0; i < n; i++)
        at = links[(at - 1) & 63];
    *out = at;
}
"""


def test_places_in_a_memory_of_the_kernel_are_no_sums():
    assert loop_at(plan_of(FOLLOWED, "de5net"), 8).ii == 2  # the difference, and the memory


WALKED = """
kernel void walked(global const int *restrict next, global int *restrict out, int n, int m)
{{
    int links[64];
    for (int i = 0; i < 64; i++)
        links[i] = next[i];
    {around} {{
        int at = 1, count = 0;
        while (at < n) {{
            at = links[(at - 1) & 63];
            count++;
        }}
        out[{place}] = count;
    }}
}}
"""


@pytest.mark.parametrize(("around", "place", "ii"), [("", "0", 2), ("for (int t = 0; t < m; t++)", "t", 3)])
def test_a_loop_that_is_entered_once_issues_ahead_of_its_exit_for_any_lower_ii(around, place, ii):
    """The comparison takes a cycle more than the memory. Issuing ahead of it makes an invocation longer, which only the
    next one waits for."""
    loop = loop_at(plan_of(WALKED.format(around=around, place=place), "de5net"), 9)
    assert (loop.ii, loop.speculative) == (ii, ii == 2)

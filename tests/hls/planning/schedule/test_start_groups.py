"""Co-start groups, and those that are dropped."""

from hls.planning.schedule.problem import Dependence
from hls.planning.schedule.start_groups import that_can_be
from tests.plans import planned_text

#: two loads of one copy of a memory each, one before one of the other two, and one behind
CROSSWISE = """
__attribute__((max_work_group_size(2)))
__kernel void crosswise(__global const int *restrict in, __global int *restrict out)
{
    __local int t[2];
    int g = get_global_id(0), m = get_local_size(0), x = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    int here = min((uint)x & 31, (uint)m - 1), there = min((uint)g & 31, (uint)m - 1);
    if (t[here] >> 3 & 1)
        out[8 * g + (t[there] & 7)] = t[there];
    out[8 * g + 1] = (g << (t[here] & 7)) + (x == t[there] ? t[here] : x);
}
"""


def test_wanted_groups_that_others_forbid():
    edges = [Dependence("a", "c"), Dependence("d", "b")]
    assert that_can_be("abcd", edges, [], [("a", "b")]) == (("a", "b"),)
    assert that_can_be("abcd", edges, [], [("a", "b"), ("c", "d")]) == (("a", "b"),)
    assert that_can_be("abcd", edges, [("c", "d")], [("a", "b")]) == (("c", "d"),)
    assert that_can_be("abcd", edges, [], [("b", "c"), ("a", "d")]) == (("b", "c"), ("a", "d"))


def test_what_comes_around_counts_only_within_an_iteration():
    edges = [Dependence("a", "c"), Dependence("d", "b", distance=1)]
    assert that_can_be("abcd", edges, [], [("a", "b"), ("c", "d")]) == (("a", "b"), ("c", "d"))


def test_loads_crosswise():
    assert planned_text(CROSSWISE).kernels

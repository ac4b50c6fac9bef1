"""Stores that share the port of a memory are in one level, also where an inner loop of an earlier iteration orders
them."""

import pytest

from tests.plans import planned

#: with stores ahead of an inner loop, at distances that no two of them have within one iteration
NEST = """
__kernel void k(int n, __global const int *restrict p, __global int *restrict out) {{
    int v[1024];
    for (int i = 0; i < n; i++) {{
        {stores}
        int x = 0;
        for (int j = 0; j < n; j++) {{ {inner} }}
        out[i] = x;
    }}
    for (int i = 0; i < 1024; i++) out[i] = v[i];
}}
"""


#: of the stores
LINE = 5


@pytest.mark.parametrize(
    "stores, inner",
    [
        # both stores go ahead of the loop, which stores what an earlier iteration must have stored before the first one
        ("v[i] = 1; v[i + 900] = 2;", "v[28 * (j & 7) + i + 28] = p[j];"),
        # the loop loads what an iteration behind it stores: both stores follow it
        ("v[i] = 1; v[i + 756] = 2;", "x += v[i + 28] + p[j];"),
        # it loads what the second store has stored, which precedes it: both go ahead
        ("v[i] = 1; v[i + 40] = 2;", "x += v[i + 40] + v[i + 1] + p[j];"),
    ],
)
def test_stores_of_one_port_are_in_one_level(stores, inner):
    plan = planned(NEST.format(stores=stores, inner=inner))["k"].plan
    levels = [
        point.level
        for region in plan.loops.values()
        for op, point in region.place.items()
        if op.opcode == "store" and op.span.line == LINE
    ]
    assert len(levels) == 2 and len(set(levels)) == 1


#: the stores of the loops reserve the port, as their data needs no order; each store outside them waits for the port
RESERVED = """
__kernel void k(int n, __global const int *restrict p, __global int *restrict out) {
    int v[1024];
    v[n & 15] = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) v[512 + (p[j] & 63)] = j;
        for (int j = 0; j < n; j++) v[768 + (p[j] & 63)] = j;
    }
    v[16 + (n & 15)] = 2;
    for (int i = 0; i < 1024; i++) out[i] = v[i];
}
"""


def test_stores_around_a_loop_that_reserves_the_port_are_apart():
    plan = planned(RESERVED)["k"].plan
    levels = {op.span.line: point.level for op, point in plan.top.place.items() if op.opcode == "store"}
    assert levels[4] < levels[9]

"""Which nests become one loop by the test of their inner loop when they are planned."""

import pytest

from tests.plans import planned_alone

LINKS = """__kernel void links(__global const uchar *restrict p, __global const uchar *restrict t, __global int *restrict o,
                    int m, int n)
{
    int next[16];
    for (int i = 0; i < 16; i++)
        next[i] = m * i & 15;
    int found = 0, q = 0;
    for (int i = 0; i < n; i++) {
        while (q > 0 && p[q] != t[i])
            q = next[q - 1];
        if (p[q] == t[i])
            q++;
        if (q >= m) {
            found++;
            q = next[q - 1];
        }
    }
    o[0] = found;
}
"""
#: the inner loop is a row that is long more often than not, and fast by itself
ROWS = """__kernel void rows(__global const int *restrict c, __global int *restrict o, int n)
{
    int s = 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 64 + (s & 7); j++)
            s += c[(i + j) & 1023];
        s = s / 3 * (s + i);
        o[i] = s;
    }
}
"""
#: each inner iteration loads what the one before may have stored
SHIFTS = """__kernel void shifts(__global int *restrict a, int n)
{
    for (int i = 1; i < n; i++) {
        int v = a[i], j = i - 1;
        while (j >= 0 && a[j] > v) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = v;
    }
}
"""


def joined(source: str, board: str) -> list[int]:
    """The II of each loop of the only kernel that has another one in it now."""
    name = source.split("(")[0].split()[-1]
    (kernel,) = planned_alone(source, name, board)
    into = {one.into for one in kernel.merged if one.how == "coalesced"}
    return [region.ii for loop, region in kernel.plan.loops.items() if loop.span in into]


def test_links_on_the_chip():
    assert joined(LINKS, "ecp5_onchip") == [2]


def test_links_in_external_memory():
    """With copies of both buffers, and in launches in which they are too large."""
    copied, without = joined(LINKS, "de5net")
    assert copied == 3 and without > 100


@pytest.mark.parametrize("source", [ROWS, SHIFTS])
def test_nests_that_stay(source):
    assert joined(source, "ecp5_onchip") == []

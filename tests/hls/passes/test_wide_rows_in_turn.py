"""Rows of neighbouring stores that are wider than a word of memory, at places that may meet."""

from hls.ir import Attr, walk
from tests.plans import planned_alone

#: blocks of 64 ints that overlap by two
BLOCKS = """__kernel void blocks(__global const int *restrict a, __global int *restrict o, int n, int m)
{
    int x = 0, first = 0;
    for (int t = 0; t < n; t++) {
        #pragma unroll
        for (int i = 0; i < 32; i++)
            if (first + x + i < m)
                o[first + x + i] = a[t] + i;
        x += 32;
        if (x == 64) {
            x = 0;
            first += 62;
        }
    }
}
"""


def test_both_words_take_turns():
    """Two units would wait for each other's stores to be in memory: II 104."""
    (kernel,) = planned_alone(BLOCKS, "blocks", "de5net")
    (store,) = [op for op in walk(kernel.function.body) if op.opcode == "store"]
    assert store.attrs[Attr.TURNS] == 2 and store.attrs[Attr.MEMBERS] == 32
    assert [plan.ii for plan in kernel.plan.loops.values()] == [1, 1]

"""Conditional specialization by mutually exclusive branches: the same bytes, and no dependence chain through values
that the others set."""

import numpy as np
import pytest
from merging import outcome

from hls.analysis.predicates.value_sets import ValueSet, ValueSets, both
from hls.frontend import parse_source
from hls.ir import BOOL, Builder, IntType, Region, Value
from tests.kernels.system import Launch
from tests.plans import planned

TEXT = """__kernel void k(__global const uchar *restrict a, __global int *restrict b, int n, int m)
{
    int st = 0, left = 0, w = 0;
    uchar kind = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        uchar c = a[i];
        %s
    }
    b[w] = sum;
}
"""

#: what is done with each byte c of a stream, with state st -> the largest initiation interval on the default board (3,
#: 3, 6, and 2 where each section waits for all before it)
BODIES = {
    # a packet: a start, two bytes of header, as many bytes as the second says, and a sum
    "switch (st) { case 0: if (c == 126) st = 1; kind = 0; break; case 1: if (kind == 0) { kind = c | 1; break; } "
    "left = c & 15; sum = 0; "
    "st = left ? 2 : 3; break; case 2: sum = (sum + c) & 255; if (--left == 0) st = 3; break; case 3: if (c == sum) "
    "b[w++] = kind; default: st = 0; }": 1,
    # without a switch, and the state of the next iteration apart
    "int next = st; if (st == 0) { left = c & 7; next = 1; } if (st == 1) { if (left == 0) next = 2; left--; } if "
    "(st == 2) { b[w++] = left + kind; "
    "kind = c & 3; next = kind == left ? 1 : 0; } st = next;": 1,
    # a branch under a range of states, and one for all others; loops inside
    "switch (st) { case 0 ... 3: for (int j = 0; j < (c & 3); j++) sum += kind; st = (st + c) & 7; break; case 4: "
    "kind = sum; st++; break; "
    "default: b[w++] = sum; sum = 0; st = m & 3; for (int j = 0; j < 2; j++) kind += st == 4 ? left : j; }": 5,
    # what both branches yield alike, and conditions of several parts
    "if (c > 200 && kind != 3) { left = c; kind = 3; } else if (c > 100 || kind == 3) { kind = left & 3; left = 1; } "
    "if (kind == 3) b[w++] = left; "
    "if (kind != 3) { sum += kind == 3 ? 1000 : left; } if (kind == 1 && m > 0) { b[w++] = kind; if (m < 0) sum = 0; "
    "}": 1,
}


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_same_bytes_at_a_shorter_interval(body):
    text = TEXT % body
    module = parse_source(text, "k.cl", {}, []).module
    (kernel,) = planned(text).values()
    rng = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (17, 0), (400, -7), (400, 5)):
        stream = np.where(rng.random(400) < 0.3, 126, rng.integers(0, 256, 400)).astype(np.uint8)
        launch = Launch({"a": stream, "b": np.zeros(900, np.int32)}, {"n": n, "m": m})
        assert outcome(kernel.function, launch) == outcome(module, launch), (n, m)
    assert max(loop.ii for loop in kernel.plan.loops.values()) == BODIES[body]


def test_numbers_that_conditions_leave():
    region = Region()
    x, p, q = (Value(kind, owner=region, index=k) for k, kind in enumerate((IntType(3), BOOL, BOOL)))
    b, cases = Builder(region), ValueSets()
    one, five = (b.value("eq", x, b.const(k, IntType(3))) for k in (1, 5))
    either = b.value("or", one, b.value("and", five, p))
    neither = b.value("xor", either, b.true())
    assert cases.of(either, True) == {x: ValueSet(frozenset((1, 5)))}
    assert cases.of(neither, True) == {x: ValueSet(frozenset((1,)), True)}
    assert cases.of(b.value("ne", b.const(2, IntType(3)), x), False) == {x: ValueSet(frozenset((2,)))}
    both_parts = both(cases.of(five, True), cases.of(q, False))
    assert [cases.decided(condition, both_parts) for condition in (one, five, p, q, neither)] == [
        False,
        True,
        None,
        False,
        None,
    ]
    assert cases.decided(neither, cases.of(one, True)) is False

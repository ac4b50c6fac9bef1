"""Unsigned indices that few steps lead through their whole type: they come back to places, although each step goes
forward."""

import pytest
from brute import conflicts, trace
from test_dependence import flat, loop, said

from hls.analysis.dependence.dependence import dependences
from hls.passes.order.insert_memory_tokens import InsertMemoryTokens


@pytest.fixture(autouse=True)
def without_order(monkeypatch, through_memory):
    monkeypatch.setattr(InsertMemoryTokens, "run", lambda self, function: function)


def kernel(begin, body):
    args = "__global int *restrict a, __global const int *restrict b, int n, int m"
    return f"__kernel void k({args}) {{ {begin}\n#pragma unroll 1\nfor (int t = 0; t < m; t++) {{ {body} }} }}"


@pytest.mark.parametrize("address_bits", [18, 32, 64])
@pytest.mark.parametrize(
    "begin, body",
    [
        ("uint w = n;", "if (w < 16) a[w] += b[t]; w += 0x40000000;"),
        ("uint w = n;", "if (w < 16) a[w] += b[t]; w -= 0x20000000;"),
        ("uint w = n;", "if (w < 16) a[w] += b[t]; w += b[t] ? 0x10000000 : 0x40000000;"),
        ("uint w = n;", "if (w < 16) a[w] += b[t]; w += ((uint)b[t] & 0x7fffffff) | 0x40000000;"),
        ("uint w = n;", "if (w < 16) { a[w + 2] = b[t]; a[w] = 3; } w += 0x55555556u;"),
        ("uint w = n;", "if (t % 3 == 0) { a[w + 2] = b[t]; a[w] = 3; } w += 0x55555556u;"),
        ("ulong w = n;", "if (w < 16) a[w] += b[t]; w += 0x4000000000000000ul;"),
        ("", "uint q = (uint)t * 0x40000000u; if (q < 16) a[q] += b[t];"),
        ("uint u = n | 0x80000000u, v = m | 0x80000000u;", "a[u + v] = 1; a[t + 8] += 2;"),
    ],
)
def test_no_conflict_is_missed(begin, body, address_bits):
    """Brute force finds a conflict in each of these, and the analysis does, too."""
    function = flat(kernel(begin, body), address_bits)
    least: dict = {}
    for d in dependences(function, address_bits):
        key = d.src, d.dst, d.loop
        least[key] = min(d.distance, least.get(key, d.distance))
    found = 0
    for n, m in ((0, 14), (3, 9)):
        memory = {"a": {}, "b": {4 * i: i & 1 for i in range(16)}}
        for key, distance in conflicts(trace(function, [n, m], memory, address_bits)).items():
            assert key in least and least[key] <= distance, (key, distance)
            found += distance != 0 or key[2] is None
    assert found


@pytest.mark.parametrize("address_bits", [18, 32, 64])
@pytest.mark.parametrize(
    "begin, body",
    [
        ("uint w = n;", "a[w] = b[t]; w += 1000;"),
        ("uint w = n;", "a[w] = b[t]; w += b[t] ? 3 : 5;"),
        ("uint w = n;", "a[w] = b[t]; w += (b[t] & 255) + 1;"),
        ("int w = n;", "a[w] = b[t]; w += 0x1000;"),  # of a signed number, C excludes it
    ],
)
def test_small_steps_and_signed_ones_do_not(begin, body, address_bits):
    assert said(kernel(begin, body), address_bits) == set()


def test_rows_of_unsigned_indices_stay_apart():
    args = "__global int *restrict a, __global int *restrict b, uint n, uint m"
    assert said(loop("a[i * 4096] = b[i];", args, "uint i = 0; i < n; i++"), 32) == set()

"""The first iteration of a loop takes what the program stored or loaded just before it; the same numbers as without."""

import numpy as np
import pytest

from hls.ir import memory_name, walk
from hls.ir.interpreter import run_kernel
from hls.passes.memory import forward_stores
from hls.passes.recurrence import hoist_first_loads
from tests.plans import planned

BOARD = "ecp5_onchip"
#: a row whose elements each depend on the one before; the first one is set as the case says
ROW = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n, int c)
{
    int row[65];
    for (int j = 0; j < 65; j++)
        row[j] = 3 * j;
    for (int i = 0; i < n; i++) {
        %s
        for (int j = 1; j <= n; j++)
            row[j] = row[j - 1] / 2 + a[j - 1] + row[j];
    }
    for (int j = 0; j <= n; j++)
        out[j] = row[j];
}
"""
KNOWN = {
    "stored": "row[0] = i;",
    "loaded": "int t = row[0]; out[0] = t;",
    "stored behind another element": "row[64] = c; row[0] = i + c;",
    "stored in both branches": "if (c > 2) row[0] = i; else row[0] = c;",
}
UNKNOWN = {
    "stored under a condition": "if (c > 2) row[0] = i;",
    "perhaps stored again": "row[0] = i; row[c & 7] = 5;",
    "stored again in a loop": "row[0] = i; for (int j = 0; j < c; j++) row[a[j] & 7] = j;",
}
#: row[0] is written before all loops only, so hoist-first-loads makes its load before the inner one
UNCHANGED = {"another element stored": "row[1] = i;"}


@pytest.fixture(autouse=True)
def _plans_of_this_test():
    planned.cache_clear()
    yield
    planned.cache_clear()


def kernel(case: str):
    return planned(ROW % case, BOARD)["k"].function


def loads_in_rows(function) -> int:
    """Loads of the row in the innermost loop of the nest: one of the element itself, and one of the first element."""
    loops = [op for op in walk(function.body) if op.opcode == "loop"]
    (row,) = [op for op in loops if any(o.opcode == "load" and memory_name(o) == "a" for o in op.regions[0].ops)][-1:]
    return sum(op.opcode == "load" and memory_name(op) == "row" for op in row.regions[0].ops)


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_is_not_loaded(name):
    assert loads_in_rows(kernel(KNOWN[name])) == 1


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_certain_is_loaded(name):
    assert loads_in_rows(kernel(UNKNOWN[name])) == 2


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_does_not_change_is_loaded_before_the_loop(name):
    function = kernel(UNCHANGED[name])
    assert loads_in_rows(function) == 1
    (outer,) = [op for op in function.body.ops if op.opcode == "loop" and any(o.regions for o in op.regions[0].ops)]
    assert [memory_name(op) for op in outer.regions[0].ops if op.opcode == "load"] == ["row"]


@pytest.mark.parametrize("name", [*KNOWN, *UNKNOWN, *UNCHANGED])
def test_the_same_numbers(name, monkeypatch):
    """As without entry values and without loads made before the loop, for rows of any length."""
    with_it = kernel((KNOWN | UNKNOWN | UNCHANGED)[name])
    planned.cache_clear()
    monkeypatch.setattr(forward_stores, "entry_value", lambda *given: None)
    monkeypatch.setattr(hoist_first_loads, "_places", lambda *given: [])
    without = kernel((KNOWN | UNKNOWN | UNCHANGED)[name])
    assert loads_in_rows(without) == 2
    rng = np.random.default_rng(1)
    for n, c in ((0, 1), (1, 3), (2, 0), (9, 5)):
        a = rng.integers(-9, 9, 64).astype(np.int32)
        found = []
        for function in (with_it, without):
            buffers = {"a": bytearray(a.tobytes()), "out": bytearray(4 * 65)}
            run_kernel(function, "k", buffers, {"n": n, "c": c}, (1,))
            found.append(bytes(buffers["out"]))
        assert found[0] == found[1]


#: a table filled in place, each element from the one before and from the row above
TABLE = """__kernel void k(__global int *restrict table, __global const int *restrict score, int n, int gap) {
  int w = n + 1;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int match = table[(i - 1) * w + j - 1] + score[i * w + j];
      int down = table[(i - 1) * w + j] - gap, right = table[i * w + j - 1] - gap;
      table[i * w + j] = %s;
    }
}
"""


@pytest.mark.parametrize("most", ["max(max(match, down), right)", "max(match, max(down, right))"])
def test_however_a_maximum_is_written(most):
    """The first load of a row is made before its loop once the maximum has the carried element last."""
    (plan,) = planned(TABLE % most, "de5net").values()
    assert [region.ii for region in plan.plan.loops.values()] == [1, 1]

"""Passes that find nothing to do make no copy, and facts that several passes or pairs of stores need are computed
once."""

import pytest

from hls.analysis.dependence import dependence
from hls.analysis.predicates import implication
from hls.frontend import parse_source
from hls.ir.as_python import _code
from hls.ir.interpreter import run_kernel
from hls.passes.scalar.common_subexpression_elimination import CommonSubexpressionElimination
from hls.passes.scalar.dead_code_elimination import DeadCodeElimination
from tests.plans import planned

LOOP = """
__kernel void k(__global const int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++) { if (a[i] > 3) b[i] = a[i] * 5; }
}
"""


def updates(count: int) -> str:
    """Conditional updates of an array in registers."""
    lines = "".join(f"if (x > {7 * k}) v[x + {k} & 15] = x * {k};" for k in range(count))
    return f"""__kernel void k(__global const int *restrict a, __global int *restrict b, int n) {{
        int v[16];
        for (int i = 0; i < 16; i++) v[i] = i;
        for (int i = 0; i < n; i++) {{ int x = a[i]; {lines} b[i] = v[x & 15]; }}
    }}"""


def nested(depth: int) -> str:
    """Ifs inside each other, with a store in each of the other branches: of two stores, one runs at most."""
    begin = "".join(f"if (a[{k}] > i) {{" for k in range(depth))
    end = "".join(f"}} else b[a[i] + {k}] = i;" for k in range(depth))
    return f"""__kernel void k(__global const int *restrict a, __global int *restrict b, int n) {{
        for (int i = 0; i < n; i++) {{ {begin} {end} }}
    }}"""


@pytest.mark.parametrize("each", [DeadCodeElimination(), CommonSubexpressionElimination()], ids=lambda each: each.name)
def test_a_function_with_nothing_to_remove_is_returned_itself(each):
    (function,) = parse_source(LOOP).module.kernels
    once = each.run(function)
    assert each.run(once) is once


def test_a_kernel_planned_again_asks_nothing_again():
    planned.cache_clear()
    planned(updates(3))
    asked = dependence._answered.cache_info().misses
    planned.cache_clear()
    planned(updates(3))
    assert dependence._answered.cache_info().misses == asked > 0


def test_implications_of_conditions_grow_as_the_stores_do(monkeypatch):
    """Not as their pairs, which are compared anew after each of two is merged."""
    derived = []
    implied = implication.implied
    monkeypatch.setattr(implication, "implied", lambda *given: derived.append(given) or implied(*given))
    counts = []
    for count in (5, 10):
        derived.clear()
        planned.cache_clear()
        planned(nested(count))
        counts.append(len(derived))
    assert counts[1] < 2.5 * counts[0], counts


def test_the_interpreter_compiles_a_function_once():
    module = parse_source(LOOP).module

    def arrays() -> dict[str, bytearray]:
        return {"a": bytearray(32), "b": bytearray(32)}

    run_kernel(module, "k", arrays(), {"n": 8})
    before = _code.cache_info()
    run_kernel(module, "k", arrays(), {"n": 8})
    assert _code.cache_info().hits > before.hits and _code.cache_info().misses == before.misses

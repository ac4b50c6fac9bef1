"""Passes that find nothing to do make no copy, and facts that several passes or pairs of stores need are computed
once."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hls.analysis.dependence import dependence
from hls.analysis.predicates import implication
from hls.diag import Span
from hls.driver import plan_text
from hls.frontend import parse_source
from hls.ir import Attr, Function, Region, print_function, walk
from hls.ir.as_python import _code
from hls.ir.clone import clone_function
from hls.ir.interpreter import run_kernel
from hls.ir.same import Likeness, exact_copy, likeness, same_function
from hls.options import Options
from hls.passes import manager
from hls.passes.early_stages import EarlyStages, early_stages
from hls.passes.lowering.drop_inbounds import DropInbounds
from hls.passes.manager import FunctionPass, PassManager, Stage
from hls.passes.scalar.common_subexpression_elimination import CommonSubexpressionElimination
from hls.passes.scalar.constant_folding import ConstantFolding
from hls.passes.scalar.dead_code_elimination import DeadCodeElimination
from hls.target.board import load_board
from tests.plans import planned

LOOP = """
__kernel void k(__global const int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++) { if (a[i] > 3) b[i] = a[i] * 5; }
}
"""

#: planned with copies of its buffer, too; the early stages report the loop that they unroll
SORT = """
__kernel void k(__global int *restrict a, int n) {
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i - 1;
        #pragma unroll
        for (int u = 0; u < 4; u++) x ^= u * n;
        while (j >= 0 && a[j] > x) { a[j + 1] = a[j]; j--; }
        a[j + 1] = x;
    }
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


class Idle(FunctionPass):
    """Changes nothing, or only what ``change`` does to its copy."""

    name = "idle"

    def __init__(self, change: Callable[[Function], object] = lambda copy: None) -> None:
        self.change, self.copies = change, list[Function]()

    def run(self, function: Function) -> Function:
        copy = clone_function(function)
        self.copies.append(copy)
        self.change(copy)
        return copy


@pytest.mark.parametrize(
    "each", [ConstantFolding(), DeadCodeElimination(), CommonSubexpressionElimination()], ids=lambda each: each.name
)
def test_a_function_with_nothing_to_remove_is_returned_itself(each):
    (function,) = parse_source(LOOP).module.kernels
    once = each.run(function)
    assert each.run(once) is once


def test_passes_that_change_nothing_share_one_copy():
    (function,) = parse_source(LOOP).module.kernels
    passes = Idle(), Idle(), Idle()
    after = PassManager().run_function((Stage("test", passes),), function)
    assert after is function and not function.spares
    (copy,) = {copy for one in passes for copy in one.copies}
    assert copy is not function and clone_function(function) is not copy


@pytest.mark.parametrize(
    "change",
    [
        lambda copy: setattr(copy.args[0], "name", "renamed"),
        lambda copy: setattr(next(op for op in walk(copy.body) if op.results).results[0], "name", "renamed"),
        lambda copy: setattr(copy.body.ops[0], "span", Span("other.cl", 1)),
        lambda copy: copy.attrs.update({Attr.NDRANGE: True}),
        lambda copy: setattr(copy, "name", "other"),
    ],
    ids=["argument", "result", "span", "attribute", "function"],
)
def test_a_copy_that_differs_in_what_is_not_compared_is_no_spare(change):
    (function,) = parse_source(LOOP).module.kernels
    before, first, second = print_function(function), Idle(change), Idle()
    after = PassManager().run_function((Stage("test", (first, second)),), function)
    assert after is first.copies[0] and print_function(function) == before
    assert second.copies[0] not in (function, after) and print_function(second.copies[0]) == print_function(after)


def test_a_function_that_shares_nodes_is_no_spare():
    (function,) = parse_source(LOOP).module.kernels
    shallow = replace(function, body=Region(ops=list(function.body.ops)), spares=[])
    assert same_function(function, shallow) and not exact_copy(function, shallow)
    assert exact_copy(function, clone_function(function))


def test_kernels_are_the_same_without_spares(monkeypatch):
    def texts() -> list[str]:
        found = (
            plan_text(text, load_board("de5net"), Options(), "k.cl") for text in (SORT, LOOP, updates(3), nested(3))
        )
        return [print_function(kernel.function) for plan in found for kernel in plan.kernels]

    shared = texts()
    monkeypatch.setattr(manager, "likeness", lambda a, b: min(likeness(a, b), Likeness.SAME))
    assert texts() == shared


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


def test_attempts_at_a_kernel_share_the_early_stages(monkeypatch):
    """What is planned and reported is the same as if each attempt ran all stages."""
    runs, plain = [], DropInbounds.run
    monkeypatch.setattr(DropInbounds, "run", lambda self, function: runs.append(function) or plain(self, function))

    def planned_anew():
        plan, count = plan_text(SORT, load_board("de5net"), Options(), "k.cl"), len(runs)
        runs.clear()
        (kernel,) = plan.kernels
        return (print_function(kernel.function), kernel.unrolled, kernel.copies, plan.warnings), count

    shared, few = planned_anew()

    def run(self, module, function, forms, options):
        passes = PassManager(forms=forms)
        return passes.run_function(early_stages(options), function), frozenset(passes.forms)

    monkeypatch.setattr(EarlyStages, "run", run)
    separate, many = planned_anew()
    assert shared == separate and shared[1] and shared[2].copied
    assert few < many

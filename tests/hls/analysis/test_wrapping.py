"""Sums that the source computes as unsigned wrap, also where they are read as signed; those of signed numbers do not."""

import pytest

from hls.analysis.affine.wrapping import WrappingValues
from hls.analysis.dependence.dependence import Kind, dependences
from hls.analysis.loops.loop_tree import LoopTree
from hls.frontend import parse_source
from hls.ir import Function, walk
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize


def kernel(body: str) -> Function:
    text = f"__kernel void k(__global int *restrict a, int n, uint u, ulong w) {{ {body} }}"
    return optimize(parse_source(text, "k.cl", {}, []).module, PipelineOptions()).kernels[0]


def stored(function: Function) -> list[bool]:
    """Of each value that is stored, whether it may wrap."""
    values = WrappingValues(LoopTree(function))
    return [values.may_wrap(op.operands[1]) for op in walk(function.body) if op.opcode == "store"]


@pytest.mark.parametrize(
    "value, wraps",
    [
        ("n + 5", False),
        ("n * 77 - 3", False),
        ("(int)(u + 5u)", True),
        ("(int)(u * 2654435761u)", True),
        ("(int)(-u)", True),
        ("(int)(u << 3)", True),
        ("(int)((u + 5u) + 7u) + n", True),
        ("(n > 3 ? (int)(u + 5u) : n)", True),
        ("(int)u", False),
        ("(int)(w + 5)", False),  # a conversion to fewer bits keeps the number
        ("(int)(w * 1103515245ul)", True),  # unless a constant leaves the type after a few steps
        ("(int)((long)n * 0x40000001l)", True),
        ("(int)(w * 4 + 1103515245ul)", True),
        ("(int)(u * 77u) + n + n / 3 + n / 5 + n / 7 + n / 9 + n / 11", True),
        ("(int)(w * 0x9E3779B97F4A7C15UL)", True),  # unless a factor is none of that type
        ("add_sat(n, 5)", True),  # before the bound replaces it
        ("(int)(u + 5u) / 3", False),  # a quotient is no sum
    ],
)
def test_which_values_may_wrap(value, wraps):
    assert stored(kernel(f"a[0] = {value};")) == [wraps]


@pytest.mark.parametrize("kind, wraps", [("int", False), ("uint", True)])
def test_carried_values(kind, wraps):
    body = f"{kind} s = 0; for (int i = 0; i < n; i++) {{ a[i] = (int)s; if (a[i + 1] > 3) s += 1000000000; }}"
    assert stored(kernel(body)) == [wraps]


def test_passes_keep_the_mark():
    """The sum of a regrouped chain, and that of a select's arms, wraps as its terms do."""
    chain = "int s = (int)(u + 1u); a[0] = ((s + 2) + n) + 3;"
    arms = "a[0] = n > 0 ? (int)(u + 5u) : (int)(u + 9u);"
    assert stored(kernel(chain)) == stored(kernel(arms)) == [True]


@pytest.mark.parametrize(
    "body",
    [
        # the value after an inner loop of known length replaces what that carries
        (
            'uint h = 0; for (int i = 0; i < n; i++) { a[((int)h >> 29) + 4] += 1; _Pragma("unroll 1") for (int j = 0; j < 2;'
            " j++) { a[i * 2 + j + 9] = j; h += 1103515245u; } }"
        ),
        # more terms than a tree of few levels has
        (
            "int p = n / 3, q = n / 5, r = n / 7, s = n / 9; for (int i = 0; i < n; i++) { int h = (int)((uint)i * "
            "0x40000001u); a[((h + p + q + r + s + n) >> 22) + 512] *= 3; }"
        ),
        "for (int i = 0; i < n; i++) { int h = (int)((ulong)i * 1103515245ul); a[(h >> 29) + 4] += 1; }",
        "for (int i = 0; i < n; i++) { int h = (int)((long)i * 0x40000001l); a[(h >> 29) + 4] += 1; }",
        "ulong h = 0; for (int i = 0; i < n; i++) { a[((int)h >> 29) + 4] += 1; h += 0x40000001ul; }",
    ],
    ids=["after a loop", "many terms", "factor", "signed factor", "carried"],
)
def test_slots_of_hashes_depend_on_each_other(body):
    function = kernel(body)
    facts = dependences(function)
    assert any(fact.kind is Kind.RAW and fact.loop is not None and not fact.known for fact in facts)


def test_range_checks_of_wrapped_sums_are_not_merged():
    """`u + 1 < n` does not follow from `u + 3 < n` where the sum wraps to a negative number between them."""
    body = "int c = 0; for (int i = 0; i < n; i++) {{ {kind} x = a[i]; if ((int)(x + 1) < n && (int)(x + 3) < n) c++; }} a[0] = c;"
    counts = [sum(op.opcode == "slt" for op in walk(kernel(body.format(kind=kind)).body)) for kind in ("int", "uint")]
    assert counts[1] == counts[0] + 1

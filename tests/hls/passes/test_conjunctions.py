"""Conjunctions of comparisons combined into one, with the same result, also at both ends of the integers."""

import itertools

import pytest

from hls.ir import Module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.parser import parse_function
from hls.ir.verifier import verify
from hls.passes.scalar.common_subexpression_elimination import CommonSubexpressionElimination
from hls.passes.scalar.dead_code_elimination import DeadCodeElimination
from hls.passes.scalar.merge_range_checks import MergeRangeChecks

HEAD = (
    'kernel @k(%x: i32, %n: i32, %p: i1) {\n param x: scalar "int" 4\n param n: scalar "int" 4\n param p: scalar '
    '"bool" 1\n'
    " memory out: global i8 x ?\n"
)
LOW, HIGH = -(1 << 31), (1 << 31) - 1


def kernel(opcode: str, steps, left=True, extra=False):
    """out[0] = x + step (opcode) n for all steps (and p)."""
    lines, terms = [], []
    for k, step in enumerate(steps):
        pair = f"%s{k}, %n" if left else f"%n, %s{k}"
        lines += [
            f"%c{k}: i32 = const {{value = {step % (1 << 32)}}}",
            f"%s{k}: i32 = add %x, %c{k}",
            f"%t{k}: i1 = {opcode} {pair}",
        ]
        terms.append(f"%t{k}")
    terms += ["%p"] if extra else []
    total = terms[0]
    for k, term in enumerate(terms[1:]):
        lines.append(f"%a{k}: i1 = and {total}, {term}")
        total = f"%a{k}"
    lines += [
        f"%byte: i8 = zext {total}",
        "%zero: i64 = const {value = 0}",
        "%yes: i1 = const {value = 1}",
        '%at: ptr = addr %zero {mem = "out"}',
        "store %at, %byte, %yes",
        "return",
    ]
    return parse_function(HEAD + "\n".join(lines) + "\n}")


def simplified(function):
    for each in (MergeRangeChecks(), CommonSubexpressionElimination(), DeadCodeElimination()):
        function = each.run(function)
    verify(function)
    return function


def count(function, *opcodes):
    return sum(op.opcode in opcodes for op in walk(function.body))


def outcome(function, x, n, p=1):
    out = bytearray(1)
    run_kernel(Module({"k": function}), "k", {"out": out}, {"x": x, "n": n, "p": p})
    return out[0]


def same(before, after, numbers):
    for x, n in itertools.product(numbers, numbers):
        for p in (0, 1):
            assert outcome(after, x, n, p) == outcome(before, x, n, p), (x, n, p)


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize(
    "opcode, left, steps",
    [
        ("slt", True, (1, 2, 3, 4)),
        ("slt", True, (4, 2, 1, 3)),
        ("sle", True, (1, 2, 3)),
        ("slt", False, (-1, -2, -3)),
        ("sle", False, (-1, -2)),
        ("slt", True, (2, 4, 8)),
    ],
)
def test_signed_rows(opcode, left, steps, extra):
    """Numbers so that no sum wraps, which C promises."""
    before = kernel(opcode, steps, left, extra)
    after = simplified(before)
    assert count(after, "slt", "sle") == 1 and count(after, "add") == 0 and count(after, "and") == extra
    far = (
        [LOW, LOW + 1, -3, -1, 0, 1, 2, 3, 4, 5, 8, 9, HIGH - 9, HIGH - 8]
        if left
        else [LOW + 9, -3, -1, 0, 1, 2, 5, HIGH]
    )
    same(before, after, far)


@pytest.mark.parametrize("steps", [(1, 2, 3), (3, 4, 5, 6), (2, 1)])
def test_unsigned_rows_wrap_as_they_did(steps):
    before = kernel("ult", steps)
    after = simplified(before)
    assert count(after, "slt", "ult") == 1
    same(before, after, [0, 1, 2, 3, 4, 5, 6, 7, HIGH, HIGH + 1, -1, -2, -3, -4, -5, -6, -7])


@pytest.mark.parametrize(
    "opcode, left, steps, left_over",
    [
        ("ult", True, (1, 3), 2),
        ("ult", True, (1, 2, 4), 2),  # a gap: a sum might wrap there
        ("ule", True, (1, 2), 2),
        ("ult", False, (-1, -2), 2),
        ("eq", True, (1, 2), 2),
    ],
)
def test_left_alone(opcode, left, steps, left_over):
    before = kernel(opcode, steps, left)
    after = simplified(before)
    assert count(after, "ult", "ule", "slt", "eq") == left_over
    same(before, after, [0, 1, 2, 3, 4, 5, -1, -2, -3, -4])


def test_rows_of_different_things_stay_apart():
    text = (
        HEAD
        + """%one: i32 = const {value = 1}\n%two: i32 = const {value = 2}
        %a: i32 = add %x, %one\n%b: i32 = add %n, %two\n%s: i1 = slt %a, %n\n%t: i1 = slt %b, %x\n%u: i1 = and %s, %t
        %byte: i8 = zext %u\n%zero: i64 = const {value = 0}\n%yes: i1 = const {value = 1}\n%at: ptr = addr %zero {mem = "out"}
        store %at, %byte, %yes\nreturn\n}"""
    )
    before = parse_function(text)
    after = simplified(before)
    assert count(after, "slt") == 2 and count(after, "and") == 1
    same(before, after, range(-3, 4))

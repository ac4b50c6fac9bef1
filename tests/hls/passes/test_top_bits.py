"""Comparisons with round numbers mean the same in fewer bits."""

import itertools

import pytest

from hls.ir import Module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.parser import parse_function
from hls.ir.verifier import verify
from hls.passes.cse import CommonSubexpressions
from hls.passes.dce import DeadCode
from hls.passes.top_bits import TopBits

BITS = 5
NUMBERS = range(1 << BITS)


def kernel(opcode: str, number: int, left: bool):
    """out[0] = x (opcode) number, or number (opcode) x where ``left``."""
    pair = "%number, %small" if left else "%small, %number"
    return parse_function(f"""kernel @k(%x: i32) {{
 param x: scalar "int" 4
 memory out: global i8 x ?
 %small: i{BITS} = trunc %x
 %number: i{BITS} = const {{value = {number}}}
 %c: i1 = {opcode} {pair}
 %byte: i8 = zext %c
 %zero: i64 = const {{value = 0}}
 %yes: i1 = const {{value = 1}}
 %at: ptr = addr %zero {{mem = "out"}}
 store %at, %byte, %yes
 return
}}""")


def shortened(function):
    for each in (TopBits(), CommonSubexpressions(), DeadCode()):
        function = each.run(function)
        verify(function)
    return function


def outcome(function, x: int) -> int:
    out = bytearray(1)
    run_kernel(Module({"k": function}), "k", {"out": out}, {"x": x}, (1,))
    return out[0]


@pytest.mark.parametrize(("opcode", "left"), [*itertools.product(("ult", "ule", "slt", "sle"), (False, True))])
def test_every_number(opcode, left):
    for number in NUMBERS:
        before = kernel(opcode, number, left)
        after = shortened(before)
        assert [outcome(before, x) for x in NUMBERS] == [outcome(after, x) for x in NUMBERS], number


@pytest.mark.parametrize(("opcode", "number", "left", "bits"), [
    ("slt", 0, False, None), ("sle", 0, True, None), ("ult", 16, False, None), ("ule", 15, True, 5), ("ult", 24, False, 2), ("ult", 7, True, 2),
    ("sle", 3, False, 3), ("ult", 5, False, 5), ("ult", 2, False, 4)])
def test_what_is_left_to_compare(opcode, number, left, bits):
    compares = [op for op in walk(shortened(kernel(opcode, number, left)).body) if op.opcode in ("ult", "ule", "slt", "sle", "eq", "ne")]
    assert [op.operands[0].type.bits for op in compares] == ([] if bits is None else [bits])

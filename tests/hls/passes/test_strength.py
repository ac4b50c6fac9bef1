"""Strength reduction is exact, for every small operand and for the hard ones of 32 bits."""

import random
from itertools import pairwise

import pytest

from hls.ir import I8, I32, OPS, Builder, Function, IntType, MemoryObject, Parameter, Value, walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.passes.scalar.strength_reduction import StrengthReduction, reciprocal, signed_digits


def applied(opcode, type, number) -> Function:
    f = Function("k", "kernel", memories={"out": MemoryObject("out", "global", type)})
    f.params = [Parameter("out", "buffer", "", 8), Parameter("x", "scalar", "", type.bytes)]
    f.args = [Value(type, "x", f.body, 0)]
    b = Builder(f.body)
    b.op("store", b.addr("out"), b.value(opcode, f.args[0], b.const(number, type)), b.true())
    b.op("return")
    reduced = StrengthReduction().run(f)
    verify(reduced)
    return reduced


def result(f, x, type):
    out = bytearray(8)
    run_kernel(f, "k", {"out": out}, {"x": x})
    return int.from_bytes(out, "little") & (1 << type.bits) - 1


OPCODES = ["mul", "udiv", "sdiv", "urem", "srem"]


@pytest.mark.parametrize("opcode", OPCODES)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 7, 10, 16, 100, 127, 128, 129, 250, 255])
def test_every_operand_of_eight_bits(opcode, number):
    f = applied(opcode, I8, number)
    for x in range(256):
        assert result(f, x, I8) == OPS[opcode].meaning([x, number], [I8, I8], I8, {}), x


@pytest.mark.parametrize("opcode", OPCODES)
def test_operands_of_32_bits(opcode):
    rng = random.Random(opcode)
    edges = [0, 1, 2, 3, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    for number in [1, 3, 7, 10, 641, 1000, 1 << 31, (1 << 32) - 3, rng.getrandbits(32), rng.getrandbits(16)]:
        f = applied(opcode, I32, number)
        for x in [*edges, number, number - 1, *(number * k % (1 << 32) for k in (2, 5)), rng.getrandbits(32)]:
            assert result(f, x, I32) == OPS[opcode].meaning([x, number], [I32, I32], I32, {}), (x, number)


@pytest.mark.parametrize(
    ("opcode", "number", "gone"),
    [
        ("mul", 12, "mul"),
        ("mul", -1, "mul"),
        ("mul", 118, "mul"),
        ("udiv", 8, "udiv"),
        ("udiv", 10, "udiv"),
        ("urem", 64, "urem"),
        ("sdiv", 3, "sdiv"),
        ("sdiv", -3, "udiv"),
        ("srem", 10, "srem"),
        ("udiv", 16, "mul"),
    ],
)
def test_the_costly_operation_is_gone(opcode, number, gone):
    assert gone not in {op.opcode for op in walk(applied(opcode, IntType(16), number & 0xFFFF).body)}


def test_a_multiplication_by_many_digits_stays():
    assert "mul" in {op.opcode for op in walk(applied("mul", I32, 0x12345677).body)}


def test_signed_digits_sum_to_the_number_and_are_never_adjacent():
    for number in range(-300, 300):
        digits = signed_digits(number)
        assert sum(sign << exponent for sign, exponent in digits) == number
        exponents = [exponent for _, exponent in digits]
        assert all(b - a > 1 for a, b in pairwise(exponents))


def test_reciprocals_that_do_not_fit_are_refused():
    assert reciprocal(7, 64) is None
    factor, shift = reciprocal(7, 20)
    assert all(x * factor >> shift == x // 7 for x in range(0, 1 << 20, 37))

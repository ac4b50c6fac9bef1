"""Comparisons with constants in hardware: for multiples of powers of two only the upper bits are compared, with the
same results."""

import itertools

import pytest
from amaranth import Const, Module, Signal
from amaranth.sim import Simulator

from hls.analysis.bits.wiring import cut_order, ordered_bits
from hls.ir import Builder, IntType, Region, Value, evaluate
from hls.rtl.expression import combinational

BITS = 4
NUMBERS = range(1 << BITS)
ORDERS = ("ult", "ule", "slt", "sle")


def comparison(opcode: str, number: int, left: bool):
    """The operation x (opcode) number, or number (opcode) x where ``left``; and x."""
    type, b = IntType(BITS), Builder(Region())
    x, constant = Value(type, "x"), b.const(number, type)
    return b.value(opcode, *((constant, x) if left else (x, constant))).op


@pytest.mark.parametrize("opcode", ORDERS)
def test_every_number(opcode):
    m, x = Module(), Signal(BITS)
    cases = {}
    for number, left in itertools.product(NUMBERS, (False, True)):
        op, constant = comparison(opcode, number, left), Const(number, BITS)
        cases[number, left] = out = Signal()
        m.d.comb += out.eq(combinational(op, [constant, x] if left else [x, constant]))
    found = {}

    async def bench(ctx):
        for given in NUMBERS:
            ctx.set(x, given)
            for key, out in cases.items():
                found[*key, given] = ctx.get(out)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    for (number, left, given), answer in found.items():
        op = comparison(opcode, number, left)
        assert answer == evaluate(
            opcode, (number, given) if left else (given, number), [v.type for v in op.operands], op.result.type, {}
        ), (number, left, given)


@pytest.mark.parametrize(("inputs", "table"), [(1, 0b01), (2, 0), (3, 0b11101000), (4, 0b0110_1001_1101_0010)])
def test_lookup_table(inputs, table):
    """Each place of the operands holds another minterm, so one evaluation meets all of the table."""
    type, b, m = IntType(1 << inputs), Builder(Region()), Module()
    given = [sum((minterm >> k & 1) << minterm for minterm in range(type.bits)) for k in range(inputs)]
    op = b.value("lut", *(Value(type) for _ in given), attrs={"table": table}).op
    out, found = Signal(type.bits), []
    m.d.comb += out.eq(combinational(op, [Const(number, type.bits) for number in given]))

    async def bench(ctx):
        await ctx.delay(1e-6)
        found.append(ctx.get(out))

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == [table]
    assert evaluate("lut", given, [type] * inputs, type, {"table": table}) == table


@pytest.mark.parametrize(
    ("opcode", "number", "left", "bits"),
    [
        ("slt", 0, False, 1),
        ("sle", 0, True, 1),
        ("ult", 8, False, 1),
        ("ule", 7, False, 1),
        ("ult", 12, False, 2),
        ("ult", 7, True, 1),
        ("sle", 3, False, 2),
        ("ult", 5, False, 4),
        ("ult", 2, False, 3),
    ],
)
def test_bits_that_are_looked_at(opcode, number, left, bits):
    op = comparison(opcode, number, left)
    assert ordered_bits(op) == bits
    assert (cut_order(op) is None) == (bits == BITS)


@pytest.mark.parametrize(
    ("opcode", "number", "left", "edge"),
    [
        ("slt", 0, True, True),  # 0 < x
        ("sle", 0, False, True),
        ("slt", 15, False, True),  # x < -1
        ("ult", 0, True, True),
        ("ult", 14, True, True),
        ("ult", 4, False, True),  # the bits above are 0
        ("ult", 5, False, False),
        ("slt", 0, False, False),  # the sign alone
        ("slt", 4, False, True),
        ("slt", 6, False, False),
    ],
)
def test_comparisons_that_need_no_carry_chain(opcode, number, left, edge):
    cut = cut_order(comparison(opcode, number, left))
    assert (cut is not None and cut.edge) == edge

"""Value numbers agree with the comparison of two values."""

import math
from itertools import product

from hls.ir import F32, I32, Attr, Builder, Region
from hls.ir.same import ValueNumbers, same_value


def test_equal_numbers_are_those_of_values_computed_in_the_same_way():
    region = Region()
    b = Builder(region)
    x, y = (b.op("work_item", results=[I32], attrs={Attr.FN: "get_global_id", Attr.DIM: k}).result for k in range(2))
    values = [x, y]
    for left, right in product((x, y), repeat=2):
        values += [b.value("add", left, right), b.value("mul", b.value("add", left, right), b.const(3, I32))]
    values += [b.value("add", x, x), b.const(3, I32), b.const(4, I32)]
    values += [b.const(zero, F32) for zero in (0.0, -0.0, 0.0)]
    numbers = ValueNumbers()
    for one, other in product(values, repeat=2):
        assert (numbers.of(one) == numbers.of(other)) == same_value(one, other), (one.op, other.op)


def test_a_chain_longer_than_the_stack():
    b = Builder(Region())
    one, other = b.const(1, I32), b.const(1, I32)
    for _ in range(5000):
        one, other = b.value("add", one, one), b.value("add", other, other)
    numbers = ValueNumbers()
    assert numbers.of(one) == numbers.of(other) != numbers.of(one.op.operands[0])


def test_nan_constants_of_other_payloads_stay_apart():
    b = Builder(Region())
    one, other = (b.const(float("nan"), F32) for _ in range(2))
    numbers = ValueNumbers()
    assert math.isnan(one.op.attrs[Attr.VALUE]) and numbers.of(one) != numbers.of(other)

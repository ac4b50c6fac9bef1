"""Operations reported as wires are wires, and bits reported as 0 are 0."""

import random

import pytest

import hls
from hls.analysis.bits.wiring import is_wires, possible_ones
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import BOOL, I8, I16, Builder, Region, Value, evaluate
from hls.ir.rewrite import constant
from tests.repetitions import sampled

CASES = 200


class Tables:
    """Values with what each is in all cases of its unknowns."""

    def __init__(self, rng):
        self.rng, self.b, self.of = rng, Builder(Region()), {}
        for type in (I8, I8, I16, BOOL):
            self.of[Value(type, "x")] = [rng.getrandbits(type.bits) for _ in range(CASES)]

    def operand(self, type):
        if self.rng.random() < 0.4:
            number = self.rng.choice([0, 1, 2, 0x0F, 0x80, 0xF0, -1, self.rng.getrandbits(16)])
            value = self.b.const(number, type)
            self.of[value] = [constant(value)] * CASES
            return value
        return self.rng.choice([v for v in self.of if v.type == type])

    def grow(self):
        type, opcode = (
            self.rng.choice([I8, I16]),
            self.rng.choice(["and", "or", "xor", "add", "shl", "lshr", "select", "zext", "trunc"]),
        )
        if opcode in ("zext", "trunc"):
            source, type = (I8, I16) if opcode == "zext" else (I16, I8)
            value = self.b.value(opcode, self.operand(source), result=type)
        elif opcode == "select":
            value = self.b.value(opcode, self.operand(BOOL), self.operand(type), self.operand(type))
        elif opcode in ("shl", "lshr"):
            amount = self.b.const(self.rng.randrange(type.bits), type)
            self.of[amount] = [constant(amount)] * CASES
            value = self.b.value(opcode, self.operand(type), amount)
        else:
            value = self.b.value(opcode, self.operand(type), self.operand(type))
        op = value.op
        types = [v.type for v in op.operands]
        self.of[value] = [
            evaluate(opcode, list(row), types, type, op.attrs) for row in zip(*(self.of[v] for v in op.operands))
        ]
        return op


def _bits(column: list[int], width: int) -> list[tuple[int, ...]]:
    return [tuple(number >> k & 1 for number in column) for k in range(width)]


@pytest.mark.parametrize("seed", sampled(range(20)))
def test_against_all_cases(seed):
    tables, found = Tables(random.Random(seed)), 0
    for _ in range(60):
        op = tables.grow()
        ones = possible_ones(op.result)
        assert all(number & ~ones == 0 for number in tables.of[op.result])
        if is_wires(op):
            found += 1
            there = {bit for v in op.operands for bit in _bits(tables.of[v], v.type.bits)} | {(0,) * CASES}
            there |= {tuple(1 - one for one in bit) for bit in there}
            assert set(_bits(tables.of[op.result], op.result.type.bits)) <= there
    assert found


@pytest.mark.parametrize(
    ("update", "ii"),
    [
        ("uint y = x + a[i]; x = (y ^ ((y << 9) | (y >> 23))) & 0x7FFFFFFF", 1),  # a rotation and a mask are wires
        # the test of a bit is, too
        ("uint d = a[i]; for (int k = 0; k < 3; k++) x = (x >> 1) ^ (x & 1 ? 0xEDB88320 : 0) ^ (x & 0x80 ? d : 0)", 2),
        ("x = ((x >> 1) ^ (0xEDB88320 & -(x & 1))) + a[i]", 1),
    ],
)  # so is a mask that is all one bit
def test_wires_take_no_time(update, ii):
    text = (
        "__kernel void k(__global const uint *restrict a, __global uint *restrict o, int n) {\n"
        f" uint x = 1;\n for (int i = 0; i < n; i++) {{ {update}; }}\n o[0] = x;\n}}"
    )
    (kernel,), _ = plan_module(parse_source(text).module, hls.load_board("de5net"), hls.Options())
    assert [plan.ii for plan in kernel.plan.loops.values()] == [ii]

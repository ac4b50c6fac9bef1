"""The part chosen for an operation computes what the operation means."""

import random

import pytest

from hls.ir import Builder, IntType, Region, evaluate
from hls.planning.schedule.parts import part_for
from hls.target.board import load_board
from rtl_lib.arith.catalog import choose
from tests.rtl_lib.fp.soak import cases


def operand(b, kind, bits, rng):
    """(value of ``bits`` bits, number): extended from fewer bits, constant, or neither."""
    narrow = rng.randint(1, bits - 1)
    number = rng.getrandbits(narrow)
    source = b.const(0, IntType(narrow))
    source.op.opcode = "work_item"  # anything that is no constant
    if kind == "const":
        number = rng.getrandbits(bits) if rng.random() < 0.5 else number
        return b.const(number, IntType(bits)), number
    if kind == "plain":
        value = b.const(0, IntType(bits))
        value.op.opcode = "work_item"
        return value, rng.getrandbits(bits)
    extended = evaluate(kind, [number], [IntType(narrow)], IntType(bits), {})
    return b.value(kind, source, result=IntType(bits)), extended


@pytest.mark.parametrize("left", ["zext", "sext", "plain"])
@pytest.mark.parametrize("right", ["zext", "sext", "const", "plain"])
def test_product_of_extended_operands(left, right):
    rng = random.Random(left + right)
    for _ in range(300):
        bits = rng.choice([8, 24, 32, 48, 64])
        b = Builder(Region())
        (x, a), (y, c) = operand(b, left, bits, rng), operand(b, right, bits, rng)
        op = b.value("mul", x, y).op
        choice = part_for(op, 18)
        low = [
            n & (1 << width) - 1
            for n, width in zip((a, c), (choice.params.width_a, choice.params.width_b), strict=True)
        ]
        assert choice.part.outputs(choice.params)["o"] == bits
        assert choice.part.golden(choice.params, *low) == (a * c) & (1 << bits) - 1, choice.params


def test_a_wide_product_of_words_needs_a_small_multiplier():
    b = Builder(Region())
    words = [b.value("sext", b.value("load", result=IntType(32)), result=IntType(64)) for _ in range(2)]
    params = part_for(b.value("mul", *words).op, 27).params
    assert (params.width_a, params.width_b, params.signed) == (32, 32, True)


@pytest.mark.parametrize("board", ["de5net", "a10pac", "ecp5_onchip"])
def test_every_part_in_every_format_reaches_the_clock_of_the_boards(board):
    model = load_board(board).delay_model()
    for part, params in {(case.part, case.params) for case in cases()}:
        choice = choose(part, params, model.period_ns, model.level, model.overhead_ns)
        assert choice.deepest_ns + model.overhead_ns <= model.period_ns + 1e-9

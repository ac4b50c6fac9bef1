"""Moving the latest leaf of a tree of selects to its root preserves the meaning, wherever else the same value
occurs."""

import itertools

import pytest

from hls.ir import BOOL, Builder, IntType, Region, Value
from hls.passes.recurrence.mux_trees import choose_last, leaves_of

I8 = IntType(8)


def tree(shape, body, values):
    """A value, or a choice (condition, yes, no) by number and names."""
    if isinstance(shape, str):
        return values[shape]
    condition, yes, no = shape
    return Builder(body).value("select", values[condition], tree(yes, body, values), tree(no, body, values))


def evaluate(value, given):
    if value in given:
        return given[value]
    operands = [evaluate(v, given) for v in value.op.operands]
    match value.op.opcode:
        case "select":
            return operands[1] if operands[0] else operands[2]
        case "and":
            return operands[0] and operands[1]
        case "xor":
            return operands[0] != operands[1]
        case "const":
            return value.op.attrs["value"]


@pytest.mark.parametrize(
    "shape",
    [
        ("c", ("d", "x", "y"), "z"),
        ("c", "z", ("d", "x", "y")),
        ("c", ("d", "x", "y"), "y"),  # one choice is left
        ("c", ("d", "x", "y"), ("e", "x", "z")),  # the same value on both sides
        ("c", ("d", "x", ("e", "y", "z")), "x"),
        ("c", ("d", ("e", "x", "y"), "z"), ("e", "y", "x")),
    ],
)
def test_any_leaf_can_be_chosen_last(shape):
    values = {name: Value(BOOL) for name in "cde"} | {name: Value(I8) for name in "xyz"}
    body = Region()
    whole = tree(shape, body, values)
    for leaf in leaves_of(whole, set(body.ops)):
        b = Builder(body)
        operands = choose_last(whole.op, leaf, b, lambda v, b: b.value("xor", v, b.true()))
        found = b.value("select", *operands)
        assert operands[1] is leaf.value
        for bits in itertools.product((0, 1), repeat=3):
            given = {values[name]: bit for name, bit in zip("cde", bits)} | {values[n]: n for n in "xyz"}
            assert evaluate(found, given) == evaluate(whole, given), (shape, bits)


def test_leaves_of_selects_that_share_operands_are_found_one_by_one():
    """64 selects, each between the one before and itself under another condition, have 2**64 leaves."""
    value, body = Value(I8), Region()
    for _ in range(64):
        value = Builder(body).value("select", Value(BOOL), value, value)
    found = list(itertools.islice(leaves_of(value, set(body.ops)), 9))
    assert len({leaf.conditions for leaf in found}) == 9 and len({leaf.value for leaf in found}) == 1

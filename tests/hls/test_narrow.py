"""Statements about types that are checked while the program runs."""

import pytest

from hls.ir import I32, Builder, MemoryObject, Region, Value
from hls.ir.rewrite import constant, literal
from hls.ir.types import F32, scalar_type
from hls.narrow import instance, present


def test_what_holds_is_returned():
    assert present(0) == 0 and instance(I32, type(I32)) is I32 and scalar_type(F32) is F32


def test_what_does_not_hold_is_said():
    argument = Value(I32, "n")
    for wrong in (
        lambda: present(None),
        lambda: instance("1", int),
        lambda: argument.defining_op,
        lambda: MemoryObject("a", "global", I32).elements,
    ):
        with pytest.raises(TypeError):
            wrong()


def test_constants_of_integers_and_of_any_type():
    b = Builder(Region())
    one, half = b.const(1, I32), b.const(0.5, F32)
    assert constant(one) == literal(one) == 1
    assert constant(half) is None and literal(half) == 0.5
    assert constant(Value(I32)) is literal(Value(I32)) is None
    assert one.defining_op is one.op

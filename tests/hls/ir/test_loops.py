"""Adding and dropping carried values keeps a loop's operands, arguments, next values and results in step."""

import pytest

from hls.ir import I32, Builder, Function, Region, Value
from hls.ir.loops import add_carried, keep_carried
from hls.ir.verifier import verify


def _counting() -> tuple[Function, Builder, object]:
    """A kernel that counts to ten, without its end."""
    function = Function("count", "kernel")
    b, body = Builder(function.body), Region()
    body.args = [Value(I32, "i", body, 0)]
    inside = Builder(body)
    following = inside.value("add", body.args[0], inside.const(1, I32))
    inside.op("yield", inside.value("ult", following, inside.const(10, I32)), following)
    loop = b.op("loop", b.true(), b.const(0, I32), results=[I32], regions=[body])
    return function, b, loop


def _start(function: Function, number: int) -> Value:
    before = Builder(Region())
    value = before.const(number, I32)
    function.body.ops[:0] = before.region.ops
    return value


def test_a_new_carried_value_is_four_things_at_once():
    function, b, loop = _counting()
    known = Value(I32, "last")
    added = add_carried(loop, _start(function, 7), "kept", following=loop.regions[0].args[0], result=known)
    b.op("return")
    verify(function)
    assert added.result is known is loop.results[1] and (known.owner, known.index) == (loop, 1)
    assert added.arg is loop.regions[0].args[1] and (added.arg.name, added.arg.index) == ("kept", 1)
    assert loop.regions[0].terminator.operands[2] is loop.regions[0].args[0]


def test_next_values_are_given_in_order_and_can_be_given_again():
    function, b, loop = _counting()
    one, two = (add_carried(loop, _start(function, k)) for k in range(2))
    with pytest.raises(ValueError, match="carried value 2 gets its next value before"):
        two.set_next(one.arg)
    one.set_next(two.arg)
    two.set_next(two.arg)
    two.set_next(one.arg)
    b.op("return")
    verify(function)
    assert loop.regions[0].terminator.operands[2:] == [two.arg, one.arg]


def test_the_next_value_follows_its_argument_when_others_are_dropped():
    function, b, loop = _counting()
    one, two = (add_carried(loop, value, following=value) for value in [_start(function, k) for k in range(2)])
    keep_carried(loop, [0, 2])
    two.set_next(two.arg)
    b.op("return")
    verify(function)
    assert loop.results[1] is two.result and loop.regions[0].terminator.operands[2] is two.arg
    assert one.arg not in loop.regions[0].args

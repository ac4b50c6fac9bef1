"""Every rule of the verifier is violated once."""

from dataclasses import replace

import ir_kernels as kernels
import pytest

from hls.ir import BOOL, F32, I8, I32, Builder, Function, MemoryObject, Module, Region, Value
from hls.ir.verifier import VerifyError, verify, verify_module


def broken(change) -> Function:
    f = kernels.scale()
    loop = next(op for op in f.body.ops if op.opcode == "loop")
    change(f, loop, loop.regions[0])
    return f


def _late_use(f, loop, body):
    loop.operands[0] = body.ops[-1].operands[0]


def _foreign_value(f, loop, body):
    body.ops[0].operands[0] = Value(I32, "lost")


def _swap(f, loop, body):
    body.ops.insert(0, body.ops.pop(2))


def _inner_value_outside(f, loop, body):
    f.body.ops.insert(-1, Builder(Region()).op("fneg", body.ops[-3].result, result=F32))


def _no_terminator(f, loop, body):
    body.ops.pop()


def _wrong_terminator(f, loop, body):
    body.ops[-1].opcode = "return"


def _yield_type(f, loop, body):
    body.ops[-1].operands[1] = body.ops[-1].operands[0]


def _yield_count(f, loop, body):
    body.ops[-1].operands.pop()


def _operand_types(f, loop, body):
    b = Builder(Region())
    node = b.op("add", f.args[0], f.args[1], result=I32)
    f.body.ops.insert(0, node)


def _wrong_arity(f, loop, body):
    f.body.ops.insert(0, Builder(Region()).op("add", f.args[0], result=I32))


def _memory_missing(f, loop, body):
    del f.memories["a"]


def _unknown_space(f, loop, body):
    f.memories["a"] = MemoryObject("a", "elsewhere", F32)


def _table_size(f, loop, body):
    f.memories["t"] = MemoryObject("t", "constant", F32, 2, data=bytes(7))


def _narrowing_zext(f, loop, body):
    f.body.ops.insert(0, Builder(Region()).op("zext", f.args[0], result=I8))


def _constant_range(f, loop, body):
    f.body.ops[0].attrs["value"] = 1 << 32


def _twice(f, loop, body):
    f.body.ops.insert(1, f.body.ops[0])


def _predicate(f, loop, body):
    load = next(op for op in body.ops if op.opcode == "load")
    load.operands[1] = body.args[0]


def _enable(f, loop, body):
    loop.operands[0] = f.args[0]


def _select(f, loop, body):
    f.body.ops.insert(0, Builder(Region()).op("select", f.args[0], f.args[0], f.args[0], result=I32))


def _work_item(f, loop, body):
    f.body.ops.insert(0, Builder(Region()).op("work_item", result=I32, attrs={"fn": "colour"}))


def _fused_terms(f, loop, body):
    b = Builder(Region())
    one = b.const(1.0, F32)
    f.body.ops[0:0] = [one.op, b.op("fsum", one, one, one, result=F32, attrs={"terms": ("+*", "-*")})]


def _fused_kinds(f, loop, body):
    b = Builder(Region())
    one = b.const(1.0, F32)
    f.body.ops[0:0] = [one.op, b.op("fsum", one, one, result=F32, attrs={"terms": ("+", "/")})]


def _wrong_owner(f, loop, body):
    body.args[0].owner = f.body


def _compare_result(f, loop, body):
    f.body.ops.insert(0, Builder(Region()).op("slt", f.args[0], f.args[0], result=I32))


def _check_of_a_number(f, loop, body):
    f.body.ops.insert(0, Builder(Region()).op("check", f.args[0], f.args[0]))


def _failed_without_early(f, loop, body):
    load = next(op for op in body.ops if op.opcode == "load")
    body.ops.insert(body.ops.index(load) + 1, Builder(Region()).op("failed", load.result))


def _unknown_attribute(f, loop, body):
    loop.attrs["trip_cuont"] = 4


def _attribute_of_others(f, loop, body):
    f.body.ops[0].attrs["trip_count"] = 4


def _attribute_type(f, loop, body):
    loop.attrs["trip_count"] = "4"


def _flag_for_a_number(f, loop, body):
    loop.attrs["trip_count"] = True


def _attribute_members(f, loop, body):
    loop.attrs["ivdep"] = (("a", 0), ("a", "b"))


def _function_attribute(f, loop, body):
    f.attrs["work_group_size"] = (4, 0, 1)


def _memory_attribute(f, loop, body):
    f.memories["a"] = replace(f.memories["a"], attrs=(("numbanks", "two"),))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_late_use, "not defined before"),
        (_foreign_value, "lost.*not defined"),
        (_swap, "not defined before"),
        (_inner_value_outside, "used outside the region"),
        (_no_terminator, "wrong place"),
        (_wrong_terminator, "expected yield"),
        (_yield_type, "the body yields"),
        (_yield_count, "the body yields"),
        (_operand_types, "int operands"),
        (_wrong_arity, "1 operands, not 2"),
        (_memory_missing, "no memory is called a"),
        (_unknown_space, "elsewhere"),
        (_table_size, "memory's size"),
        (_narrowing_zext, "must be wider"),
        (_constant_range, "is not an i32"),
        (_twice, "two places"),
        (_predicate, "predicate"),
        (_enable, "enable is i32"),
        (_select, "takes i1"),
        (_work_item, "colour"),
        (_fused_terms, "3 operands, not the 4"),
        (_fused_kinds, "is a sum of two or more"),
        (_wrong_owner, "who defines it"),
        (_compare_result, f"not {BOOL}"),
        (_check_of_a_number, "takes the result of an early load or a bit, and a condition"),
        (_failed_without_early, "takes the result of an early load"),
        (_unknown_attribute, "loop: has the attribute 'trip_cuont', which no loop has"),
        (_attribute_of_others, "const: has the attribute 'trip_count', which no const has"),
        (_attribute_type, "loop: has trip_count = '4', which is not int >= 0"),
        (_flag_for_a_number, "has trip_count = True, which is not int >= 0"),
        (_attribute_members, "which is not tuple of \\(str, int\\)s"),
        (_function_attribute, "kernel scale has work_group_size = \\(4, 0, 1\\), which is not"),
        (_memory_attribute, "memory a has numbanks = 'two', which is not int >= 1"),
    ],
)
def test_each_rule(change, message):
    with pytest.raises(VerifyError, match=message):
        verify(broken(change))


def test_attributes_of_channels():
    channel = MemoryObject("c", "channel", I32, 1, attrs=(("depth", 4),))
    verify_module(Module(channels={"c": channel}))
    with pytest.raises(VerifyError, match="channel c has the attribute 'numbanks', which no channel has"):
        verify_module(Module(channels={"c": replace(channel, attrs=(("numbanks", 4),))}))


def test_good_functions_pass():
    for make in (kernels.scale, kernels.global_ids, kernels.swap_loop):
        verify(make())

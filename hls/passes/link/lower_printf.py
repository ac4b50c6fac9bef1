"""printf lowering: a call becomes a write to the channel of its kernel."""

from dataclasses import dataclass

from ...ir import Attr, Builder, Function, MemoryObject, Module, Op, Region, Value, regions, walk
from ...ir.clone import clone_function
from ...ir.printing import LANE, lanes_of
from ...ir.types import I64, ArrayType, FloatType, IntType
from ...narrow import instance
from ..manager import Form, ModulePass
from .link_printf import PASSED, console_of, record_place

__all__ = ["LowerPrintf"]


@dataclass(frozen=True)
class LowerPrintf(ModulePass):
    """printf lowering. Before: kernels without calls of helpers. After: no `printf`: it is a write of a record to the
    channel of its kernel, with its place where many work-items print, or nothing where the kernel has none."""

    name = "lower-printf"
    requires = frozenset({Form.INLINED})

    def run(self, module: Module) -> Module:
        """The module without `printf`."""
        lowered = {f.name: _lowered(f, module) for f in module.functions.values()}
        return Module(lowered, module.sources, module.channels)


def _lowered(function: Function, module: Module) -> Function:
    if not any(op.opcode == "printf" for region in regions(function.body) for op in region.ops):
        return function
    result, console = clone_function(function), console_of(function)
    place, passed = record_place(module, function), _passed(result)
    for region in regions(result.body):
        ops, region.ops = region.ops, []
        for op in ops:
            if op.opcode != "printf":
                region.ops.append(op)
            elif console is not None:
                _write(region, op, module.channels[console], place, passed[op])
    return result


def _passed(function: Function) -> dict[Op, int]:
    """For each printf, how many steps of the kernel with barriers are before it; no such step prints."""
    found: dict[Op, int] = {}
    passed = 0
    for op in function.body.ops:
        inside = [op, *(inner for region in op.regions for inner in walk(region))]
        found |= {one: passed for one in inside if one.opcode == "printf"}
        passed += any(one.opcode == "barrier" for one in inside)
    return found


def _write(region: Region, op: Op, channel: MemoryObject, place: tuple[tuple[str, int], ...], passed: int) -> None:
    """Append the write of a call's record with its ``place``, after so many steps with barriers."""
    build = Builder(region, op.span)
    pred, *arguments = op.operands
    lanes = [build.const(op.attrs[Attr.FORMAT_NUMBER], LANE)]
    for what, dim in place:
        if what == PASSED:
            lanes.append(build.const(passed, LANE))
        else:
            number = build.value("work_item", result=I64, attrs={Attr.FN: what, Attr.DIM: dim}, name=what)
            lanes.append(build.value("trunc", number, result=LANE))
    for argument in arguments:
        lanes += _lanes(build, argument)
    length = instance(channel.element, ArrayType).length
    lanes += [build.const(0, LANE) for _ in range(length - len(lanes))]
    record = build.value("array", *lanes)
    attrs = {Attr.CHANNEL: channel.name, Attr.BLOCKING: True}
    build.op("channel_write", build.const(0, I64), pred, record, results=[], attrs=attrs)


def _lanes(build: Builder, value: Value) -> list[Value]:
    """The lanes of an argument, the lowest first."""
    bits = value.type.bits
    if isinstance(value.type, FloatType):
        value = build.value("bitcast", value, result=IntType(bits))
    if bits < LANE.bits:
        return [build.value("zext", value, result=LANE)]
    if bits == LANE.bits:
        return [value]
    amounts = [build.const(LANE.bits * k, IntType(bits)) for k in range(lanes_of(value.type))]
    return [build.value("trunc", build.value("lshr", value, one), result=LANE) for one in amounts]

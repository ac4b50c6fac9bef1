"""printf lowering: a call becomes a write to the channel of its kernel."""

from dataclasses import dataclass

from ...ir import Attr, Builder, Function, MemoryObject, Module, Op, Region, Value, regions, walk
from ...ir.clone import clone_function
from ...ir.printing import LANE, lanes_of
from ...ir.types import I64, ArrayType, FloatType, IntType
from ...narrow import instance
from ..manager import Form, ModulePass
from .link_printf import MADE, PASSED, console_of, record_place
from .names import unused_name

__all__ = ["LowerPrintf"]


@dataclass(frozen=True)
class LowerPrintf(ModulePass):
    """printf lowering. Before: kernels without calls of helpers. After: no `printf`: it is a write of a record to the
    channel of its kernel, with its place where many work-items print, or nothing where the kernel has none. Where
    barriers stand among the calls, each work-item counts in private variables the barriers that it has passed and the
    calls that it has made, and as the records are sorted by these, the calls need no order."""

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
    place = record_place(module, function)
    if (MADE, 0) in place:
        _Counted(result, module.channels[console_of(function) or ""], place).run()
        return result
    passed = _passed(result)
    for region in regions(result.body):
        ops, region.ops = region.ops, []
        for op in ops:
            if op.opcode != "printf":
                region.ops.append(op)
            elif console is not None:
                _write(region, op, module.channels[console], _place(region, op, place, passed[op]))
    return result


class _Counted:
    """The calls of a kernel whose work-items count barriers and calls."""

    def __init__(self, function: Function, channel: MemoryObject, place: tuple[tuple[str, int], ...]) -> None:
        self.function, self.channel, self.place = function, channel, place
        self.passed, self.made = (self._counter(name) for name in (PASSED, MADE))

    def run(self) -> None:
        """Replace them, and count."""
        for region in regions(self.function.body):
            ops, region.ops = region.ops, []
            for op in ops:
                if op.opcode == "printf":
                    self._print(region, op)
                    continue
                region.ops.append(op)
                if op.opcode == "barrier":
                    build = Builder(region, op.span)
                    self._count(build, self.passed, build.true())
        start = Region()
        build = Builder(start, self.function.span)
        for name in (self.passed, self.made):
            build.op("store", self._pointer(build, name), build.const(0, LANE), build.true(), results=[])
        self.function.body.ops[:0] = start.ops

    def _print(self, region: Region, op: Op) -> None:
        build = Builder(region, op.span)
        numbers = {PASSED: lambda: self._number(build, self.passed), MADE: lambda: self._number(build, self.made)}
        place = [numbers[what]() if what in numbers else _id(build, what, dim) for what, dim in self.place]
        _write(region, op, self.channel, place).attrs[Attr.SORTED] = True
        self._count(build, self.made, op.operands[0])

    def _counter(self, what: str) -> str:
        name = unused_name(f"printf_{what}", self.function.memories)
        self.function.memories[name] = MemoryObject(name, "private", LANE, 1, span=self.function.span)
        return name

    def _pointer(self, build: Builder, name: str) -> Value:
        return build.value("addr", build.const(0, I64), attrs={Attr.MEM: name})

    def _number(self, build: Builder, name: str) -> Value:
        return build.value("load", self._pointer(build, name), build.true(), result=LANE)

    def _count(self, build: Builder, name: str, pred: Value) -> None:
        """One more, where ``pred``."""
        more = build.value("add", self._number(build, name), build.const(1, LANE))
        build.op("store", self._pointer(build, name), more, pred, results=[])


def _passed(function: Function) -> dict[Op, int]:
    """For each printf, how many steps of the kernel with barriers are before it; no such step prints."""
    found: dict[Op, int] = {}
    passed = 0
    for op in function.body.ops:
        inside = [op, *(inner for region in op.regions for inner in walk(region))]
        found |= {one: passed for one in inside if one.opcode == "printf"}
        passed += any(one.opcode == "barrier" for one in inside)
    return found


def _place(region: Region, op: Op, place: tuple[tuple[str, int], ...], passed: int) -> list[Value]:
    """The lanes of the place of a call, after so many steps with barriers."""
    build = Builder(region, op.span)
    return [build.const(passed, LANE) if what == PASSED else _id(build, what, dim) for what, dim in place]


def _id(build: Builder, what: str, dim: int) -> Value:
    """An id of a work-item, as a lane."""
    number = build.value("work_item", result=I64, attrs={Attr.FN: what, Attr.DIM: dim}, name=what)
    return build.value("trunc", number, result=LANE)


def _write(region: Region, op: Op, channel: MemoryObject, place: list[Value]) -> Op:
    """Append the write of a call's record, which has these lanes for its place."""
    build = Builder(region, op.span)
    pred, *arguments = op.operands
    lanes = [build.const(op.attrs[Attr.FORMAT_NUMBER], LANE), *place]
    for argument in arguments:
        lanes += _lanes(build, argument)
    length = instance(channel.element, ArrayType).length
    lanes += [build.const(0, LANE) for _ in range(length - len(lanes))]
    record = build.value("array", *lanes)
    attrs = {Attr.CHANNEL: channel.name, Attr.BLOCKING: True}
    return build.op("channel_write", build.const(0, I64), pred, record, results=[], attrs=attrs)


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

"""Building and walking IR."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..diag import Span
from .attributes import Attr, AttributeValue
from .nodes import Function, Module, Op, Region, Value
from .optable import OPS
from .types import BOOL, I64, IntType, Type
from .values import Constant

__all__ = ["Builder", "loops_inside_out", "reachable", "regions", "uses", "walk"]


class Builder:
    """Appends operations to a region; result types come from the op table where it knows them."""

    def __init__(self, region: Region, span: Span | None = None) -> None:
        self.region = region
        self.span = span

    def op(
        self,
        opcode: str,
        *operands: Value,
        result: Type | None = None,
        results: Sequence[Type] | None = None,
        attrs: Mapping[str, AttributeValue] | None = None,
        regions: Iterable[Region] = (),
        name: str = "",
    ) -> Op:
        """Append one operation; ``result``/``results`` give types where the table cannot derive them."""
        info = OPS[opcode]
        if results is None:
            if result is None and info.result is not None:
                result = info.result([v.type for v in operands], attrs or {})
            results = [] if result is None else [result]
        node = Op(opcode, list(operands), attrs=dict(attrs or {}), regions=list(regions), span=self.span)
        node.results = [Value(t, name, node, k) for k, t in enumerate(results)]
        self.region.ops.append(node)
        return node

    def value(self, opcode: str, *operands: Value, **kw: Any) -> Value:
        """Like :meth:`op`, for an operation with one result: that value."""
        return self.op(opcode, *operands, **kw).result

    def const(self, value: Constant | None, type: Type) -> Value:
        """A constant; integers are wrapped to the type's width, None is the null pointer."""
        if isinstance(type, IntType) and isinstance(value, int | float):
            value = int(value) & (1 << type.bits) - 1
        return self.value("const", result=type, attrs={Attr.VALUE: value})

    def true(self) -> Value:
        """A new constant 1 of one bit."""
        return self.const(1, BOOL)

    def addr(self, memory: str, offset: Value | int = 0) -> Value:
        """The address of byte ``offset`` of ``memory``; a number is made a constant of 64 bits."""
        offset = self.const(offset, I64) if isinstance(offset, int) else offset
        return self.value("addr", offset, attrs={Attr.MEM: memory})


def walk(region: Region) -> Iterator[Op]:
    """Every operation of the region and of the regions inside, outer before inner, in program order."""
    # a stack of regions, and of iterators over operations of those entered: with nested generators, each operation
    # would cost time proportional to its depth
    ops, work = iter(region.ops), list[Region | Iterator[Op]]()
    while True:
        for one in ops:
            yield one
            if one.regions:
                work.append(ops)
                work += reversed(one.regions)
                break
        if not work:
            return
        following = work.pop()
        ops = iter(following.ops) if isinstance(following, Region) else following


def reachable(module: Module, function: Function) -> list[Function]:
    """The function and every helper that it calls, directly or indirectly, each once."""
    found, work = {}, [function]
    while work:
        one = work.pop(0)
        if one.name not in found:
            found[one.name] = one
            work += [module.functions[op.attrs[Attr.CALLEE]] for op in walk(one.body) if op.opcode == "call"]
    return list(found.values())


def regions(region: Region) -> Iterator[Region]:
    """The region and all regions inside it, outer before inner."""
    work = [region]
    while work:
        one = work.pop()
        yield one
        work += [inner for op in reversed(one.ops) for inner in reversed(op.regions)]


def loops_inside_out(region: Region) -> Iterator[tuple[Region, Op]]:
    """(region that contains it, loop) for every loop inside the region, inner before outer."""
    for op in region.ops:
        for inner in op.regions:
            yield from loops_inside_out(inner)
        if op.opcode == "loop":
            yield region, op


def innermost_first(function: Function) -> list[Op]:
    """Every loop of the function, inner before outer."""
    return [loop for _, loop in loops_inside_out(function.body)]


def uses(region: Region) -> dict[Value, list[tuple[Op, int]]]:
    """For every value used in the region: the (operation, operand index) pairs that use it."""
    table: dict[Value, list[tuple[Op, int]]] = {}
    for op in walk(region):
        for k, value in enumerate(op.operands):
            table.setdefault(value, []).append((op, k))
    return table

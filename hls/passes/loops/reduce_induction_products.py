"""Strength reduction of induction variables: products of counters become carried sums."""

from dataclasses import dataclass
from typing import Any

from ...ir import Attr, Builder, Function, IntType, Op, Region, Value, walk
from ...ir.clone import clone_function
from ...ir.loops import add_carried
from ...ir.rewrite import constant, is_constant
from ...ir.wrapping import SUMS, has_wrapping
from ..manager import Form, FunctionPass

__all__ = ["ReduceInductionProducts"]


@dataclass(frozen=True)
class ReduceInductionProducts(FunctionPass):
    """Induction-variable strength reduction (LLVM: LoopStrengthReduce). Before: flat; integers still have the widths of
    C. After: no product of an invariant and a counter with constant start and step; a carried sum replaces it, which is
    an adder instead of a multiplier."""

    name = "reduce-induction-products"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which carried sums replace products of counters and invariants."""
        result = clone_function(function)
        _products_region(result.body)
        return result


def _products_region(region: Region) -> None:
    before, region.ops = region.ops, []
    for op in before:
        for inner in op.regions:
            _products_region(inner)
        if op.opcode == "loop":
            _reduce(op, Builder(region, op.span))
        region.ops.append(op)


def _reduce(loop: Op, outside: Builder) -> None:
    """Replace the products of the loop's counters in its body."""
    (body,) = loop.regions
    steps = {
        arg: step
        for arg, after in zip(body.args, body.terminator.operands[1:])
        if (step := _step(arg, after)) is not None and is_constant(loop.operands[1 + arg.index])
    }
    inner = {value for op in walk(body) for value in op.results} | set(body.args)
    known: dict[tuple[Value, Value], Value] = {}
    replaced: dict[Value, Value] = {}
    for op in body.ops:
        pair = _product(op, steps, inner)
        if pair is not None:
            if pair not in known:
                known[pair] = _carry(loop, *pair, steps[pair[0]], outside)
            if has_wrapping(op):
                _mark(loop, known[pair])
            replaced[op.result] = known[pair]
    body.ops = [op for op in body.ops if not (op.results and op.results[0] in replaced)]
    for op in walk(body):
        op.operands = [replaced.get(v, v) for v in op.operands]


def _step(arg: Value, after: Value) -> int | None:
    """The constant by which the value increases from iteration to iteration."""
    if not isinstance(arg.type, IntType) or after.op is None or after.op.opcode != "add":
        return None
    return constant(after.op.operands[1]) if after.op.operands[0] is arg else None


def _product(op: Op, steps: dict[Value, Any], inner: set[Value]) -> tuple[Value, Value] | None:
    """(counter, factor) if the operation multiplies a counter by a loop-invariant value."""
    if op.opcode != "mul":
        return None
    for counter, factor in (op.operands, op.operands[::-1]):
        if counter in steps and factor not in inner and not is_constant(factor):
            return counter, factor
    return None


def _mark(loop: Op, product: Value) -> None:
    """Mark the sums that a carried product consists of, as the product that it replaces wraps."""
    (body,) = loop.regions
    for value in (loop.operands[1 + product.index], body.terminator.operands[1 + product.index]):
        if value.op is not None and value.op.opcode in SUMS:
            value.op.attrs[Attr.WRAPS] = True


def _carry(loop: Op, counter: Value, factor: Value, step: int, outside: Builder) -> Value:
    """A new carried value: the product of both."""
    (body,), type = loop.regions, counter.type
    start = outside.value("mul", factor, loop.operands[1 + counter.index])
    stride = factor if step == 1 else outside.value("mul", factor, outside.const(step, type))
    name = f"{counter.name}.product"
    product = add_carried(loop, start, name, result=Value(type, name))
    end = body.ops.pop()
    following = Builder(body, end.span).value("add", product.arg, stride)
    body.ops.append(end)
    product.set_next(following)
    return product.arg

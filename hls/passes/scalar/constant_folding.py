"""Constant folding: evaluates constants, applies algebraic rules, and removes control flow with a known outcome."""

from dataclasses import dataclass

from ...ir import OPS, Attr, Builder, Function, Op, Region, Value, evaluate
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import keep_carried
from ...ir.rewrite import constant, inline_region, is_constant, rewrite, would_rewrite
from ...ir.storage import BoundMemory, accessors, zero
from ...narrow import present
from ..lowering.if_conversion import flatten
from ..manager import Form, FunctionPass
from .algebraic_simplification import simplify

__all__ = ["ConstantFolding"]

_MAX_ROUNDS = 20
#: sets, as the pass looks at every operation several times
_COMMUTATIVE = frozenset(name for name, row in OPS.items() if "commutative" in row.traits)
_PURE = frozenset(name for name, row in OPS.items() if row.meaning is not None)


@dataclass(frozen=True)
class ConstantFolding(FunctionPass):
    """Constant folding and region simplification. Before: any IR in SSA form; ``flat`` for flat kernels. After: no
    operation on constants only, no `if` or loop whose condition is a constant, no carried constant.

    Rules are applied until none matches. A loop that runs once becomes an `if` on its enable, which is if-converted at
    once in a kernel that is ``flat``.
    """

    flat: bool = False
    name = "constant-folding"

    @property
    def forbids(self) -> frozenset[Form]:  # a loop of one trip would become an `if`
        """Flat IR, unless the pass keeps it flat."""
        return frozenset() if self.flat else frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy after the last round in which a rule applied, of at most ``_MAX_ROUNDS``; the function itself if none
        does."""
        if not self._applies(function):
            return function
        result = clone_function(function)
        for _ in range(_MAX_ROUNDS):
            if not rewrite(result.body, lambda op, b: _visit(op, b, result), _carried_constants):
                break
        if self.flat:
            flatten(result.body)
        return result

    def _applies(self, function: Function) -> bool:
        """Whether some rule applies: most runs of the pass find none."""

        def visit(op: Op, b: Builder) -> list[Value] | None:
            # operands that would change places, or a branch that would be flattened, count as a rule
            swaps = op.opcode in _COMMUTATIVE and is_constant(op.operands[0])
            return [] if swaps or (self.flat and op.opcode == "if") else _visit(op, b, function)

        return would_rewrite(function.body, visit, _fixed)


def _visit(op: Op, b: Builder, function: Function) -> list[Value] | None:
    if op.opcode in _PURE:
        value = _value(op, b)
        return None if value is None else [value]
    if op.opcode == "if":
        return _if(op, b)
    if op.opcode == "loop":
        return _loop(op, b)
    if op.opcode == "load":
        return _table(op, b, function)
    if op.opcode == "store":
        return [] if constant(op.operands[2]) == 0 else None
    return None


def _value(op: Op, b: Builder) -> Value | None:
    """The constant or simpler value of a pure operation."""
    for value in op.operands:  # a loop, as a generator takes several times as long for two operands
        owner = value.owner
        if type(owner) is not Op or owner.opcode != "const":
            break
    else:
        numbers, types = [v.defining_op.attrs[Attr.VALUE] for v in op.operands], [v.type for v in op.operands]
        return b.const(evaluate(op.opcode, numbers, types, op.result.type, op.attrs), op.result.type)
    if op.opcode in _COMMUTATIVE and is_constant(op.operands[0]):
        op.operands.reverse()
    return simplify(op, b)


def _if(op: Op, b: Builder) -> list[Value] | None:
    then, otherwise = op.regions
    number = constant(op.operands[0])
    if number is not None:
        return inline_region(then if number else otherwise, b)
    if len(then.ops) == len(otherwise.ops) == 1 and all(
        x is y for x, y in zip(then.terminator.operands, otherwise.terminator.operands)
    ):
        return list(then.terminator.operands)
    return None


def _carried_constants(op: Op) -> dict[Value, Value]:
    """Carried values that never change, replaced by their initial values."""
    if op.opcode != "loop":
        return {}
    (body,), fixed = op.regions, _fixed(op)
    replaced = {old: op.operands[1 + k] for k in fixed for old in (body.args[k], op.results[k])}
    if fixed:
        keep_carried(op, [k for k in range(len(op.results)) if k not in fixed])
    return replaced


def _fixed(op: Op) -> list[int]:
    """The numbers of the carried values that never change."""
    if op.opcode != "loop":
        return []
    (body,) = op.regions
    steps = zip(body.args, op.operands[1:], body.terminator.operands[1:])
    return [k for k, (arg, init, after) in enumerate(steps) if after in (arg, init)]


def _loop(op: Op, b: Builder) -> list[Value] | None:
    (body,), (enable, *inits) = op.regions, op.operands
    if constant(enable) == 0:
        return inits
    if constant(body.terminator.operands[0]) != 0:
        return None
    return _once(op, b)


def _once(op: Op, b: Builder) -> list[Value]:
    """The body of a loop that never continues, under the loop's enable."""
    (body,), (enable, *inits) = op.regions, op.operands
    values = dict(zip(body.args, inits))
    then = Region(ops=clone_ops(body.ops, values))
    del then.terminator.operands[0]
    if constant(enable) == 1:
        return inline_region(then, b)
    otherwise = Region()
    Builder(otherwise, op.span).op("yield", *inits)
    return b.op("if", enable, results=[v.type for v in inits], regions=[then, otherwise]).results


def _table(op: Op, b: Builder, function: Function) -> list[Value] | None:
    """A load of a constant table at a constant index; one outside the table is left for the run to report."""
    pointer, pred = op.operands[:2]
    if constant(pred) == 0:
        return [b.const(zero(op.result.type), op.result.type)]
    addr = pointer.op
    if constant(pred) is None or addr is None or addr.opcode != "addr":
        return None
    memory, offset = function.memories[addr.attrs[Attr.MEM]], constant(addr.operands[0])
    if offset is None or memory.space != "constant" or offset + op.result.type.bytes > len(present(memory.data)):
        return None
    load, _ = accessors(op.result.type)
    data = memoryview(present(memory.data))
    return [b.const(load((BoundMemory(memory.name, data, len(data)), offset), op.span), op.result.type)]

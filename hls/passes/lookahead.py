"""Loop control computed ahead of time, where one clock cycle is too short for it."""

from dataclasses import dataclass

from ..ir import Function, Op, Region, Value, has
from ..ir.clone import clone_function, clone_ops
from ..target.delay import DelayModel

__all__ = ["Lookahead", "carry_ahead"]

#: operations that take part in loop control here: single-cycle integer logic
CONTROL = frozenset(["add", "sub", "and", "or", "xor", "eq", "ne", "ult", "ule", "slt", "sle", "select", "zext", "sext", "trunc", "shl", "lshr", "ashr", "const"])
MOST_OPS = 16


@dataclass(frozen=True)
class Lookahead:
    """Before: a loop's continue condition is computed from its carried values in the token it belongs to, so that the next
    issue waits for increment, comparison and header in one cycle. After: where that chain exceeds the clock period, the
    state the condition depends on is carried two iterations ahead, and the condition itself is a carried bit.

    With s(t) the control state of iteration t, c(t) whether another follows: c(t+1) = C(s(t+1), s(t+2)) is
    computed while t issues, from registers that hold both states. All operations involved are total and without effect, so
    computing them past the last iteration does no harm. Only states made of cheap integer operations are treated.
    """

    model: DelayModel
    name = "lookahead"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        self._region(result.body)
        return result

    def _region(self, region: Region):
        for op in list(region.ops):
            for inner in op.regions:
                self._region(inner)
            if op.opcode == "loop" and not op.attrs.get("ring"):  # which decides behind all of its levels
                place = region.ops.index(op)
                region.ops[place:place] = carry_ahead(op, self.model)


def carry_ahead(loop: Op, model: DelayModel) -> list[Op]:
    """Carry the loop's control state ahead if it takes too long, in place; returns the operations that must stand before it."""
    control = _control(loop)
    return _transform(loop, control) if control and _is_too_long(control, model) else []


def _is_too_long(control: "_Control", model: DelayModel) -> bool:
    """Whether register, control logic and header exceed one period."""
    arrival: dict[Value, float] = {}
    for op in control.ops:
        start = max((arrival.get(v, 0.0) for v in op.operands), default=0.0)
        arrival[op.result] = start + _delay(op, model)
    chain = arrival.get(control.condition, 0.0)
    return chain + 3 * model.delay("select", 1) + model.overhead_ns > model.period_ns


def _delay(op: Op, model: DelayModel) -> float:
    if op.opcode in ("const", "zext", "sext", "trunc"):
        return 0.0
    name = {"ne": "eq", "ule": "ult", "sle": "slt"}.get(op.opcode, op.opcode)
    if has(op, "shift") and op.operands[1].op is not None and op.operands[1].op.opcode == "const":
        return 0.0
    return model.delay(name, max(v.type.bits for v in op.operands))


@dataclass(frozen=True)
class _Control:
    """The part of a loop body that its continue condition depends on: operations in order, and the carried values."""

    condition: Value
    ops: tuple[Op, ...]
    carried: tuple[int, ...]


def _control(loop: Op) -> _Control | None:
    region = loop.regions[0]
    condition, *nexts = region.terminator.operands
    index = {arg: k for k, arg in enumerate(region.args)}
    local = {r: op for op in region.ops for r in op.results}
    needed: set[Value] = set()
    todo = [condition]
    while todo:
        value = todo.pop()
        if value in needed:
            continue
        needed.add(value)
        if value in index:
            todo.append(nexts[index[value]])
        elif value in local:
            if local[value].opcode not in CONTROL:
                return None
            todo.extend(local[value].operands)
    ops = tuple(op for op in region.ops if op.results and op.results[0] in needed)
    carried = tuple(k for arg, k in index.items() if arg in needed)
    return _Control(condition, ops, carried) if carried and len(ops) <= MOST_OPS else None


def _transform(loop: Op, control: _Control) -> list[Op]:
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    args = [region.args[k] for k in control.carried]
    before = Region()
    zero = dict(zip(args, [loop.operands[1 + k] for k in control.carried], strict=True))
    one, first = _step(before, control, zero, nexts)
    two, _ = _step(before, control, one, nexts)

    ahead = _carry(region, loop, [one[a] for a in args])  # s(t + 1)
    far = _carry(region, loop, [two[a] for a in args])  # s(t + 2)
    (again,) = _carry(region, loop, [first])
    terminator = region.ops.pop()
    farther, _ = _step(region, control, dict(zip(args, far, strict=True)), nexts)
    condition = _condition(region, control, dict(zip(args, ahead, strict=True)), dict(zip(args, far, strict=True)), nexts)
    terminator.operands = [again, *terminator.operands[1:], *far, *(farther[a] for a in args), condition]
    region.ops.append(terminator)
    return before.ops


def _step(region: Region, control: _Control, state: dict, nexts) -> tuple[dict, Value]:
    """The state after ``state`` and whether there is one, computed at the end of ``region``."""
    values = dict(state)
    region.ops += clone_ops(list(control.ops), values)
    following = {arg: values.get(nexts[arg.index], nexts[arg.index]) for arg in state}
    return following, values.get(control.condition, control.condition)


def _condition(region: Region, control: _Control, state: dict, following: dict, nexts) -> Value:
    """The continue condition from a state and the one after it: what computes the latter is not computed again."""
    values = dict(state) | {nexts[arg.index]: value for arg, value in following.items()}
    region.ops += clone_ops([op for op in control.ops if op.results[0] not in values], values)
    return values.get(control.condition, control.condition)


def _carry(region: Region, loop: Op, initial: list[Value]) -> list[Value]:
    """New carried values of the loop with these initial values."""
    new = []
    for value in initial:
        arg = Value(value.type, value.name, region, len(region.args))
        region.args.append(arg)
        loop.operands.append(value)
        loop.results.append(Value(value.type, "", loop, len(loop.results)))
        new.append(arg)
    return new

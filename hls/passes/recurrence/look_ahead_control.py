"""Loop control computed ahead of time, where one clock cycle is too short for it."""

from dataclasses import dataclass

from ...ir import Attr, Function, Op, Region, Value, has
from ...ir.clone import clone_function, clone_ops
from ...target.delay import DelayModel
from ..manager import Form, FunctionPass

__all__ = ["CONTROL", "LookAheadControl", "carry", "carry_ahead", "logic_delay"]

#: operations that take part in loop control here: single-cycle integer logic
CONTROL = frozenset(
    [
        "add",
        "sub",
        "and",
        "or",
        "xor",
        "eq",
        "ne",
        "ult",
        "ule",
        "slt",
        "sle",
        "select",
        "zext",
        "sext",
        "trunc",
        "shl",
        "lshr",
        "ashr",
        "const",
    ]
)
MOST_OPS = 24
_CLASS = {"ne": "eq", "ule": "ult", "sle": "slt"}
#: cycles that a condition may come behind its state
MOST_LATE = 3


@dataclass(frozen=True)
class LookAheadControl(FunctionPass):
    """Before: a loop's continue condition is computed from its carried values in the token it belongs to, so that the
    next issue waits for increment, comparison and header in one cycle. After: where that chain exceeds the clock
    period, the state the condition depends on is carried some iterations ahead, and the condition itself is a carried
    bit.

    With s(t) the control state of iteration t, c(t) whether another follows, and n iterations: c(t+n-1) = C(s(t+n-1),
    s(t+n)) is computed while t issues, from registers that hold both states, and moves on through n-1 carried bits. Two
    iterations do where a cycle is enough for the next state, and where it is known to be another one; each cycle more
    that the condition takes behind what comes back to itself in one (a row that counts where a column comes round, and
    is compared) is one iteration more. All operations involved are total and without effect, so computing them past the
    last iteration does no harm. Only states made of cheap integer operations are treated.
    """

    model: DelayModel
    name = "look-ahead-control"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        self._region(result.body)
        return result

    def _region(self, region: Region):
        for op in list(region.ops):
            for inner in op.regions:
                self._region(inner)
            if op.opcode == "loop" and not op.attrs.get(Attr.RING):  # which decides behind all of its levels
                place = region.ops.index(op)
                region.ops[place:place] = carry_ahead(op, self.model)


def carry_ahead(loop: Op, model: DelayModel) -> list[Op]:
    """Carry the loop's control state ahead if it takes too long, in place; returns the operations that must stand
    before it."""
    control = _control(loop)
    return (
        _transform(loop, control, 2 + _late(loop, control, model)) if control and _is_too_long(control, model) else []
    )


def _is_too_long(control: "_Control", model: DelayModel) -> bool:
    """Whether register, control logic and header exceed one period."""
    arrival: dict[Value, float] = {}
    for op in control.ops:
        start = max((arrival.get(v, 0.0) for v in op.operands), default=0.0)
        arrival[op.result] = start + logic_delay(op, model)
    chain = arrival.get(control.condition, 0.0)
    return chain + 3 * model.delay("select", 1) + model.overhead_ns > model.period_ns


def logic_delay(op: Op, model: DelayModel) -> float:
    """What an operation of :data:`CONTROL` takes, in ns."""
    if op.opcode in ("const", "zext", "sext", "trunc"):
        return 0.0
    name, width = _CLASS.get(op.opcode, op.opcode), max(v.type.bits for v in op.operands)
    constants = [v.op is not None and v.op.opcode == "const" for v in op.operands]
    if has(op, "shift") and constants[1]:
        return 0.0
    if name == "eq" and any(constants):
        width = max(1, width // 2)  # half as many bits to look at
    single = op.result.type.bits == 1 and (has(op, "bitwise") or name == "select")
    return model.delay(name, width) / (2 if single else 1)


def _late(loop: Op, control: "_Control", model: DelayModel) -> int:
    """Cycles by which the condition on a state comes behind the first part of that state, where each part of it comes
    back to itself within a cycle; 0 where one does not, as looking further ahead gains nothing then."""
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    period = model.period_ns - model.overhead_ns
    read = dict.fromkeys((region.args[k] for k in control.carried), 0)  # the cycle in which each is read
    for _ in range(MOST_LATE * len(read) + 1):
        time = {arg: (cycle, model.delay("select", 1)) for arg, cycle in read.items()}
        for op in control.ops:
            if op.result is not control.condition:
                time[op.result] = _after(op, time, model, period)
        late = {
            arg: time[nexts[arg.index]][0]
            for arg, cycle in read.items()
            if time.get(nexts[arg.index], (0, 0.0))[0] > cycle
        }
        if not late:
            return _condition_late(loop, control, time, model, period)
        read |= late
        if max(read.values()) > MOST_LATE:
            break
    return 0


def _condition_late(loop: Op, control: "_Control", time: dict, model: DelayModel, period: float) -> int:
    """The cycle in which the condition is there, asked of registers that hold the next state."""
    nexts = loop.regions[0].terminator.operands[1:]
    held = {nexts[k]: (time[loop.regions[0].args[k]][0], model.delay("select", 1)) for k in control.carried}
    for op in control.ops:
        if op.result not in held:
            held[op.result] = _after(op, {**time, **held}, model, period)
    return held[control.condition][0]


def _after(op: Op, time: dict[Value, tuple[int, float]], model: DelayModel, period: float) -> tuple[int, float]:
    """The cycle and the time in it at which a result is there, as those of the operands are."""
    cycle = max((time[v][0] for v in op.operands if v in time), default=0)
    start = max((time[v][1] for v in op.operands if v in time and time[v][0] == cycle), default=0.0)
    delay = logic_delay(op, model)
    return (cycle, start + delay) if start + delay <= period else (cycle + 1, delay)


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


def _transform(loop: Op, control: _Control, distance: int) -> list[Op]:
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    args = [region.args[k] for k in control.carried]
    before = Region()
    state = dict(zip(args, [loop.operands[1 + k] for k in control.carried], strict=True))
    states, bits = [], []
    for _ in range(distance):  # s(1), s(2), ..., and whether each of them is that of an iteration
        state, bit = _step(before, control, state, nexts)
        states.append(state)
        bits.append(bit)

    ahead = carry(region, loop, [states[-2][a] for a in args])  # s(t + distance - 1)
    far = carry(region, loop, [states[-1][a] for a in args])  # s(t + distance)
    again = carry(region, loop, bits[:-1])
    terminator = region.ops.pop()
    farther, _ = _step(region, control, dict(zip(args, far, strict=True)), nexts)
    condition = _condition(
        region, control, dict(zip(args, ahead, strict=True)), dict(zip(args, far, strict=True)), nexts
    )
    terminator.operands = [again[0], *terminator.operands[1:], *far, *(farther[a] for a in args), *again[1:], condition]
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


def carry(region: Region, loop: Op, initial: list[Value]) -> list[Value]:
    """New carried values of the loop, of which ``region`` is the body, with these initial values."""
    new = []
    for value in initial:
        arg = Value(value.type, value.name, region, len(region.args))
        region.args.append(arg)
        loop.operands.append(value)
        loop.results.append(Value(value.type, "", loop, len(loop.results)))
        new.append(arg)
    return new

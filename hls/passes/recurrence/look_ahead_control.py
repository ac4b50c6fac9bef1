"""Look-ahead transformation of loop control that does not fit into one clock cycle."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...analysis.timing import EPSILON_NS, Arrival, Arrivals, TimingModel
from ...ir import Attr, Function, Op, Region, Value, has
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import add_carried
from ..manager import Form, FunctionPass

__all__ = ["LookAheadControl", "carry_ahead"]

MOST_OPS = 24
#: most cycles from a state to its condition
MOST_LATE = 3


@dataclass(frozen=True)
class LookAheadControl(FunctionPass):
    """Look-ahead transformation of loop control (Parhi and Messerschmitt 1989). Before: a loop's continue condition is
    computed from the carried values of the same iteration, so the next issue waits for increment, comparison and header
    in one cycle. After: if that path exceeds the clock period, the state that the condition depends on is carried some
    iterations ahead, and the condition itself is a carried bit.

    With s(t) the control state of iteration t, c(t) whether another follows, and n iterations: c(t+n-1) = C(s(t+n-1),
    s(t+n)) is computed while t issues, from registers that hold both states, and is delayed by n-1 carried bits. n is 2
    if both the next state and the condition fit into a cycle each; every additional cycle of the condition after the
    single-cycle recurrence of the state (e.g. a row counter that steps when a column counter wraps, and is compared)
    adds one iteration. All operations involved are total and without effect, so computing them past the last iteration
    does no harm. Only states computed by cheap integer operations are treated.

    The carried bits are one delay line where a launch enters the loop once
    (:mod:`hls.planning.schedule.carried_delay_lines`). In an inner loop, where each bit is a register, they would take
    the cycles that they give: there the condition itself is pipelined (:class:`_Stages`).
    """

    timing: TimingModel
    name = "look-ahead-control"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loops carry the condition of their next iteration, in every region."""
        result = clone_function(function)
        self._region(result.body)
        return result

    def _region(self, region: Region, nested: bool = False) -> None:
        for op in list(region.ops):
            for inner in op.regions:
                self._region(inner, nested or op.opcode == "loop")
            if op.opcode == "loop" and not op.attrs.get(Attr.RING):  # a barrier loop decides after all of its levels
                place = region.ops.index(op)
                region.ops[place:place] = carry_ahead(op, self.timing, nested)


def carry_ahead(loop: Op, timing: TimingModel, nested: bool = False) -> list[Op]:
    """Look ahead for the loop's control if it takes too long, in place; returns the operations to insert before it.
    ``nested``: another loop is around it."""
    control = _control(loop)
    if control is None or not _is_too_long(loop, control, timing):
        return []
    stages = _Stages.of(loop, control, timing) if nested else None
    if stages is not None:
        return _pipeline(loop, control, stages)
    return _transform(loop, control, 2 + _late(loop, control, timing))


def _is_too_long(loop: Op, control: "_Control", timing: TimingModel) -> bool:
    """Whether register, control logic and header exceed one period."""
    registers = {loop.regions[0].args[k]: timing.register() for k in control.carried}
    arrivals = Arrivals(timing, registers).follow(control.ops)
    return arrivals.slack(control.condition) < timing.header - EPSILON_NS


def _late(loop: Op, control: "_Control", timing: TimingModel) -> int:
    """Cycles from the first part of a state to its condition, if each part of the state has a recurrence of one cycle;
    0 if one has not, as looking further ahead gains nothing then."""
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    read = dict.fromkeys((region.args[k] for k in control.carried), 0)  # the cycle in which each is read
    state = [op for op in control.ops if op.result is not control.condition]
    for _ in range(MOST_LATE * len(read) + 1):
        arrivals = Arrivals(timing, {arg: timing.register(cycle) for arg, cycle in read.items()}).follow(state)
        ready = {arg: int(arrivals.at(nexts[arg.index]).cycle) for arg in read}
        late = {arg: cycle for arg, cycle in ready.items() if cycle > read[arg]}
        if not late:
            return _condition_late(loop, control, arrivals)
        read |= late
        if max(read.values()) > MOST_LATE:
            break
    return 0


def _condition_late(loop: Op, control: "_Control", arrivals: Arrivals) -> int:
    """The cycle in which the condition arrives, if registers hold the next state."""
    region, timing = loop.regions[0], arrivals.timing
    nexts = region.terminator.operands[1:]
    held = {nexts[k]: timing.register(arrivals.at(region.args[k]).cycle) for k in control.carried}
    asked = Arrivals(timing, arrivals.times | held).follow(op for op in control.ops if op.result not in held)
    return int(asked.at(control.condition).cycle)


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
            if not has(local[value], "logic"):
                return None
            todo.extend(local[value].operands)
    ops = tuple(op for op in region.ops if op.results and op.results[0] in needed)
    carried = tuple(k for arg, k in index.items() if arg in needed)
    return _Control(condition, ops, carried) if carried and len(ops) <= MOST_OPS else None


@dataclass(frozen=True)
class _Stages:
    """The cycle in which each value of a condition is computed, from 0, in which the states arrive; a stage begins with
    registers. ``last`` is that of the condition."""

    of_value: Mapping[Value, int]
    ops: tuple[Op, ...]
    last: int

    @classmethod
    def of(cls, loop: Op, control: "_Control", timing: TimingModel) -> "_Stages | None":
        """The stages of a condition that takes more than one cycle after a state that takes one; else None."""
        region = loop.regions[0]
        nexts = region.terminator.operands[1:]
        args = [region.args[k] for k in control.carried]
        state = Arrivals(timing, dict.fromkeys(args, timing.register())).follow(control.ops)
        if any(state.misses(nexts[arg.index]) for arg in args):
            return None
        found = {value: timing.register() for arg in args for value in (arg, nexts[arg.index])}
        ops = tuple(op for op in control.ops if op.result not in found)
        for op in ops:
            if timing.expected(op):
                return None
            read = [found[value] for value in op.operands if value in found]
            cycle = max((arrival.cycle for arrival in read), default=0)
            ns = max((a.ns if a.cycle == cycle else timing.register().ns for a in read), default=0.0)
            if timing.exceeds(ns + timing.delay(op)):
                cycle, ns = cycle + 1, timing.register().ns
            found[op.result] = Arrival(cycle, ns + timing.delay(op))
        if control.condition not in found:
            return None
        last = int(found[control.condition].cycle)
        fits = 0 < last <= MOST_LATE and not any(timing.exceeds(arrival.ns) for arrival in found.values())
        return cls({value: int(arrival.cycle) for value, arrival in found.items()}, ops, last) if fits else None

    def crossing(self) -> list[tuple[Value, int]]:
        """The values that registers hold, with the stage that begins with each."""
        used: dict[Value, int] = {}
        for op in self.ops:
            for value in op.operands:
                if value in self.of_value:
                    used[value] = max(used.get(value, 0), self.of_value[op.result])
        return [(value, stage) for value, end in used.items() for stage in range(self.of_value[value] + 1, end + 1)]


def _pipeline(loop: Op, control: _Control, stages: _Stages) -> list[Op]:
    """The condition in ``stages``: each of them treats another iteration, and registers hold the values between."""
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    args = [region.args[k] for k in control.carried]
    before, distance = Region(), 2 + stages.last
    states, bits = _first_states(loop, control, before, distance)
    ahead = [add_carried(loop, states[-2][a], states[-2][a].name) for a in args]
    far = [add_carried(loop, states[-1][a], states[-1][a].name) for a in args]
    crossing = stages.crossing()
    computed = {  # by the iterations before the first one
        stage: _condition_values(before, stages.ops, states[distance - 1 - stage], states[distance - stage], nexts)
        for stage in {stage for _, stage in crossing}
    }
    held = {(value, stage): add_carried(loop, computed[stage][value], value.name) for value, stage in crossing}
    again = add_carried(loop, bits[0], bits[0].name)

    terminator = region.ops.pop()
    near, distant = (dict(zip(args, (v.arg for v in values), strict=True)) for values in (ahead, far))
    farther, _ = _step(region, control, distant, nexts)
    now = near | {nexts[arg.index]: value for arg, value in distant.items()}
    for op in stages.ops:
        stage = stages.of_value[op.result]
        read = {
            value: now[value] if stages.of_value[value] == stage else held[value, stage].arg
            for value in op.operands
            if value in stages.of_value
        }
        region.ops += clone_ops([op], read)
        now[op.result] = read[op.result]
    terminator.operands[0] = again.arg
    region.ops.append(terminator)
    for carried, following in zip(ahead, distant.values(), strict=True):
        carried.set_next(following)
    for carried, arg in zip(far, args, strict=True):
        carried.set_next(farther[arg])
    for (value, stage), carried in held.items():
        carried.set_next(now[value] if stage == stages.of_value[value] + 1 else held[value, stage - 1].arg)
    again.set_next(now[control.condition])
    return before.ops


def _first_states(loop: Op, control: _Control, before: Region, count: int) -> tuple[list[dict], list[Value]]:
    """The states s(0) to s(count), and whether each from s(1) on is that of an iteration, computed in ``before``."""
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    states, bits = [{region.args[k]: loop.operands[1 + k] for k in control.carried}], []
    for _ in range(count):
        state, bit = _step(before, control, states[-1], nexts)
        states.append(state)
        bits.append(bit)
    return states, bits


def _condition_values(region: Region, ops: Iterable[Op], state: dict, following: dict, nexts) -> dict[Value, Value]:
    """All values of the condition of a state and its next state: the operations that compute the latter are not
    repeated."""
    values = dict(state) | {nexts[arg.index]: value for arg, value in following.items()}
    region.ops += clone_ops([op for op in ops if op.results[0] not in values], values)
    return values


def _transform(loop: Op, control: _Control, distance: int) -> list[Op]:
    region = loop.regions[0]
    nexts = region.terminator.operands[1:]
    args = [region.args[k] for k in control.carried]
    before = Region()
    states, bits = _first_states(loop, control, before, distance)
    ahead = [add_carried(loop, states[-2][a], states[-2][a].name) for a in args]  # s(t + distance - 1)
    far = [add_carried(loop, states[-1][a], states[-1][a].name) for a in args]  # s(t + distance)
    again = [add_carried(loop, bit, bit.name) for bit in bits[:-1]]
    terminator = region.ops.pop()
    near, distant = (dict(zip(args, (v.arg for v in values), strict=True)) for values in (ahead, far))
    farther, _ = _step(region, control, distant, nexts)
    condition = _condition_values(region, control.ops, near, distant, nexts)[control.condition]
    terminator.operands[0] = again[0].arg
    region.ops.append(terminator)
    following = [*distant.values(), *(farther[a] for a in args), *(bit.arg for bit in again[1:]), condition]
    for value, after in zip([*ahead, *far, *again], following, strict=True):
        value.set_next(after)
    return before.ops


def _step(region: Region, control: _Control, state: dict, nexts) -> tuple[dict, Value]:
    """The next state and its continue condition, computed at the end of ``region``."""
    values = dict(state)
    region.ops += clone_ops(list(control.ops), values)
    following = {arg: values.get(nexts[arg.index], nexts[arg.index]) for arg in state}
    return following, values.get(control.condition, control.condition)

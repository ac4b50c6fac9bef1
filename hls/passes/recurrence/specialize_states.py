"""FSM specialization: the next state is computed for each state, off the recurrence, and selected by the state."""

from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...ir import BOOL, ArrayType, Builder, Function, IntType, Op, Region, Value, has, loops_inside_out
from ...ir.clone import clone_function, clone_ops
from ...ir.types import scalar_type
from ..manager import Form, FunctionPass

__all__ = ["SpecializeStates"]

#: bits of a state, operations on its path that make it worthwhile, and operations of all copies
MOST_BITS, LEAST_DEPTH, MOST_OPS = 3, 4, 512
_WIRES = frozenset({"const", "zext", "sext", "trunc"})


@dataclass(frozen=True)
class SpecializeStates(FunctionPass):
    """FSM specialization: Shannon expansion on the state (XLS: proc_state_fsm). Before: flat and narrow. After: a
    carried integer of at most ``MOST_BITS`` bits (a state) whose next value depends on it through a long path of
    comparisons and selects is selected by the state among the next values for all states, which do not depend on it.

    Other operations that depend on the state are unchanged. The copies have a constant for the state, so folding leaves
    little of them.
    """

    name = "specialize-states"
    requires = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which states have a next value for each of their numbers, selected at the end."""
        result = clone_function(function)
        for _, loop in loops_inside_out(result.body):
            body = loop.regions[0]
            states = [
                k for k, arg in enumerate(body.args) if isinstance(arg.type, IntType) and arg.type.bits <= MOST_BITS
            ]
            together = components(body) if states else {}
            for k in states:
                _treat(body, k, together)
        return result


def _treat(body: Region, k: int, together: dict[Value, int]) -> None:
    state, following = body.args[k], body.terminator.operands[1 + k]
    mine = together.get(state)
    if mine is None or following is state:
        return
    way = [op for op in body.ops if any(together.get(value) == mine for value in op.results)]
    alone = all(arg is state or together.get(arg) != mine for arg in body.args)
    if not alone or not all(has(op, "pure") and len(op.results) == 1 and not op.regions for op in way):
        return
    count = 1 << state.type.bits
    if _depth(way, state, following) < LEAST_DEPTH or count * len(way) > MOST_OPS:
        return
    b = Builder(Region(), following.defining_op.span)
    nexts = [_next_of(b.const(number, state.type), state, way, following, b) for number in range(count)]
    chosen = (
        b.value("select", state, nexts[1], nexts[0])
        if state.type == BOOL
        else b.value(
            "extract",
            b.value("array", *nexts, result=ArrayType(scalar_type(state.type), count)),
            state,
            name=state.name,
        )
    )
    end = body.ops.pop()
    end.operands[1 + k] = chosen
    body.ops += [*b.region.ops, end]


def _next_of(number: Value, state: Value, way: list[Op], following: Value, b: Builder) -> Value:
    """The next state for the state with this number."""
    values = {state: number}
    b.region.ops += clone_ops(way, values)
    return values[following]


def _depth(way: list[Op], state: Value, following: Value) -> int:
    """Operations, except wiring, on the longest path from a state to the next one."""
    depth = {state: 0}
    for op in way:
        depth[op.result] = max((depth[v] for v in op.operands if v in depth), default=0) + (op.opcode not in _WIRES)
    return depth.get(following, 0)

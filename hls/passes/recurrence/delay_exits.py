"""Delayed exits: a loop whose exit condition is late issues the next iteration before it is known, without effects."""

from collections.abc import Container
from dataclasses import dataclass

from ...analysis.loops.backward_slice import backward_slice
from ...ir import Attr, Builder, Function, Op, Region, Value, has, is_access, memory_name, uses, walk
from ...ir.accesses import PREDICATES, lane_mask, predicate
from ...ir.clone import clone_function
from ...ir.loops import add_carried
from ...ir.rewrite import constant, set_results
from ..manager import Form, FunctionPass

__all__ = ["DelayExits", "may_delay"]


@dataclass(frozen=True)
class DelayExits(FunctionPass):
    """Speculative issue in loops with exits (Tirumalai, Lee and Schlansker 1990), by predicates. Before: flat, without
    tokens. After: loops with the attribute ``delay_exit`` decide an iteration later whether they go on. Each carries
    whether the iteration before has gone on: on that, the stores of an iteration depend, and whether another one
    follows. So a loop makes one more iteration than the program, which stores nothing, and whose loads are early.

    The exit condition then is on no recurrence, where it was on that of the loop control: the header waited for what an
    iteration loads and compares. Where loads wait for stores of the iteration before, no level of its own can decide
    (docs/rationale/late-exits.md). Of loops that a launch enters once the one more iteration costs nothing.
    """

    name = "delay-exits"
    requires = frozenset({Form.FLAT, Form.ACCESSES_LEGAL})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which these loops end an iteration later; the function itself if there are none."""
        if not any(Attr.DELAY_EXIT in op.attrs for op in walk(function.body)):
            return function
        result = clone_function(function)
        for loop in [op for op in walk(result.body) if op.attrs.pop(Attr.DELAY_EXIT, False)]:
            if may_delay(result, loop):
                _delay(result, loop)
        return result


def may_delay(function: Function, loop: Op) -> bool:
    """Whether an operation of the function is a loop that a launch enters once, with accesses alone as effects, and
    whose end depends on what it loads; without tokens, or with."""
    if loop.opcode != "loop" or loop not in function.body.ops or function.attrs.get(Attr.NDRANGE):
        return False
    (body,) = loop.regions
    settled = Attr.EXIT_DELAYED in loop.attrs or loop.attrs.get(Attr.SPECULATED_ITERATIONS) == 0
    if settled or any(op.regions for op in body.ops):
        return False
    plain = all(has(op, "pure") or is_access(op) or op.opcode in _PLAIN for op in body.ops[:-1])
    accesses = [op for op in body.ops if is_access(op)]
    observed = any(function.memories[memory_name(op)].volatile for op in accesses)
    lanes = any(op.opcode == "load" and lane_mask(op) is not None for op in accesses)  # no early load has a mask
    deciding = backward_slice([body.terminator.operands[0]], body.ops)
    return plain and not observed and not lanes and any(op.opcode == "load" for op in deciding)


#: what accesses leave behind that is none, before and after they are ordered
_PLAIN = frozenset({"check", "token", "fence"})


def _delay(function: Function, loop: Op) -> None:
    (body,) = loop.regions
    _keep_last(loop, uses(function.body))
    before = Builder(Region(), loop.span)
    goes_on = add_carried(loop, before.true(), "goes_on", following=body.terminator.operands[0])
    place = function.body.ops.index(loop)
    function.body.ops[place:place] = before.region.ops
    body.terminator.operands[0] = goes_on.arg
    loop.attrs.pop(Attr.TRIP_COUNT, None)
    loop.attrs[Attr.EXIT_DELAYED] = True
    checked = {op.operands[0] for op in body.ops if op.opcode == "check"}
    ops, body.ops = body.ops, []
    b = Builder(body, loop.span)
    for op in ops:
        b.span = op.span
        if op.opcode in ("store", "check"):
            at = PREDICATES["store"] if op.opcode == "store" else 1
            op.operands[at] = _also(op.operands[at], goes_on.arg, b)
        body.ops.append(op)
        if op.opcode == "load" and op.result not in checked:
            on = _also(predicate(op), goes_on.arg, b)
            b.op("check", op.result, on)
            op.attrs[Attr.EARLY] = True


def _also(on: Value, goes_on: Value, b: Builder) -> Value:
    return goes_on if constant(on) == 1 else b.value("and", on, goes_on)


def _keep_last(loop: Op, used: Container[Value]) -> None:
    """Let what is used behind the loop be the values at the begin of its last iteration."""
    (body,) = loop.regions
    for k, result in enumerate(list(loop.results)):
        if result in used:
            add_carried(loop, loop.operands[1 + k], result.name, following=body.args[k], result=result)
            set_results(loop, [*loop.results[:k], Value(result.type, result.name), *loop.results[k + 1 :]])

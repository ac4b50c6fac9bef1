"""Hoisting of the load that only the first iteration makes: what it loads is the initial value of a carried element."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...analysis.dependence.dependence import DependenceTester
from ...analysis.timing import TimingModel, recurrences_of
from ...ir import (
    BOOL,
    Function,
    Op,
    Region,
    Value,
    innermost_first,
    lane_mask,
    loops_inside_out,
    memory_name,
    moved_type,
    walk,
)
from ...ir.accesses import is_early, orders_accesses, predicate
from ...ir.clone import clone_function
from ...ir.loops import add_carried
from ...ir.rewrite import constant, resolve
from ..manager import Form, FunctionPass
from ..memory.first_loads import made_before, waits_for_loops, writers_of
from ..scalar.specialize import conjuncts
from .distribute_over_selects import retimed_length

__all__ = ["HoistFirstLoads"]


@dataclass(frozen=True)
class HoistFirstLoads(FunctionPass):
    """Hoisting of loads of the first iteration (loop peeling, of one load). Before: flat, without tokens. After: where
    forwarding across iterations left ``first ? load : carried`` on a recurrence that takes fewer cycles of ``timing``
    without the select (None: nothing is done), the load is made before the loop, and is what the loop carries at first.

    The load moves only if no store of its iteration comes before it, and if no store of an earlier iteration of a loop
    around may write its address: it would wait for the inner loop to end. A load under a further condition is made
    without that if it reads an array of the kernel, at an address that the array has; it costs no traffic then, and is
    made where it shortens the recurrence by less than a cycle, too.
    """

    timing: TimingModel | None = None
    address_bits: int = 64

    name = "hoist-first-loads"
    requires = frozenset({Form.FLAT, Form.ACCESSES_LEGAL})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which such loads are made before their loops; an equal copy without ``timing``."""
        result = clone_function(function)
        if self.timing is None or not any(_firsts(loop) for _, loop in loops_inside_out(result.body)):
            return result
        timing = self.timing.unplanned(function)
        for number in range(len(innermost_first(result))):
            loop = innermost_first(result)[number]  # with what was made before the loops inside it
            for place in reversed(_places(loop, timing)):  # the earlier ones keep their positions
                result = self._hoisted(result, number, place, timing) or result
        return result

    def _hoisted(self, function: Function, number: int, place: int, timing: TimingModel) -> Function | None:
        """The function with the load of the select at that place hoisted; None where that is wrong or gains nothing."""
        candidate = clone_function(function)
        region, loop = list(_with_regions(candidate))[number]
        (body,) = loop.regions
        first, _, value = body.ops[place].operands
        load = value.defining_op
        memory = candidate.memories[memory_name(load)]
        tester = DependenceTester(candidate, self.address_bits)
        writes = writers_of(candidate, load)
        if memory.volatile or _reads_what_its_iteration_stored(load, writes, body, tester):
            return None
        early = _hoist(region, loop, body.ops[place], load)
        if early is None:
            return None
        tester = DependenceTester(candidate, self.address_bits)
        free = memory.onchip and _is_within(early, tester)
        if waits_for_loops(early, writes, tester) or _further(load, first) and not free:
            return None
        before, after = (retimed_length(innermost_first(one)[number], timing) for one in (function, candidate))
        return candidate if after[0] < before[0] or free and after < before else None


def _with_regions(function: Function) -> Iterator[tuple[Region, Op]]:
    """The loops in the order of ``innermost_first``, each with the region that it is an operation of."""
    regions = {loop: region for region, loop in loops_inside_out(function.body)}
    yield from ((regions[loop], loop) for loop in innermost_first(function))


def _firsts(loop: Op) -> set[Value]:
    """The carried values that are 0 in the first iteration and 1 in all others."""
    (body,) = loop.regions
    pairs = zip(body.args, loop.operands[1:], body.terminator.operands[1:], strict=True)
    return {arg for arg, init, next in pairs if arg.type == BOOL and constant(init) == 0 and constant(next) == 1}


def _places(loop: Op, timing: TimingModel) -> list[int]:
    """The positions of the selects between a carried value and what the first iteration loads, on a recurrence of more
    than a cycle."""
    (body,) = loop.regions
    firsts = _firsts(loop)
    if not firsts or any(map(orders_accesses, walk(body))):
        return []
    long = {op for one in recurrences_of(loop, timing) if one.cycles() > 1 for op in one.ops}
    return [place for place, op in enumerate(body.ops) if op in long and _is_first(op, body, firsts)]


def _is_first(op: Op, body: Region, firsts: set[Value]) -> bool:
    if op.opcode != "select" or op.operands[0] not in firsts or op.operands[1] not in body.args:
        return False
    load = op.operands[2].op
    if load is None or load.opcode != "load" or load not in body.ops:
        return False
    return not is_early(load) and lane_mask(load) is None


def _reads_what_its_iteration_stored(load: Op, writes: list[Op], body: Region, tester: DependenceTester) -> bool:
    """Whether an operation of the same iteration may write what is loaded before it is loaded."""
    before = set(walk(Region(ops=body.ops[: body.ops.index(load)])))
    pairs = ((op, load) for op in writes if op in before)
    return any(fact.loop is None for pair in pairs for fact in tester.pair(*pair))


def _is_within(load: Op, tester: DependenceTester) -> bool:
    """Whether the load reads an array of known length, at an address that it has."""
    memory, form = tester.function.memories[memory_name(load)], tester.forms.offset(load)
    end = (memory.length or 0) * memory.element.bytes
    return not form.terms and 0 <= form.const <= end - moved_type(load).bytes


def _hoist(region: Region, loop: Op, choice: Op, load: Op) -> Op | None:
    """Make the load before the loop, and carry what ``choice`` selects; None if its address is not known there."""
    (body,) = loop.regions
    carried = choice.operands[1]
    early = made_before(region, loop, load)
    if early is None:
        return None
    following = body.terminator.operands[1 + carried.index]
    resolve(body, {choice.result: add_carried(loop, early.result, carried.name, following=following).arg})
    body.ops.remove(choice)
    return early


def _further(load: Op, first: Value) -> bool:
    """Whether the first iteration makes the load under a condition."""
    return any(constant(part) != 1 and not _is_inverse(part, first) for part in conjuncts(predicate(load)))


def _is_inverse(value: Value, of: Value) -> bool:
    op = value.op
    return op is not None and op.opcode == "xor" and of in op.operands and any(constant(v) == 1 for v in op.operands)

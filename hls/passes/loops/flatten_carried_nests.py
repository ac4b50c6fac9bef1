"""Automatic loop flattening: an inner loop that continues the state of its previous invocation joins the outer loop."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ...analysis.loops.forward_slice import computed_from
from ...analysis.timing import TimingModel
from ...ir import (
    Attr,
    Function,
    IntType,
    Op,
    Region,
    TokenType,
    Value,
    has,
    is_access,
    loops_inside_out,
    memory_name,
    uses,
    walk,
)
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .coalesce_loops import join_nest
from .merged_attributes import CONTROLS, Merged

__all__ = ["MOST_AROUND", "WISHES", "FlattenCarriedNests"]

#: attributes that the source, or planning, gives to one loop and that would not hold for both
WISHES = frozenset({*CONTROLS, Attr.NOFUSION, Attr.IVDEP, Attr.LOOP_COALESCE, Attr.FLATTEN_BY_END, Attr.LOOP_FUSE})
#: most operations around the inner loop: each of them executes in every iteration after flattening
MOST_AROUND = 64


@dataclass(frozen=True)
class FlattenCarriedNests(FunctionPass):
    """Automatic loop flattening (see Ghuloum and Fisher 1995). Before: SSA with `if`, in which small arrays are values.
    After: an innermost loop is merged with the loop around it if each of its invocations begins with the state that the
    previous one left (a window that moves on over the rows of a picture, the next index to write to). As two loops, the
    second invocation could only begin when all of the first has left its pipeline.

    Done only where it costs nothing: loop control is integer logic on counters; few operations stand around the inner
    loop (at most ``MOST_AROUND``); no memory is both read and written, as disambiguating these accesses needs sums of
    counters; and the source puts no attribute on either loop. The outermost loop of a kernel is left
    alone if copies of the kernel share its iterations. An array that is a memory only because it would limit the II in
    registers counts as carried state here, as it would in registers.
    """

    timing: TimingModel | None = None
    record: Callable[[Merged], None] | None = None
    name = "flatten-carried-nests"
    requires = frozenset({Form.ARRAYS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which suitable nests are single loops; the function itself if it is an NDRange kernel or has no
        nest."""
        if function.attrs.get(Attr.NDRANGE) or not any(_inner(op) for op in walk(function.body) if op.opcode == "loop"):
            return function
        result = clone_function(function)
        divided = isinstance(function.attrs.get(Attr.FEED_FORWARD), tuple)
        for region, outer in list(loops_inside_out(result.body)):
            inner = None if divided and region is result.body else _inner(outer)
            held = {m.name for m in result.memories.values() if Attr.HOLDS_UP in dict(m.attrs)}
            if inner is not None and _goes_on(outer, inner, uses(result.body), held) and _is_cheap(outer, inner, held):
                join_nest(function.name, [outer, inner], region, self.timing, lambda into, loop: None, self.record)
        return result


def _inner(outer: Op) -> Op | None:
    """The only loop inside, if the source puts no attribute on either loop."""
    found = [op for op in walk(outer.regions[0]) if op.opcode == "loop"]
    if len(found) != 1 or found[0] not in outer.regions[0].ops:
        return None
    return None if any(WISHES & op.attrs.keys() for op in (outer, found[0])) else found[0]


def _goes_on(outer: Op, inner: Op, used: Mapping[Value, list[tuple[Op, int]]], held: set[str]) -> bool:
    """Whether an invocation begins with exactly the state that the previous one left, and no other result of the inner
    loop is carried. The arrays ``held`` count as carried."""
    (body,), given = outer.regions, {result: k for k, result in enumerate(inner.results)}
    behind = computed_from(body, set(inner.results))
    passed = any(op.opcode == "store" and memory_name(op) in held for op in walk(inner.regions[0]))
    for arg, value in zip(body.args, body.terminator.operands[1:], strict=True):
        if value not in behind:
            continue
        taken = value in given and inner.operands[1 + given[value]] is arg and len(used.get(arg, ())) == 1
        if not taken or isinstance(arg.type, TokenType):
            return False
        passed |= not _is_sum(inner.regions[0], given[value])
    return passed and body.terminator.operands[0] not in behind


def _is_sum(body: Region, index: int) -> bool:
    """Whether a loop only adds integers to this carried value: such a sum can start anew in each invocation, and be
    accumulated by the outer loop."""
    if not isinstance(body.args[index].type, IntType):
        return False
    own = {body.args[index]}
    for op in walk(body):
        if own.isdisjoint(op.operands):
            continue
        if op is body.terminator:
            return [k for k, v in enumerate(op.operands) if v in own] == [1 + index]
        if op.opcode not in ("add", "select", "if", "yield") or op.opcode in ("select", "if") and op.operands[0] in own:
            return False
        own.update(op.results)
        own |= _chosen(body, op) if op.opcode == "yield" else set()
    return False


def _chosen(body: Region, end: Op) -> set[Value]:
    """The results of the `if` that has ``end`` as one of its terminators."""
    return next(
        (
            {*op.results}
            for op in walk(body)
            if op.opcode == "if" and any(region.terminator is end for region in op.regions)
        ),
        set(),
    )


def _is_cheap(outer: Op, inner: Op, held: set[str]) -> bool:
    (body,), (inner_body,) = outer.regions, inner.regions
    around = [each for op in body.ops[:-1] if op is not inner for each in walk(Region(ops=[op]))]
    inside = {v for op in walk(inner_body) for v in op.results}
    accesses = [op for op in walk(body) if is_access(op) and memory_name(op) not in held]
    written = [memory_name(op) for op in accesses if op.opcode == "store"]
    once = len(written) == len(set(written)) and not set(written) & {
        memory_name(op) for op in accesses if op.opcode == "load"
    }
    plain = not any(has(op, "effect") and not is_access(op) for op in walk(body))
    return (
        len(around) <= MOST_AROUND
        and once
        and plain
        and _is_control(inner_body, [inner_body.terminator.operands[0]])
        and _is_control(body, [body.terminator.operands[0], inner.operands[0]], inside)
    )


def _is_control(body: Region, wanted: list[Value], apart: Collection[Value] = frozenset()) -> bool:
    """Whether the values are computed from carried values and loop invariants by integer logic alone."""
    makers = {v: op for op in body.ops for v in op.results}
    nexts = dict(zip(body.args, body.terminator.operands[1:], strict=True))
    seen: set[Value] = set()
    while wanted:
        value = wanted.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in nexts:
            wanted.append(nexts[value])
        elif value in makers:
            if not has(makers[value], "logic") or value in apart:
                return False
            wanted += makers[value].operands
    return True

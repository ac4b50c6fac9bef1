"""Nests that gather what the outer loop stores, and that may be faster as one loop.

In ``for v: { m = label[v]; for e: m = min(m, label[edge[e]]); label[v] = m; }`` the inner loop may read what the
previous iteration of the outer one stored, so each invocation waits until the previous one has left its pipeline,
although few of the gathered elements are that one. As one loop, the loads and the store are compared as they come.

The same does not pay where the element that was just stored is the next one that is read, as in a triangular solver or
an insertion sort: every row would wait for a store in flight. So all loads in the inner loop of what the nest stores
must be gathers: at addresses that the inner loop itself loads.
"""

from ..diag import Span
from ..ir import Attr, Function, Module, Op, is_access, memory_name, walk
from ..ir.clone import clone_function
from ..passes.loops.flatten_carried_nests import MOST_AROUND, WISHES
from .schedule import KernelPlan
from .schedule.interleaving import together
from .schedule.nest_time import assumed_trips, operations_before

__all__ = ["MOST_WORK", "gains", "gathering_nests", "marked", "only_inner", "only_kernel"]

#: levels of a nest that become one loop
LEVELS = 2
#: most operations that the attempts for one kernel plan in total; a nest takes one attempt
MOST_WORK = 8_000


def gathering_nests(function: Function, plan: KernelPlan) -> list[Op]:
    """The outer loops of the kernel's gathering nests, as scheduled: one iteration at a time passes the inner loop."""
    if function.attrs.get(Attr.NDRANGE):
        return []
    return [
        loop
        for loop, region in plan.loops.items()
        if region.cause == "crossing" and loop.span is not None and _gathers(loop, only_inner(loop))
    ]


def only_inner(loop: Op) -> Op | None:
    """The loop inside, if it is the only one, is innermost, under no condition, and neither has a pragma that would not
    hold for both."""
    (body,) = loop.regions
    inner = next((op for op in body.ops if op.opcode == "loop"), None)
    # a deep nest is left at the first loop too many
    if inner is None or any(op.opcode == "loop" and op is not inner for op in walk(body)):
        return None
    around = sum(1 for _ in walk(body)) - sum(1 for _ in walk(inner.regions[0]))
    plain = not any(WISHES & op.attrs.keys() for op in (loop, inner))
    return inner if plain and around <= MOST_AROUND else None


def _gathers(loop: Op, inner: Op | None) -> bool:
    """Whether everything that is stored around the inner loop, and loaded in it, is gathered; nothing that the nest
    loads is stored in the inner loop."""
    if inner is None:
        return False
    (body,) = inner.regions
    inside = set(walk(body))
    accesses = [op for op in walk(loop.regions[0]) if is_access(op)]
    stored, deep = (
        {memory_name(op) for op in accesses if op.opcode != "load" and (op in inside) is at} for at in (False, True)
    )
    loads = [op for op in accesses if op.opcode == "load"]
    if any(memory_name(op) in deep for op in loads):
        return False
    found = [op for op in loads if op in inside and memory_name(op) in stored]
    return bool(found) and all(
        any(before.opcode == "load" for before in operations_before([op.operands[0]], body)) for op in found
    )


def only_kernel(name: str, module: Module) -> Module:
    """The program with that kernel only."""
    functions = {n: f for n, f in module.functions.items() if f.kind != "kernel" or n == name}
    return Module(functions, module.sources, module.channels)


def marked(module: Module, span: Span | None, how: str = Attr.LOOP_COALESCE) -> Module | None:
    """The program with the loop at ``span`` to be coalesced with the one inside it, flattened, or with a delayed exit,
    as ``how`` says; None unless there is one such loop, without that mark: what could not be coalesced is not tried
    again."""
    functions = {name: clone_function(function) for name, function in module.functions.items()}
    found = [op for f in functions.values() for op in walk(f.body) if op.opcode == "loop" and op.span == span]
    if len(found) != 1 or how in found[0].attrs:
        return None
    attrs = found[0].attrs
    if how == Attr.FLATTEN_BY_TEST:
        attrs[Attr.FLATTEN_BY_TEST] = True
    elif how == Attr.FLATTEN_BY_END:
        attrs[Attr.FLATTEN_BY_END] = True
    elif how == Attr.DELAY_EXIT:
        attrs[Attr.DELAY_EXIT] = True
    else:
        attrs[Attr.LOOP_COALESCE] = LEVELS
    return Module(functions, module.sources, module.channels)


def gains(loop: Op, plan: KernelPlan, coalesced: KernelPlan) -> bool:
    """Whether an iteration of the outer ``loop`` takes fewer cycles as part of the coalesced one, with the trips of the
    inner loop that :func:`nest_time` assumes."""
    inner = only_inner(loop)
    merged = next((one for one in coalesced.loops if one.span == loop.span), None)
    if inner is None or inner not in plan.loops or merged is None:
        return False
    trips = assumed_trips(inner, loop.regions[0])
    now = trips * plan.loops[inner].ii / together(plan)[inner] + plan.loops[loop].ii
    return trips * coalesced.loops[merged].ii / together(coalesced)[merged] < now

"""Private arrays in registers that limit a loop's II. Planning the kernel once more with such an array in a memory
shows whether that helps.

In registers, an array indexed at run time is one value: a store to any element produces the array of the next
iteration, so each iteration waits for the one before, whichever elements the two access. In a memory an iteration waits
only for the iterations that may store to an address it reads. On the other hand, one iteration of the outer loop at a
time passes a nest that accesses an array in memory; coalesced into one loop, the nest has no such limit.
"""

from ...diag import Span
from ...ir import ArrayType, Attr, Function, Op, TokenType, Value, is_access, memory_name, walk
from .interleaving import crossings, passed, together
from .nest_time import UNKNOWN_TRIPS
from .plan import KernelPlan, RegionPlan

__all__ = ["held_up", "relieves", "waited_for"]

#: the least II from which on a comparison of addresses pays: an iteration that waits for its own address takes some
#: cycles more than that interval, and others one
LEAST_COMPARED = 3


def held_up(function: Function, plan: KernelPlan) -> frozenset[str]:
    """The names of private arrays because of which a loop does not begin an iteration every cycle, even with
    interleaved invocations."""
    turns, found = together(plan), set()
    for loop, region in plan.loops.items():
        if region.ii > turns[loop]:
            found |= {value.name for value in _on_recurrence(region) if isinstance(value.type, ArrayType)} | _in_nests(
                region
            )
    return frozenset(
        name for name in found if name and (name not in function.memories or function.memories[name].space == "private")
    )


def waited_for(function: Function, plan: KernelPlan) -> frozenset[str]:
    """The names of buffers in global memory that loops both load and store, and whose iterations start several cycles
    apart, even with interleaved invocations."""
    turns, found = together(plan), set()
    for loop, region in plan.loops.items():
        if region.ii >= LEAST_COMPARED * turns[loop]:
            inside = [op for op in walk(loop.regions[0]) if is_access(op)]
            loaded, stored = ({memory_name(op) for op in inside if op.opcode == code} for code in ("load", "store"))
            found |= {name for name in loaded & stored if function.memories[name].space == "global"}
    return frozenset(found)


def _in_nests(region: RegionPlan) -> set[str]:
    """The memories that inner loops both read and write, if it is only the order of these accesses that lets one outer
    iteration at a time pass those loops."""
    if region.cause != "crossing":
        return set()
    ways = list(crossings(region))
    if any(c is None or not isinstance(c.arg.type, TokenType) for c, _, _ in ways):
        return set()
    loops = {op for _, start, end in ways for op in passed(region, start, end) if op.opcode == "loop"}
    nests = [list(walk(loop.regions[0])) for loop in loops if any(op.opcode == "loop" for op in walk(loop.regions[0]))]
    names = [
        {kind: {memory_name(op) for op in ops if is_access(op) and op.opcode == kind} for kind in ("load", "store")}
        for ops in nests
    ]
    return {name for one in names for name in one["load"] & one["store"]}


def _on_recurrence(region: RegionPlan) -> list[Value]:
    """The values on the recurrence that forbids a smaller II."""
    found = region.bottleneck
    if region.cause != "schedule" or found is None or found.kind != "recurrence":
        return []
    return [value for step in found.steps if isinstance(step.src, Op) for value in step.src.results]


def relieves(plan: KernelPlan, before: KernelPlan) -> bool:
    """Whether the plan has a loop of smaller II than in the plan ``before`` and no loop of larger II. A loop around the
    faster one may be slower if it loses less than its innermost loops gain. Loops that did not exist before, because
    they were unrolled, may stand beside or around such a loop, but not in it."""
    now, then = _intervals(plan), _intervals(before)
    relieved = {span for span in then if now.get(span, then[span]) < then[span]}
    new = [loop for loop in plan.loops if loop.span not in then]
    if not relieved or any(_spans_around(plan, loop) & relieved for loop in new):
        return False
    return all(
        _loss(plan, span, now, then, new) <= _gain(plan, span, now, then)
        for span in then
        if now.get(span, 0) > then[span]
    )


def _loss(plan: KernelPlan, span: Span | None, now, then, new: list[Op]) -> float:
    """Cycles that an iteration of the loop takes more than before, including those of new loops in it."""
    return (
        now[span] - then[span] + sum(_trips(loop) * now[loop.span] for loop in new if span in _spans_around(plan, loop))
    )


def _gain(plan: KernelPlan, span: Span | None, now, then) -> float:
    """Cycles that the innermost loops in it save during one iteration of it. Outer loops do not count: their II is
    mostly smaller than the time their inner loops take."""
    innermost = [loop for loop in plan.loops if not any(op.opcode == "loop" for op in loop.regions[0].ops)]
    inside = [loop for loop in innermost if loop.span in then and span in _spans_around(plan, loop)]
    return sum(_trips(loop) * (then[loop.span] - now[loop.span]) for loop in inside)


def _trips(loop: Op) -> int:
    return loop.attrs.get(Attr.TRIP_COUNT) or UNKNOWN_TRIPS


def _intervals(plan: KernelPlan) -> dict[Span | None, float]:
    """Cycles between two successive iterations of each loop of the source, whatever their invocations."""
    found: dict[Span | None, float] = {}
    turns = together(plan)
    for loop, region in plan.loops.items():
        found[loop.span] = max(found.get(loop.span, 1), region.ii / turns[loop])
    return found


def _spans_around(plan: KernelPlan, loop: Op) -> set[Span | None]:
    around = {
        inner: outer for outer, region in plan.loops.items() for inner in region.region.ops if inner in plan.loops
    }
    found = set()
    while loop in around:
        loop = around[loop]
        found.add(loop.span)
    return found

"""Private arrays that hold up a loop: whether that can be helped is found out by planning the kernel once more.

In registers, an array with an index of the run is one value. What is stored into an element is part of the next
iteration's array, so each iteration waits for the one before, whichever elements the two are about. In a memory it
waits only for the iterations that may store to what it reads. A nest of loops that works on an array in memory is
passed by one iteration of the loop around it at a time; as one loop it need not be.
"""

from ...diag import Span
from ...ir import ArrayType, Attr, Function, Op, TokenType, Value, is_access, memory_name, walk
from .interleaving import crossings, passed, together
from .plan import KernelPlan, RegionPlan

__all__ = ["held_up", "relieves"]

#: what a loop is taken to have where the program does not tell
UNKNOWN_TRIPS = 64


def held_up(function: Function, plan: KernelPlan) -> frozenset[str]:
    """The names of private arrays for whose sake a loop does not begin an iteration every cycle, though others take
    turns with it."""
    turns, found = together(plan), set()
    for loop, region in plan.loops.items():
        if region.ii > turns[loop]:
            found |= {value.name for value in _on_recurrence(region) if isinstance(value.type, ArrayType)} | _in_nests(
                region
            )
    return frozenset(
        name for name in found if name and (name not in function.memories or function.memories[name].space == "private")
    )


def _in_nests(region: RegionPlan) -> set[str]:
    """What nests inside both read and write, if one iteration at a time passes them for the order of accesses alone."""
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
    """The values that are made on the way that forbids a smaller interval."""
    found = region.bottleneck
    if region.cause != "schedule" or found is None or found.kind != "recurrence":
        return []
    return [value for step in found.steps if isinstance(step.src, Op) for value in step.src.results]


def relieves(plan: KernelPlan, before: KernelPlan) -> bool:
    """Whether the plan has a loop that begins iterations more often than in the one ``before``, and none that does so
    less often, but for loops around it that lose less than is gained in their innermost ones. Loops that were none
    before, as they were unrolled, may stand beside and around such a loop, but not in it."""
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
    """Cycles that an iteration of the loop takes more than before, those of new loops in it included."""
    return (
        now[span] - then[span] + sum(_trips(loop) * now[loop.span] for loop in new if span in _spans_around(plan, loop))
    )


def _gain(plan: KernelPlan, span: Span | None, now, then) -> float:
    """Cycles that the innermost loops in it take less, while it has one iteration; of others the interval is mostly
    less than what they have inside takes."""
    innermost = [loop for loop in plan.loops if not any(op.opcode == "loop" for op in loop.regions[0].ops)]
    inside = [loop for loop in innermost if loop.span in then and span in _spans_around(plan, loop)]
    return sum(_trips(loop) * (then[loop.span] - now[loop.span]) for loop in inside)


def _trips(loop: Op) -> int:
    return loop.attrs.get(Attr.TRIP_COUNT) or UNKNOWN_TRIPS


def _intervals(plan: KernelPlan) -> dict[Span | None, float]:
    """Cycles between two iterations of each loop of the source, of any invocation."""
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

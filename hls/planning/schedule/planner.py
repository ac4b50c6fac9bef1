"""Plans a whole kernel: its loops from the innermost out, then its top."""

from dataclasses import replace

from ...analysis.induction.trip_count import count_trips
from ...ir import Attr, Function, Op, Region, uses
from ...ir.launch import most_tokens, per_group, units_of
from ..memory import MemoryPlan
from .launch_invariants import static_operations
from .plan import KernelPlan, RegionPlan
from .port_reservation import plan_bookings
from .queues import may_take_turns
from .region import RegionPlanner
from .timing import OperatorTiming

__all__ = ["plan_kernel"]

_SUMS = frozenset(["add", "sub", "addr"])


def plan_kernel(
    function: Function, timing: OperatorTiming, memory: MemoryPlan, memory_latency: int, elastic_depth: int = 0
) -> KernelPlan:
    """Levels, stages, slots and queue depths for a flat kernel. ``memory_latency`` is typical of its variable accesses,
    in cycles."""
    timing = timing.planned(memory)
    static = static_operations(function)
    loops: dict[Op, RegionPlan] = {}
    fixed = frozenset([*function.args, *(r for op in static for r in op.results)]) - set(per_group(function).values())
    by_group = units_of(function) > 1
    planner = RegionPlanner(
        timing=timing,
        fixed=fixed,
        children=loops,
        memory_latency=memory_latency,
        repeated=False,
        elastic_depth=elastic_depth,
        group_items=most_tokens(function),
        by_group=by_group,
    )

    def visit(region: Region, loop: Op | None, depth: int, entered: int, loop_behind: bool = False) -> RegionPlan:
        inner = [op for op in region.ops if op.opcode == "loop"]
        here = replace(planner, repeated=depth + by_group > 1, entered=entered, loop_behind=loop_behind)
        each = _entered_inside(loop, here)
        for k, op in enumerate(inner):
            behind = any(not one.attrs.get(Attr.RING) for one in inner[k + 1 :])
            loops[op] = visit(op.regions[0], op, depth + 1, each, behind)
        return here.plan(region, loop, _shortest(loop))

    top = visit(function.body, None, 0, 0)
    computed = [*static, *(op for plan in (top, *loops.values()) for op in plan.place)]
    latency = {op: timing.latency(op) for op in computed}
    parts = {op: part for op in computed if (part := timing.part(op))}
    apart = _sums_of_sums(function, computed) if timing.model.adder_words == 2 else frozenset()
    return KernelPlan(
        name=function.name,
        top=top,
        loops=loops,
        static=static,
        static_depth=_static_depth(static, timing),
        latency=latency,
        parts=parts,
        apart=apart,
        bookings=plan_bookings((top, *loops.values()), memory),
    )


def _sums_of_sums(function: Function, computed: list[Op]) -> frozenset[Op]:
    """The sums that are operands of other sums. If synthesis merged them, three or more words would be added in lookup
    tables before one carry chain, which takes more of these tables and no less time than one carry chain for each
    sum."""
    used = uses(function.body)
    return frozenset(
        op for op in computed if op.opcode in _SUMS and any(user.opcode in _SUMS for user, _ in used.get(op.result, ()))
    )


def _shortest(loop: Op | None) -> int:
    """The least number of iterations of a loop that runs at all."""
    trips = count_trips(loop) if loop else None
    return max(1, trips.count) if trips and trips.exact else 1


def _entered_inside(loop: Op | None, around: RegionPlanner) -> int:
    """How many invocations of a loop directly inside may be in flight together: one for each iteration of ``loop``, in
    as many of its own invocations as overlap. 0: not known here."""
    trips = count_trips(loop) if loop else None
    if loop is None or trips is None or not trips.exact:
        return 0
    return trips.count * (around.entered if may_take_turns(loop, around.repeated) else 1)


def _static_depth(static, timing) -> int:
    """Cycles through the longest chain: a register follows every launch-invariant operation."""
    depth: dict = {}
    for op in static:
        if op.opcode != "const":
            ready = max((depth.get(v, 0) for v in op.operands), default=0)
            depth[op.result] = ready + timing.latency(op) + 1
    return max(depth.values(), default=0)

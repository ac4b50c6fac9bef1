"""II against clock: the II and the fmax that a loop would have with, or without, a ``#pragma ii``.

With an II below the one that its recurrence needs at the clock of the design, a recurrence of plain logic has fewer
registers: iterations start more often, at a slower clock.
"""

from collections.abc import Callable, Sequence
from math import ceil

from ..ir import Attr, Op
from ..planning.iterate import CompiledKernel
from ..planning.schedule import OperatorTiming, RegionPlan
from ..planning.what_if import RequestedII, WhatIf
from .advice import Measured
from .model import ClockPoint, Loop

__all__ = ["clock_points"]

#: IIs that are tried from the least on that the parts of the recurrence allow
MOST_TRIED = 2


def clock_points(
    kernel: CompiledKernel,
    plan: RegionPlan,
    loop: Loop,
    timing: OperatorTiming,
    what_if: WhatIf,
    measure: Callable[[CompiledKernel], Measured],
) -> tuple[ClockPoint, ...]:
    """The loop as it is and, behind it, as it would be at another II with another fmax. Empty if there is no choice, or
    if a smaller II starts iterations less often even at the clock that it permits: so for a loop whose interleaved
    invocations start an iteration every cycle, unless its II is requested."""
    tried: Sequence[int | None]
    requested = plan.loop_op.attrs.get(Attr.II)
    if loop.path is None:
        return ()
    if requested is None:
        if loop.interleaving >= loop.ii:
            return ()
        tried = _smaller(plan, loop, timing)
    else:
        missed = loop.path.ns > timing.period and loop.ii == requested
        tried = (None,) if missed else ()
    for ii in tried:
        trial = what_if.in_plan(kernel, (RequestedII(plan.loop_op, ii),))
        now = measure(trial).loops.get(plan.loop_op.span) if trial is not None else None
        if now is not None and now.path is not None and now.ii != loop.ii:
            here = ClockPoint(f"with #pragma ii {requested}" if requested else "as it is", loop.ii, loop.path.fmax_mhz)
            there = ClockPoint(f"with #pragma ii {ii}" if ii else "without #pragma ii", now.ii, now.path.fmax_mhz)
            return (here, there) if requested or there.iterations_per_us > here.iterations_per_us else ()
    return ()


def _smaller(plan: RegionPlan, loop: Loop, timing: OperatorTiming) -> Sequence[int]:
    """IIs worth a trial: below that of a recurrence of data within one level, from the cycles on that its parts take
    with as few registers between them as possible."""
    found = plan.bottleneck
    if loop.bottleneck is None or loop.bottleneck.kind != "data" or plan.cause != "schedule":
        return ()
    if found is None or found.kind != "recurrence" or not found.distance:
        return ()
    ops = {step.src for step in found.steps if isinstance(step.src, Op)}
    least = max(1, ceil(sum(timing.latency(op) for op in ops) / found.distance))
    return range(least, min(least + MOST_TRIED, plan.ii))

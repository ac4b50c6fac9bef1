"""Loops as text: a tree with the reason for each initiation interval."""

from collections import Counter

from ..diag import Span
from ..sentence import enumerated
from .causes import say_cause, say_recurrence
from .layout import count, wrapped
from .model import Bottleneck, Conflict, Loop, LoopPrediction, Path, Share
from .phrasing import at

__all__ = ["loop_tree", "say_clock_points", "say_conflict", "say_loop", "say_predicted"]

#: Parts of a recurrence that are listed individually.
MOST_SHARES = 6


def loop_tree(loops: tuple[Loop, ...], clock_mhz: float, margin: str = "  ") -> list[str]:
    """The loops, each with its findings; inner ones are indented below a bar that connects them to the outer one."""
    lines = []
    for position, loop in enumerate(loops):
        bar = "| " if loop.children else "  "
        lines += wrapped(f"+ {_headline(loop)}", margin)
        for finding in _findings(loop, clock_mhz):
            lines += wrapped(finding, margin + bar)
        if loop.children:
            lines += loop_tree(loop.children, clock_mhz, margin + bar)
        if position + 1 < len(loops):
            lines.append(margin.rstrip())
    return lines


def say_loop(loop: Loop) -> str:
    """What became of a loop, and how often an iteration starts."""
    unrolled, rate = _unroll(loop), _rate(loop)
    return " ".join(unrolled if unrolled and not loop.ii else [f"{rate[0].upper()}{rate[1:]}.", *unrolled])


def _headline(loop: Loop) -> str:
    name = "Work-items" if loop.work_items else f"Loop {loop.label}".rstrip()
    copies = f", {loop.copies} copies in parallel" if loop.copies > 1 else ""
    trips = f", {count(loop.trip_count, 'iteration')}" if loop.trip_count is not None else ""
    return f"{name}{at(loop.span)}{copies}{trips}: {_rate(loop)}"


def _rate(loop: Loop) -> str:
    if loop.part_of:
        how, into = loop.part_of
        return f"{'coalesced' if how == 'coalesced' else 'fused'} with the loop{at(into)}, whose figures are of both"
    if not loop.ii:
        return "unrolled" if loop.unroll else _GONE[loop.gone]
    ii = f"II {loop.ii}, "
    if loop.at_most:
        return f"II {'up to ' if loop.ii > 1 else ''}{loop.ii}, {_paced_by_memory(loop)}"
    if loop.interleaving > 1:
        rate = "every cycle" if loop.interleaving == loop.ii else f"every {loop.scheduled_ii:.3g} cycles"
        return f"{ii}interleaves {loop.interleaving} invocations: an iteration starts {rate}"
    if _inner(loop):
        own = "" if loop.ii == 1 else f": an iteration starts after at least {loop.ii} cycles"
        every = (
            f": an iteration starts every {loop.paced:,} cycles"
            if loop.paced is not None and loop.paced >= loop.ii
            else ""
        )
        return f"{ii}paced by the inner loop{_inner_name(loop)}{every or own}{_unless(loop)}"
    return f"{ii}an iteration starts every {_cycles(max(loop.ii, loop.paced or 0))}{_unless(loop)}"


#: what became of loops that are not in hardware
_GONE = {
    "runs once": "runs once",
    "never runs": "removed: it never runs",
    "removed": "removed: its result is never used",
    "replaced": "replaced by hardware without a loop",
    "": "no loop in hardware",
}


def _paced_by_memory(loop: Loop) -> str:
    """For a loop that waits for memory, or whose iterations in flight the source limits."""
    cycles = max(loop.ii, loop.paced or 0)
    sooner = "earlier if memory answers earlier or is not accessed"
    return f"an iteration starts after at most {_cycles(cycles, True)}, {sooner}{_unless(loop)}"


def _cycles(number: int, counted: bool = False) -> str:
    return ("1 cycle" if counted else "cycle") if number == 1 else f"{number:,} cycles"


def _unless(loop: Loop) -> str:
    """The cost of address conflicts."""
    most = max((one.cycles for one in loop.conflicts), default=0)
    return f"; up to {most:,} cycles after an address conflict" if most else ""


def _inner(loop: Loop) -> bool:
    """Whether the loop has inner loops in hardware."""
    return any(child.ii or _inner(child) for child in loop.children)


def _inner_name(loop: Loop) -> str:
    """The only inner loop."""
    inside = [child for child in loop.children if child.ii]
    return f" {inside[0].label}{at(inside[0].span)}" if len(inside) == 1 and inside[0].label else ""


def _findings(loop: Loop, clock_mhz: float) -> list[str]:
    lines = _unroll(loop)
    if loop.interchanged:
        lines.append(
            f"Interchanged with the inner loop{_inner_name(loop)}, as that takes fewer cycles: each iteration of the "
            "loop in hardware is one iteration of the inner loop, for all iterations of this one."
        )
    if loop.without_copies:
        lines.append(
            f"Without copies of buffers on the chip, in launches in which one is too large: II {loop.without_copies}."
        )
    if loop.variants:
        alike = (f"{one.count} with II {one.ii}{_in_turn(one)}" for one in loop.variants)
        lines.append(f"The copies differ: {'; '.join(alike)}. The figures are of the slowest copy.")
    if loop.bottleneck:
        lines += _bottleneck(loop.ii, loop.bottleneck)
    for region in loop.serial:
        known = loop.bottleneck is not None and say_cause(region.cause) == say_cause(loop.bottleneck)
        lines.append(
            f"Serial region: one iteration of this loop at a time executes {_names(region.loops)}."
            if known
            else f"Serial region: one iteration of this loop at a time executes {_names(region.loops)}; cause: "
            f"{say_cause(region.cause)}."
        )
    lines += [_additional(other) for other in loop.additional]
    lines += [f"Address conflict: {say_conflict(one)}." for one in loop.conflicts]
    if loop.advice:
        lines.append(f"{loop.advice}.")
    if loop.clock_points:
        lines.append(f"II against clock: {say_clock_points(loop)}.")
    if loop.one_at_a_time:
        lines.append(f"{loop.one_at_a_time[0].upper()}{loop.one_at_a_time[1:]}.")
    if loop.speculative:
        lines.append("Speculative iterations: issued before the exit condition is known, and squashed after the exit.")
    elif loop.speculated:
        lines.append(
            "Delayed exit: one more iteration than the source has is issued before the exit condition is known; it "
            "stores nothing. It counts as an iteration."
        )
    if loop.ii:
        slots = f", {loop.slots} slots" if loop.slots > 1 else ""
        flight = (
            "" if _inner(loop) and not loop.limit else f"; at most {count(loop.concurrency, 'iteration')} in flight"
        )
        asked = ", as requested in the source" if loop.limit and loop.concurrency == loop.limit else ""
        fmax = f"; fmax {loop.path.fmax_mhz:g} MHz" if loop.path else ""
        lines.append(f"Latency {count(loop.latency, 'cycle')} in {_levels(loop)}{slots}{flight}{asked}{fmax}.")
    if loop.predicted:
        lines.append(f"{say_predicted(loop.predicted)}.")
    return lines + _path(loop.path, clock_mhz)


def say_clock_points(loop: Loop) -> str:
    """The II and the clock of a loop as it is, and at another II."""
    points = (
        f"{one.how}, II {one.ii} at {one.fmax_mhz:g} MHz: {one.iterations_per_us:g} iterations a microsecond"
        for one in loop.clock_points
    )
    return "; ".join(points)


def say_predicted(one: LoopPrediction) -> str:
    """What the performance model says of a loop."""
    runs = f"{_number(one.iterations, 'iteration')} in {_number(one.invocations, 'invocation')}"
    if not one.iterations:
        return f"Predicted: {runs}"
    return f"Predicted: {runs}, {_number(one.interval, 'cycle', '.4g')} apart: {one.cause}"


def _number(value: float, noun: str, form: str = ",.0f") -> str:
    text = format(value, form)
    return f"{text} {noun}{'' if text == '1' else 's'}"


def _levels(loop: Loop) -> str:
    """The levels of the loop's pipeline, and how many of them wait for what."""
    waits = [
        f"{number} wait{'s' * (number == 1)} for {what}"
        for what, number in Counter(what for level in loop.waits_at for what in level).items()
    ]
    return count(loop.levels, "level") + (f" ({', '.join(waits)})" if waits else "")


def _in_turn(one) -> str:
    return f" and {one.interleaving} invocations interleaved" if one.interleaving > 1 else ""


def say_conflict(one: Conflict) -> str:
    """What a load waits for."""
    if one.forwarded:
        return (
            f"load of {one.memory}{at(one.span)} takes the value from the store{at(one.other)} of an earlier iteration "
            f"to the same address that is still in flight, and waits up to {one.cycles:,} cycles until it is computed"
        )
    return (
        f"load of {one.memory}{at(one.span)} waits up to {one.cycles:,} cycles if the store{at(one.other)} of an "
        f"earlier iteration to the same address is still in flight; where addresses repeat, a copy of "
        f"{one.memory} in an array of the kernel waits a few cycles only"
    )


def _additional(cause: Bottleneck) -> str:
    said = say_cause(cause)
    return f"{said[0].upper()}{said[1:]}." if cause.kind == "invocations" else f"Additional: {said}."


def _names(loops: tuple[tuple[str, Span | None], ...]) -> str:
    return enumerated(f"loop {label}".rstrip() + at(span) for label, span in loops)


def _path(path: Path | None, clock_mhz: float) -> list[str]:
    """The critical path; only if the loop misses the clock."""
    if path is None or path.fmax_mhz >= clock_mhz:
        return []
    return [
        (f"The critical path of {path.ns:.3g} ns limits the clock to {path.fmax_mhz:g} MHz; shorten it to raise fmax."),
        *_shares(path.steps),
    ]


def _unroll(loop: Loop) -> list[str]:
    unroll = loop.unroll
    if unroll is None:
        return []
    if unroll.factor is None:
        return [f"Unrolling requested but not done: {unroll.reason}."]
    cause = "by #pragma unroll" if unroll.reason == "pragma" else "by the compiler (#pragma unroll 1 prevents it)"
    copies = count(unroll.factor, "copy", "copies")
    return [f"{'Fully unrolled' if unroll.full else 'Unrolled'} {cause}: {copies} of the body."]


def _bottleneck(ii: int, bottleneck: Bottleneck) -> list[str]:
    length = f"; {bottleneck.cycles}-cycle recurrence" if bottleneck.cycles else ""
    parts = say_recurrence(bottleneck)
    return [f"II {ii}: {say_cause(bottleneck)}{length}{f': {parts}' if parts else ''}.", *_shares(bottleneck.shares)]


def _shares(shares: tuple[Share, ...]) -> list[str]:
    """The operations with their shares; those of one line that do the same are one entry."""
    alike: dict[str, list[float]] = {}
    for part in shares:
        alike.setdefault(f"{part.operation}{at(part.span)}", []).append(part.share)
    ordered = sorted(alike.items(), key=lambda item: -sum(item[1]))
    lines = [
        f"  {100 * sum(each):3.0f}%  {f'{len(each)} x ' if len(each) > 1 else ''}{words}"
        for words, each in ordered[:MOST_SHARES]
    ]
    others = [share for _, each in ordered[MOST_SHARES:] for share in each]
    if others:
        lines.append(f"  {100 * sum(others):3.0f}%  {count(len(others), 'more operation')}")
    return lines

"""What costs a launch most: the cycles that each loop loses, the list of bottlenecks, and one line for each kernel."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .advice_text import say_advice
from .causes import say_cause
from .facts.loops import Loop, every
from .facts.memories import Access
from .model import ASSUMED_TRIPS, Kernel, Ranked, Report
from .phrasing import at

__all__ = ["pace", "ranked", "verdict", "weighed"]

#: an access that uses less of each word than this share is listed
POOR_USE = 0.5


def weighed(loops: tuple[Loop, ...], around: int | None = 1) -> tuple[Loop, ...]:
    """The loops with ``lost`` and ``iterations``; ``around`` is how often a launch enters them, None if unknown."""
    found = []
    for loop in loops:
        trips = loop.trip_count
        total = around * trips if around is not None and trips is not None else None
        children = weighed(loop.children, total if loop.ii else around if loop.gone else total)
        found.append(
            replace(loop, children=children, iterations=total if loop.ii else None, lost=_lost(loop, children))
        )
    return tuple(found)


def _lost(loop: Loop, children: tuple[Loop, ...]) -> float | None:
    """Cycles that an iteration takes longer than with II 1. What inner loops lose does not count again: a loop with
    inner loops loses what its own recurrences and serial regions add to their pace."""
    if not loop.ii:
        return None
    own = loop.ii / loop.interleaving - 1
    if loop.paced is None:
        return own
    inner = max((_issues(child) for child in children), default=1)
    return max(0.0, max(loop.ii / loop.interleaving, loop.paced) - max(1, inner))


def _issues(loop: Loop) -> float:
    """Cycles in which an invocation of the loop issues its iterations."""
    if not loop.ii or loop.trip_count is None:
        return 1
    inner = max((_issues(child) for child in loop.children), default=1)
    return loop.trip_count * max(loop.ii / loop.interleaving, inner)


def verdict(kernel: Kernel, report: Report) -> str:
    """One line: the loops of a kernel, the slowest of them, and its area."""
    whole, counters = kernel.resources.logic, kernel.counters.logic
    cells = report.logic_cell
    area = f"{whole:,} {cells} with counters, {whole - counters:,} without" if counters else f"{whole:,} {cells}"
    return f"{pace(kernel)}; {area}"


def pace(kernel: Kernel) -> str:
    """One line: the loops of a kernel, and the slowest of them."""
    loops = [loop for loop in every(kernel.loops) if loop.ii]
    words = [_loops(loops)]
    slow = [loop for loop in loops if loop.lost or loop.serial or loop.ii > 1]
    if slow:
        slowest = max(slow, key=_weight)
        turns = f", {slowest.interleaving} interleaved" if slowest.interleaving > 1 else ""
        words.append(f"slowest: {slowest.label or slowest.kind}{at(slowest.span)} II {slowest.ii}{turns}")
    copies = f" ({kernel.copies.count} copies)" if kernel.copies else ""
    return f"{kernel.name}{copies}: {'; '.join(words)}"


def _loops(loops: list[Loop]) -> str:
    if not loops:
        return "no loops"
    pipelined = sum(loop.verdict == "pipelined" for loop in loops)
    count = f"{len(loops)} loop{'s' if len(loops) > 1 else ''}"
    every_one = "pipelined" if len(loops) == 1 else "all pipelined"
    return f"{count}, {every_one if pipelined == len(loops) else f'{pipelined} pipelined'}"


def ranked(report: Report) -> tuple[Ranked, ...]:
    """The loops that lose cycles and the accesses that waste bandwidth, the costliest first."""
    found = []
    for kernel in report.kernels:
        depth = {loop.id: level for level, loop in _nested(kernel.loops, 0)}
        for loop in every(kernel.loops):
            if loop.ii and (loop.lost or loop.serial):
                found.append((_weight(loop), depth[loop.id], _of_loop(kernel, loop)))
        by_id = {loop.id: loop for loop in every(kernel.loops)}
        for access in kernel.accesses:
            if access.efficiency is not None and access.efficiency < POOR_USE and access.pattern != "single":
                entry = _of_access(kernel, access, by_id.get(access.loop or ""))
                found.append((entry[0], depth.get(access.loop or "", 0), entry[1]))
    return tuple(entry for *_, entry in sorted(found, key=lambda one: (-one[0], -one[1])))


def _nested(loops: Iterable[Loop], level: int) -> Iterator[tuple[int, Loop]]:
    for loop in loops:
        yield level, loop
        yield from _nested(loop.children, level + 1)


def _weight(loop: Loop) -> float:
    """Cycles that a launch loses in the loop, with assumed trip counts where they are unknown."""
    return (loop.lost or 0) * (loop.iterations if loop.iterations is not None else ASSUMED_TRIPS)


def _of_loop(kernel: Kernel, loop: Loop) -> Ranked:
    cause = loop.bottleneck or (loop.serial[0].cause if loop.serial else None)
    name = "work-items" if loop.work_items else f"loop {loop.label}".rstrip()
    serial = "" if loop.bottleneck or not loop.serial else ", a serial region"
    why = f" due to {say_cause(cause)}" if cause is not None else ""
    cycles = loop.lost * loop.iterations if loop.lost is not None and loop.iterations is not None else None
    return Ranked(
        kernel=kernel.name,
        category=loop.category or "serial region",
        sentence=f"{name}{at(loop.span)}: II {loop.ii}{serial}{why}",
        span=loop.span,
        loop=loop.id,
        lost=loop.lost or 0.0,
        cycles=cycles,
        help=say_advice(loop.would_be[:1], loop),
    )


def _of_access(kernel: Kernel, access: Access, loop: Loop | None) -> tuple[float, Ranked]:
    """(cycles to sort by, entry). An access loses what its unused bytes take on a bus of one word a cycle."""
    efficiency = access.efficiency or 1.0
    lost = max(0.0, (access.bytes / efficiency - access.bytes) / (access.word_bytes or 1))
    trips = loop.iterations if loop is not None else 1
    sentence = (
        f"{access.kind} of {access.expression or access.buffer}{at(access.span)} uses {access.used} of every "
        f"{access.word_bytes} bytes moved, {100 * efficiency:.0f} % of the bandwidth"
    )
    cycles = lost * trips if trips is not None else None
    entry = Ranked(kernel.name, "bandwidth", sentence, access.span, access=access.id, lost=lost, cycles=cycles)
    return lost * (trips if trips is not None else ASSUMED_TRIPS), entry

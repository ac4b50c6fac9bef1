"""Warnings of what makes a kernel slower or larger than its source needs it to be, each with its cost and the change
that removes it. They are derived from the kernel's own report."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..diag import Code, Diagnostic
from ..sentence import enumerated
from .advice_text import say_advice
from .causes import say_cause
from .facts.loops import CATEGORIES, Loop, Part, every
from .facts.memories import Access
from .model import Kernel
from .phrasing import at
from .ranking import POOR_USE

__all__ = ["performance_warnings", "told_once"]

#: from this factor on, an interval between iterations is reported
LONG = 2
#: opcodes of divisions; those by constants have become multiplications
_DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})
#: what to do about a loop for which no tried change helps, by its category
_IN_GENERAL = {
    "loop-carried dependence": "compute less between the read of the variable and its update, or let the loop around "
    "this one start several invocations, which interleave",
    "outermost loop-carried dependence": "compute less between the read of the variable and its update, or, if that is "
    "a sum, product, minimum or maximum, update several partial results in turn and combine them after the loop",
    "memory dependence": "access different elements in different iterations, or keep the element in a variable",
    "channel order": "make all calls of the channel in one loop, or use a channel for each; a loop that only tries a "
    "call again is not needed where the call waits (read_channel_intel, write_channel_intel, a pipe with the attribute "
    "blocking)",
    "exit condition": "compute the bound before the loop, and compare a counter with it",
    "port": "access the memory less often in an iteration, or use several arrays",
}


def performance_warnings(kernel: Kernel, logic_cell: str) -> tuple[Diagnostic, ...]:
    """The warnings of one kernel, in the order of its loops, accesses and operators."""
    loops = {loop.id: loop for loop in every(kernel.loops)}
    found = [
        *(one for loop in loops.values() for one in _of_loop(loop, loop in kernel.loops)),
        *(one for access in kernel.accesses for one in _of_bandwidth(access)),
        *_of_acknowledgements(kernel, loops),
        *_of_dividers(kernel, loops, logic_cell),
    ]
    return tuple(dict.fromkeys(found))


def _name(loop: Loop) -> str:
    return "loop over work-items" if loop.work_items else f"loop {loop.label}".rstrip()


def _hint(loop: Loop, outermost: bool) -> str:
    """The first change that was found to help, with its figures; else what helps in general."""
    category = _category(loop)
    in_general = outermost and _IN_GENERAL.get(f"outermost {category}") or _IN_GENERAL.get(category, "")
    words = say_advice(loop.would_be[:1], loop) or _late_operand(loop) or in_general
    return words[:1].lower() + words[1:]


def _late_operand(loop: Loop) -> str:
    """What to do about an exit condition that waits for a channel or for memory; empty for other causes."""
    if loop.bottleneck is None or loop.bottleneck.kind != "condition":
        return ""
    for share in loop.bottleneck.shares:
        if share.part is Part.CALL and share.opcode == "channel_read":
            return (
                f"the condition depends on the read of channel {share.subject}, and channel reads are not speculative: "
                "send the number of values first, and compare a counter with it"
            )
        if share.part is Part.ROUND_TRIP:
            return (
                f"the condition depends on the load of {share.subject}: compute the bound before the loop, and compare "
                "a counter with it"
            )
    return ""


def _category(loop: Loop) -> str:
    """The kind of dependence that limits the loop, also where a serial region does."""
    if loop.category != "serial region":
        return loop.category
    return CATEGORIES[loop.serial[0].cause.kind]


def _of_loop(loop: Loop, outermost: bool) -> Iterator[Diagnostic]:
    if not loop.ii or loop.category == "request" or loop.iterations == 1:
        return
    if loop.serial:
        yield from _of_serial_regions(loop, outermost)
        return
    inner = any(child.ii for child in every(loop.children))
    if loop.bottleneck is None or (inner and loop.paced is None) or _slowdown(loop) < LONG:
        return
    yield Diagnostic(
        f"{_name(loop)} starts an iteration {_every(loop)}: {say_cause(loop.bottleneck)}",
        loop.span,
        _hint(loop, outermost),
        "warning",
        code=Code.LONG_II,
    )


def _every(loop: Loop) -> str:
    """The interval between two iterations."""
    interval = max(loop.ii / loop.interleaving, loop.paced or 0)
    cycles = f"{interval:,.0f}" if interval == int(interval) else f"{interval:,.1f}"
    return f"after at most {cycles} cycles" if loop.at_most else f"every {cycles} cycles"


def _slowdown(loop: Loop) -> float:
    """The factor by which the loop is slower than one that loses no cycle."""
    interval = max(loop.ii / loop.interleaving, loop.paced or 0)
    return interval / max(1.0, interval - (loop.lost or 0.0))


def _of_serial_regions(loop: Loop, outermost: bool) -> Iterator[Diagnostic]:
    if loop.paced is not None and (loop.lost or 0) < 1:
        return
    by_label = {child.label: child for child in every(loop.children)}
    for region in loop.serial:
        names = enumerated(f"loop {label}".rstrip() + at(span) for label, span in region.loops)
        inner = [by_label.get(label) for label, _ in region.loops]
        yield Diagnostic(
            f"serial region: one iteration of {_name(loop)} at a time executes {names}, due to "
            f"{say_cause(region.cause)}; {_cost(loop, inner)}",
            loop.span,
            _hint(loop, outermost),
            "warning",
            code=Code.SERIAL_REGION,
        )


def _cost(loop: Loop, inner: list[Loop | None]) -> str:
    """The interval between iterations of a loop with a serial region, against that without."""
    if loop.paced is not None:
        free = max(1, max(loop.ii / loop.interleaving, loop.paced) - (loop.lost or 0))
        return f"an iteration starts {_every(loop)} instead of every {free:,.0f}"
    factors = " + ".join(f"{one.ii} x iterations of loop {one.label}".rstrip() for one in inner if one is not None)
    return f"an iteration starts every {loop.ii:,} cycles or more: its own II, and {factors or 'the time of the loop'}"


def told_once(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels, of which parts and copies of one do not repeat each other's messages."""
    told: defaultdict[str, set[Diagnostic]] = defaultdict(set)
    found = []
    for kernel in kernels:
        known = told[kernel.part_of or kernel.name]
        found.append(replace(kernel, messages=tuple(one for one in kernel.messages if one not in known)))
        known.update(kernel.messages)
    return tuple(found)


def _of_bandwidth(access: Access) -> Iterator[Diagnostic]:
    efficiency = access.efficiency
    if efficiency is None or efficiency >= POOR_USE or access.pattern == "single":
        return
    yield Diagnostic(
        f"{access.kind} of {access.expression or access.buffer} uses {access.used} of every {access.word_bytes} bytes "
        f"moved, {100 * efficiency:.0f} % of the bandwidth: its addresses are {abs(access.stride or 0):,} bytes apart",
        access.span,
        "let neighbouring iterations access neighbouring elements (exchange loops, or change the layout of the data), "
        "or copy whole rows to local memory first",
        "warning",
        code=Code.BANDWIDTH_WASTED,
    )


def _of_acknowledgements(kernel: Kernel, loops: Mapping[str, Loop]) -> Iterator[Diagnostic]:
    """Stores that are acknowledged only for launches in which buffers overlap."""
    hazards = {one.other for loop in loops.values() for one in loop.conflicts}
    for store in kernel.accesses:
        waits = [(other, one) for other in kernel.accesses for one in other.waits_for if one.access == store.id]
        if store.kind != "store" or "write-ack" not in store.lsu or store.span in hazards:
            continue
        if not waits or not all(one.only_if_overlap for _, one in waits):
            continue
        others = dict.fromkeys(
            f"{other.kind} of {other.expression or other.buffer}{at(other.span)}" for other, _ in waits
        )
        buffers = dict.fromkeys(other.buffer for other, _ in waits)
        yield Diagnostic(
            f"store to {store.expression or store.buffer} waits until memory acknowledges it in launches in which "
            f"{store.buffer} overlaps {enumerated(buffers, 'or')}, before the {enumerated(others)}",
            store.span,
            f"declare {enumerated((store.buffer, *buffers))} restrict if the host never passes overlapping "
            "buffers: a smaller unit, and no wait",
            "warning",
            code=Code.STORE_ACKNOWLEDGED,
        )


def _of_dividers(kernel: Kernel, loops: Mapping[str, Loop], logic_cell: str) -> Iterator[Diagnostic]:
    whole = kernel.resources.logic
    for one in kernel.operators:
        if one.opcode not in _DIVISIONS or not one.loop:
            continue
        copies = f" ({one.count} copies)" if one.count > 1 else ""
        loop = loops.get(one.loop)
        inside = f" in {_name(loop)}" if loop is not None else ""
        remainder = one.opcode in ("urem", "srem")
        counter = (
            "count up to the divisor and start again (if (++k == n) k = 0) in place of the remainder, or "
            if remainder
            else ""
        )
        yield Diagnostic(
            f"{one.words}{inside}, by a divisor that is not constant: {one.resources.logic:,} {logic_cell}{copies}, "
            f"{100 * one.resources.logic / whole:.0f} % of kernel {kernel.name}",
            one.span,
            f"{counter}make the divisor a constant, best a power of two",
            "warning",
            code=Code.DIVIDER_IN_LOOP,
        )

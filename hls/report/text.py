"""The report as text: a tree of loops with the reason for each initiation interval, accesses, resources, messages."""

import textwrap

from ..diag import Span
from ..narrow import present
from .memory_text import memory_section
from .model import Access, Bottleneck, Channel, Conflict, Kernel, Loop, Network, Path, Private, Report, Resources
from .phrasing import at, reader_of

__all__ = ["render"]

WIDTH = 100
RULE = "=" * WIDTH
#: Parts of a recurrence that are listed individually.
MOST_SHARES = 6


def render(report: Report) -> str:
    """The whole report; lines are kept within 100 columns where names allow."""
    known = any(kernel.span is not None and kernel.span.file == report.source for kernel in report.kernels)
    with reader_of(report.source if known else None):
        return _render(report)


def _render(report: Report) -> str:
    lines = [f"{report.source} for {report.board}, kernel clock {report.clock_mhz:g} MHz"]
    for kernel in report.kernels:
        lines += ["", RULE, *_kernel(kernel, report)]
    if report.channels:
        lines += [
            "",
            RULE,
            "Channels",
            RULE,
            *(line for one in report.channels for line in _wrapped(_channel(one), "  ")),
        ]
    lines += _section("Deadlock analysis", [_network(one) for one in report.networks])
    lines += ["", RULE, "Estimated resources (counted in the Verilog, before synthesis)", RULE]
    lines += _resources(report)
    lines += _messages(report.messages)
    return "\n".join(lines) + "\n"


def _kernel(kernel: Kernel, report: Report) -> list[str]:
    together = f", {kernel.lanes} lanes" if kernel.lanes > 1 else ""
    together += f", {kernel.units} compute units (loops of one unit, resources of all)" if kernel.units > 1 else ""
    kind = f"NDRange kernel{together}" if kernel.ndrange else "single work-item kernel"
    why = f": {kernel.reason}" if kernel.reason else ""
    lines = [f"Kernel {kernel.name}{at(kernel.span)}, {kind}{why}", RULE, "", "Loops"]
    lines += _tree(kernel.loops, report.clock_mhz) or ["  none: a launch is one pass through the pipeline"]
    lines += _section("Global memory", [_access(access) for access in kernel.accesses])
    lines += memory_section(kernel.memories, _wrapped)
    lines += _section(
        "Latency between channels",
        [f"{one.source} to {one.target}: {_count(one.cycles, 'cycle')}" for one in kernel.ways],
    )
    lines += _section("Private arrays and constant tables", [_private(private) for private in kernel.privates])
    return lines + _messages(kernel.messages)


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *(part for line in lines for part in _wrapped(line, "  "))] if lines else []


def _messages(messages) -> list[str]:
    lines = []
    for message in messages:
        place = f"{message.span}: " if message.span else ""
        number = f"[{message.code.number}]" if message.code else ""
        lines.append(f"{place}{message.severity}{number}: {message.message}")
        if message.hint:
            lines.append(f"  hint: {message.hint}")
    return _section("Messages", lines)


def _tree(loops: tuple[Loop, ...], clock_mhz: float, margin: str = "  ") -> list[str]:
    """The loops, each with its findings; inner ones are indented below a bar that connects them to the outer one."""
    lines = []
    for position, loop in enumerate(loops):
        bar = "| " if loop.children else "  "
        lines += _wrapped(f"+ {_headline(loop)}", margin)
        for finding in _findings(loop, clock_mhz):
            lines += _wrapped(finding, margin + bar)
        if loop.children:
            lines += _tree(loop.children, clock_mhz, margin + bar)
        if position + 1 < len(loops):
            lines.append(margin.rstrip())
    return lines


def _wrapped(finding: str, margin: str) -> list[str]:
    inner = margin + " " * (len(finding) - len(finding.lstrip()))
    return textwrap.wrap(finding.lstrip(), WIDTH, initial_indent=inner, subsequent_indent=inner + "  ")


def _headline(loop: Loop) -> str:
    name = "Work-items" if loop.work_items else f"Loop {loop.label}".rstrip()
    copies = f", {loop.copies} copies in parallel" if loop.copies > 1 else ""
    trips = f", {_count(loop.trip_count, 'iteration')}" if loop.trip_count is not None else ""
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
        return f"{ii}paced by the inner loop{every or own}{_unless(loop)}"
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


def _findings(loop: Loop, clock_mhz: float) -> list[str]:
    lines = _unroll(loop)
    if loop.variants:
        alike = (f"{one.count} with II {one.ii}{_in_turn(one)}" for one in loop.variants)
        lines.append(f"The copies differ: {'; '.join(alike)}. The figures are of the slowest copy.")
    if loop.bottleneck:
        lines += _bottleneck(loop.ii, loop.bottleneck)
    for region in loop.serial:
        known = loop.bottleneck is not None and _cause(region.cause) == _cause(loop.bottleneck)
        lines.append(
            f"Serial region: one iteration of this loop at a time executes {_names(region.loops)}."
            if known
            else f"Serial region: one iteration of this loop at a time executes {_names(region.loops)}; cause: "
            f"{_cause(region.cause)}."
        )
    lines += [_additional(other) for other in loop.additional]
    lines += [_conflict(one) for one in loop.conflicts]
    if loop.advice:
        lines.append(f"{loop.advice}.")
    if loop.one_at_a_time:
        lines.append(f"{loop.one_at_a_time[0].upper()}{loop.one_at_a_time[1:]}.")
    if loop.speculative:
        lines.append("Speculative iterations: issued before the exit condition is known, and squashed after the exit.")
    if loop.ii:
        slots = f", {loop.slots} slots" if loop.slots > 1 else ""
        flight = (
            ""
            if _inner(loop) and not loop.limit
            else f"; at most {_count(present(loop.concurrency), 'iteration')} in flight"
        )
        asked = ", as requested in the source" if loop.limit and loop.concurrency == loop.limit else ""
        lines.append(
            f"Latency {_count(loop.latency, 'cycle')} in {_count(loop.levels, 'level')}{slots}{flight}{asked}."
        )
    return lines + _path(loop.path, clock_mhz)


def _in_turn(one) -> str:
    return f" and {one.interleaving} invocations interleaved" if one.interleaving > 1 else ""


def _conflict(one: Conflict) -> str:
    return (
        f"Address conflict: load of {one.memory}{at(one.span)} waits up to {one.cycles:,} cycles if the store"
        f"{at(one.other)} of an earlier iteration to the same address is still in flight."
    )


def _additional(cause: Bottleneck) -> str:
    if cause.kind == "invocations":
        return (
            f"An invocation starts {cause.cycles} cycles after the last iteration of the previous invocation: "
            f"{cause.subject}{at(cause.span)} depends on the access{at(cause.other)} there, which may touch the same "
            "address."
        )
    return f"Additional: {_cause(cause)}."


def _names(loops: tuple[tuple[str, Span | None], ...]) -> str:
    return " and ".join(f"loop {label}".rstrip() + at(span) for label, span in loops)


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
    copies = _count(unroll.factor, "copy", "copies")
    return [f"{'Fully unrolled' if unroll.full else 'Unrolled'} {cause}: {copies} of the body."]


def _cause(bottleneck: Bottleneck) -> str:
    causes = {
        "data": "loop-carried dependence on {subject}{at}{earlier}",
        "memory": "loop-carried memory dependence from the access{other} to {subject}{at}{earlier}, which {touches} "
        "the same address",
        "condition": "late exit condition{at}",
        "resource": "several operations share {subject}{at}",
        "turns": "{subject}{at} of an iteration, which may go to the same address and execute one after the other",
        "request": "requested in the source{at}",
        "concurrency": "the source limits the concurrency to {subject}{at}",
        "ahead": "the source limits the speculative iterations to {subject}{at}",
    }
    distance = bottleneck.distance
    return causes[bottleneck.kind].format(
        subject=bottleneck.subject,
        at=at(bottleneck.span),
        other=at(bottleneck.other),
        touches="touches" if bottleneck.proved else "may touch",
        earlier="" if distance == 1 else f", distance {distance}",
    )


def _bottleneck(ii: int, bottleneck: Bottleneck) -> list[str]:
    length = f"; {bottleneck.cycles}-cycle recurrence" if bottleneck.cycles else ""
    return [f"II {ii}: {_cause(bottleneck)}{length}{':' if bottleneck.shares else '.'}", *_shares(bottleneck.shares)]


def _shares(shares) -> list[str]:
    lines = []
    for part in sorted(shares, key=lambda part: -part.share)[:MOST_SHARES]:
        lines.append(f"  {100 * part.share:3.0f}%  {part.operation}{at(part.span)}")
    others = sorted((part.share for part in shares), reverse=True)[MOST_SHARES:]
    if others:
        lines.append(f"  {100 * sum(others):3.0f}%  {_count(len(others), 'more operation')}")
    return lines


def _access(access: Access) -> str:
    verb = {"load": "load of", "store": "store to", "atomic": "atomic operation on"}[access.kind]
    units = f"{access.count} units, " if access.count > 1 else ""
    where = f" of {access.memory}" if access.memory else ""
    return (
        f"{verb} {access.buffer}{at(access.span)}, {_count(access.bytes, 'byte')}{where}: {units}{access.lsu}, "
        f"{access.reason}"
    )


def _channel(channel: Channel) -> str:
    array = f", {channel.count} channels of the array" if channel.count > 1 else ""
    built = "wires" if channel.depth == 0 else f"{channel.depth} deep in {channel.storage}"
    asked = f" (requested depth {channel.requested})" if channel.reason and channel.requested is not None else ""
    why = f": {channel.reason}" if channel.reason else ""
    return (
        f"{channel.name}{at(channel.span)}{array}: {_count(channel.bits, 'bit')} wide, {built}{asked}{why}; "
        f"from {channel.writer}{at(channel.write_span)} to {channel.reader}{at(channel.read_span)}"
    )


def _network(network: Network) -> str:
    depths = (
        "; use " + ", ".join(f"depth {one.depth} for {one.channel}" for one in network.depths) if network.depths else ""
    )
    places = (
        f" ({', '.join(f'{stop.kernel} at line {stop.span.line}' for stop in network.circle if stop.span)})"
        if network.circle
        else ""
    )
    return f"{', '.join(network.kernels)}: deadlock {network.deadlock}: {network.reason}{places}{depths}"


def _private(private: Private) -> str:
    return f"{private.name}{at(private.span)}, {_count(private.bits, 'bit')}: {private.place}"


def _resources(report: Report) -> list[str]:
    """A table: a row for each kernel, what they share, and the total, with its share of the device if that is known."""
    rows = [(f"kernel {kernel.name}", kernel.resources) for kernel in report.kernels]
    rows += [("interconnect, ports, control", report.shared), ("total", report.resources)]
    label = max(28, *(len(name) for name, _ in rows))
    cells = {"logic": report.logic_cell, "registers": "registers", "rams": "block RAMs", "dsps": "DSP blocks"}
    lines = ["  " + " " * label + "".join(f"{name:>17}" for name in cells.values())]
    for name, used in rows:
        figures = "".join(f"{getattr(used, field):>10,}{_share(used, report.device, field):>7}" for field in cells)
        lines.append(f"  {name:<{label}}{figures}")
    if report.device:
        lines.append(
            f"  {'device':<{label}}" + "".join(f"{getattr(report.device, field):>10,}{'':7}" for field in cells)
        )
    return [line.rstrip() for line in lines]


def _share(used: Resources, device: Resources | None, field: str) -> str:
    total = getattr(device, field) if device else 0
    return f"{100 * getattr(used, field) / total:.1f}%" if total else ""


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"

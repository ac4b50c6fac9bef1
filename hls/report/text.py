"""The report as text: a tree of loops with the reason for each initiation interval, accesses, resources, messages."""

import textwrap

from ..diag import Span
from .model import Access, Bottleneck, Kernel, Loop, Private, Report, Resources

__all__ = ["render"]

WIDTH = 100
RULE = "=" * WIDTH


def render(report: Report) -> str:
    """The whole report; lines are kept within 100 columns where names allow."""
    lines = [f"{report.source} for {report.board}, kernel clock {report.clock_mhz:g} MHz"]
    for kernel in report.kernels:
        lines += ["", RULE, *_kernel(kernel, report)]
    lines += ["", RULE, "Estimated resources of the whole system"]
    lines += [f"  {line}" for line in _resources(report.resources, report)]
    lines += _messages(report.messages)
    return "\n".join(lines) + "\n"


def _kernel(kernel: Kernel, report: Report) -> list[str]:
    kind = "work-items of an NDRange" if kernel.ndrange else "a single work-item"
    lines = [f"Kernel {kernel.name}{_at(kernel.span)}: {kind}", RULE, "", "Loops"]
    lines += _tree(kernel.loops) or ["  none: each launch takes one pass through the pipeline"]
    lines += _section("Global memory", [_access(access) for access in kernel.accesses])
    lines += _section("Private arrays and tables", [_private(private) for private in kernel.privates])
    lines += _section("Estimated resources", _resources(kernel.resources, report))
    return lines + _messages(kernel.messages)


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _messages(messages) -> list[str]:
    lines = []
    for message in messages:
        place = f"{message.span}: " if message.span else ""
        lines.append(f"{place}{message.severity}: {message.message}")
        if message.hint:
            lines.append(f"  hint: {message.hint}")
    return _section("Messages", lines)


def _tree(loops: tuple[Loop, ...], margin: str = "  ") -> list[str]:
    """The loops, each with its findings, inner ones indented under a bar that leads back to the outer one."""
    lines = []
    for position, loop in enumerate(loops):
        bar = "| " if loop.children else "  "
        lines += _wrapped(f"+ {_headline(loop)}", margin)
        for finding in _findings(loop):
            lines += _wrapped(finding, margin + bar)
        if loop.children:
            lines += _tree(loop.children, margin + bar)
        if position + 1 < len(loops):
            lines.append(margin.rstrip())
    return lines


def _wrapped(finding: str, margin: str) -> list[str]:
    inner = margin + " " * (len(finding) - len(finding.lstrip()))
    return textwrap.wrap(finding.lstrip(), WIDTH, initial_indent=inner, subsequent_indent=inner + "  ")


def _headline(loop: Loop) -> str:
    name = "Work-items" if loop.work_items else f"Loop {loop.label}"
    trips = f", {loop.trip_count} iterations" if loop.trip_count is not None else ""
    return f"{name}{_at(loop.span)}{trips}: {_rate(loop)}"


def _rate(loop: Loop) -> str:
    if not loop.ii:
        return "fully unrolled"
    if loop.ii == 1:
        return "pipelined well, an iteration starts every cycle"
    if loop.interleaving == 1:
        return f"pipelined, an iteration starts every {loop.ii} cycles"
    rate = "cycle" if loop.interleaving == loop.ii else f"{loop.scheduled_ii:.3g} cycles"
    return f"pipelined, II {loop.ii}, {loop.interleaving} invocations take turns: an iteration every {rate}"


def _findings(loop: Loop) -> list[str]:
    lines = _unroll(loop)
    if loop.ii:
        slots = f", {loop.slots} slots" if loop.slots > 1 else ""
        lines.append(f"Latency {_count(loop.latency, 'cycle')} in {_count(loop.levels, 'level')}{slots}; "
                     f"at most {_count(loop.concurrency, 'iteration')} in flight at full rate.")
    if loop.bottleneck:
        lines += _bottleneck(loop.bottleneck)
    if loop.one_at_a_time:
        lines.append(f"Invocations run one at a time: {loop.one_at_a_time}.")
    return lines


def _unroll(loop: Loop) -> list[str]:
    unroll = loop.unroll
    if unroll is None:
        return []
    if unroll.factor is None:
        return [f"Unrolling was asked for but not done: {unroll.reason}."]
    cause = "by #pragma unroll" if unroll.reason == "pragma" else "by the compiler (#pragma unroll 1 prevents it)"
    copies = _count(unroll.factor, "copy", "copies")
    return [f"{'Fully unrolled' if unroll.full else 'Unrolled'} {cause}: {copies} of the body."]


def _bottleneck(bottleneck: Bottleneck) -> list[str]:
    causes = {
        "data": "{subject}{at} needs its own value of {earlier}",
        "memory": "{subject}{at} has to wait for the access{other} of {earlier}, which may touch the same address",
        "condition": "whether another iteration follows is known late{at}",
        "resource": "{subject} is shared by several operations{at}",
        "request": "the source asks for this interval{at}",
    }
    distance = bottleneck.distance
    cause = causes[bottleneck.kind].format(
        subject=bottleneck.subject, at=_at(bottleneck.span), other=_at(bottleneck.other),
        earlier="the iteration before" if distance == 1 else f"{distance} iterations before",
    )
    length = f", a chain of {_count(bottleneck.cycles, 'cycle')}" if bottleneck.cycles else ""
    lines = [f"Limited because {cause}{length}."]
    if bottleneck.shares:
        lines.append("Largest parts of that chain:")
    for part in sorted(bottleneck.shares, key=lambda part: -part.share):
        lines.append(f"  {100 * part.share:3.0f}%  {part.operation}{_at(part.span)}")
    return lines


def _access(access: Access) -> str:
    return f"{access.kind} of {access.buffer}{_at(access.span)}, {_count(access.bytes, 'byte')}: {access.lsu}, {access.reason}"


def _private(private: Private) -> str:
    return f"{private.name}{_at(private.span)}, {_count(private.bits, 'bit')}: {private.place}"


def _resources(resources: Resources, report: Report) -> list[str]:
    names = {"logic": report.logic_cell, "registers": "registers", "rams": "block RAMs", "dsps": "DSP blocks"}
    lines = []
    for field, name in names.items():
        used = getattr(resources, field)
        total = getattr(report.device, field) if report.device else 0
        share = f"  {100 * used / total:5.1f}% of {total:,}" if total else ""
        lines.append(f"{name:<12}{used:>10,}{share}")
    return lines


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _at(span: Span | None) -> str:
    return f" (line {span.line})" if span else ""

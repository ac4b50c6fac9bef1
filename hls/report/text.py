"""The report as text: a tree of loops with the reason for each initiation interval, accesses, resources, messages."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ..diag import Diagnostic
from .accesses import CONSTANT_STRIDE, OWN_CACHE_FLUSH
from .area_text import area_section, fits
from .channel_text import say_channels, say_network, say_ways
from .layout import RULE, count, wrapped
from .loop_text import loop_tree
from .memory_text import memory_lines
from .model import Access, BufferCopy, Kernel, LaunchPrediction, Operator, Private, Ranked, Report
from .phrasing import at, reader_of

__all__ = ["LEGEND", "render", "verdicts"]

#: bottlenecks that the brief form lists
MOST_BRIEF = 5
#: arithmetic parts that are listed: at most so many, each with at least this share of the kernel's logic
MOST_PARTS, LARGE_PART = 5, 0.05


#: words that the report uses with a meaning of their own
LEGEND = (
    "II: cycles between the starts of two iterations of one invocation of a loop; 1 is best.",
    "Interleaving: iterations of several invocations are issued in turn, so that a long II costs nothing.",
    "Pipelined: an iteration starts before the one before has ended. Serial region: only one at a time is inside.",
    "Level: a part of the pipeline that never stalls inside; memory, channels and inner loops stand between levels.",
    "Slot: room for one invocation of a loop. In flight: started and not yet ended.",
    "Stall-free: never waits. Banked: independent parts with ports of their own. Replicated: equal copies.",
)


def render(report: Report, brief: bool = False) -> str:
    """The report; lines are kept within 100 columns where names allow. ``brief``: only verdict and bottlenecks."""
    known = any(kernel.span is not None and kernel.span.file == report.source for kernel in report.kernels)
    with reader_of(report.source if known else None):
        lines = [
            f"{report.source} for {report.board}, kernel clock {report.clock_mhz:g} MHz",
            *_first(report, MOST_BRIEF if brief else None),
        ]
        return "\n".join([*lines, *(_counted(report) if brief else _details(report))]) + "\n"


def verdicts(report: Report) -> list[str]:
    """The first lines of both forms: a line for each kernel, and how much of the device the design takes."""
    return [*(f"kernel {kernel.verdict}" for kernel in report.kernels if kernel.verdict), *fits(report)]


def _first(report: Report, most: int | None) -> list[str]:
    lines = [part for line in verdicts(report) for part in wrapped(line, "")]
    shown = report.bottlenecks[:most]
    entries = [f"{number}. {_ranked(one)}" for number, one in enumerate(shown, 1)]
    more = len(report.bottlenecks) - len(shown)
    if more:
        entries.append(f"{more} more in report.txt")
    if len(report.bottlenecks) > 1 and any(one.cycles is None for one in shown):
        entries.append(
            f"Where the trip count is known only at run time, the order assumes {report.assumed_trips:,} iterations."
        )
    return lines + _section("Bottlenecks", entries)


def _ranked(one: Ranked) -> str:
    if one.cycles:
        lost = f" ({count(round(one.cycles), 'cycle')} lost in a launch)"
    else:
        cycles = "cycle" if one.lost == 1 else "cycles"
        lost = f" ({one.lost:.3g} {cycles} lost in each iteration)" if one.lost else ""
    helps = f"; {one.help[0].lower()}{one.help[1:]}" if one.help else ""
    return f"{one.kernel}: {one.sentence}{helps}{lost}"


def _details(report: Report) -> list[str]:
    seen: dict[tuple, str] = {}
    lines = [line for kernel in report.kernels for line in ("", RULE, *_kernel(kernel, report, seen))]
    if report.channels:
        channels = (line for one in say_channels(report.channels) for line in wrapped(one, "  "))
        lines += ["", RULE, "Channels", RULE, *channels]
    lines += _section("Deadlock analysis", [say_network(one, report.kernels) for one in report.networks])
    lines += ["", RULE, "Estimated resources (counted in the Verilog, before synthesis)", RULE]
    lines += area_section(report)
    lines += _messages(_messages_of(report))
    return lines + _section("Legend", list(LEGEND))


def _kernel(kernel: Kernel, report: Report, seen: dict[tuple, str]) -> list[str]:
    """``seen`` has the kernel that a section was written for first: others of the same source do not repeat it."""
    together = f", {kernel.lanes} lanes" if kernel.lanes > 1 else ""
    together += f", {kernel.units} compute units (loops of one unit, resources of all)" if kernel.units > 1 else ""
    kind = f"NDRange kernel{together}" if kernel.ndrange else "single work-item kernel"
    why = f": {kernel.reason}" if kernel.reason else ""
    if kernel.loads_for:
        kind, why = f"memory part of kernel {kernel.loads_for}", ": loads ahead of it, and starts and ends with it"
    else:
        kind = "; ".join([*_parts(kernel, report), kind])
    lines = [f"Kernel {kernel.name}{at(kernel.span)}, {kind}{why}"]
    if kernel.copies:
        names = f"{kernel.copies.names[1]} to {kernel.copies.names[-1]}"
        differs = "; ".join(kernel.copies.differs)
        lines += wrapped(f"{kernel.copies.count} copies (also {names}; resources of all); they differ: {differs}", "")
    lines += [*_target(kernel), *_work_groups(kernel)]
    lines += wrapped(say_launches(kernel.predicted), "") if kernel.predicted else []
    lines.append(RULE)
    written: list[str] = []
    alike: dict[str, list[str]] = {}
    for title, (facts, text) in _sections(kernel, report).items():
        first = seen.setdefault((kernel.span, title, *facts), kernel.name) if text else kernel.name
        if first != kernel.name:
            alike.setdefault(first, []).append(title.lower() if alike.get(first) else title)
        elif text:
            written += ["", title, *text]
    for first, titles in alike.items():
        each = ", in each copy" if kernel.copies or _copied(first, report) else ""
        lines += ["", *wrapped(f"{', '.join(titles)}: as in kernel {first}{each}", "")]
    return lines + written


def _parts(kernel: Kernel, report: Report) -> list[str]:
    """What the kernel is a copy or a compute part of, if it is one."""
    memory = {one.loads_for: one.name for one in report.kernels if one.loads_for}
    found = []
    if kernel.shares > 1:
        copies = [name for name in kernel.parts if name not in memory.values()]
        which = f"a copy of kernel {kernel.part_of}" if kernel.part_of else f"with copies {', '.join(copies)}"
        found.append(f"{which}: the {kernel.shares} share the iterations of the outermost loop")
    if kernel.name in memory:
        found.append(f"compute part, with {memory[kernel.name]} as memory part")
    return found


def _copied(name: str, report: Report) -> bool:
    return any(one.name == name and one.copies for one in report.kernels)


def _sections(kernel: Kernel, report: Report) -> dict[str, tuple[Sequence[object], list[str]]]:
    """By title, what a section says (compared between kernels of one source), and its lines; no lines: no section."""
    clock_mhz = kernel.target_mhz or report.clock_mhz
    variables = [f"{one.name}{at(one.span)}, {count(one.bits, 'bit')}{_slots(one.depth)}" for one in kernel.variables]
    large, copies = _large_operators(kernel), kernel.copies.count if kernel.copies else 1
    texts = {
        "Loops": loop_tree(kernel.loops, clock_mhz) or ["  none: a launch is one pass through the pipeline"],
        "Global memory": _lines(_access(access, kernel, clock_mhz) for access in kernel.accesses),
        "Buffers that the kernel waits for": _lines(_buffer_copy(one) for one in kernel.buffer_copies),
        "Memory inside the kernel": memory_lines(kernel.memories, wrapped),
        "Latency between channels": _lines(say_ways(kernel.ways)),
        "Private arrays and constant tables": _lines(_private(private) for private in kernel.privates),
        "Variables that loops carry": _lines(["; ".join(dict.fromkeys(variables))] if variables else []),
    }
    sections: dict[str, tuple[Sequence[object], list[str]]] = {title: (text, text) for title, text in texts.items()}
    parts = [(one.words, one.span, one.count / copies, one.resources.logic / copies) for one in large]
    sections["Largest arithmetic parts"] = (parts, _lines(_operator(one, kernel, report.logic_cell) for one in large))
    return sections


def say_launches(one: LaunchPrediction) -> str:
    """What the performance model says of a kernel's launches."""
    launches = "launch" if one.launches == 1 else f"{one.launches:,} launches"
    around = f" ({one.least:,.0f} to {one.most:,.0f})" if one.most > one.least else ""
    assumed = "".join(f"; assumed: {text}" for text in one.assumed)
    return f"Predicted {launches}: {one.cycles:,.0f} cycles{around}{assumed}"


def _target(kernel: Kernel) -> list[str]:
    """The clock that the kernel is scheduled for, where the source names one."""
    if kernel.target_mhz is None:
        return []
    return wrapped(f"Scheduled for {kernel.target_mhz:g} MHz (scheduler_target_fmax_mhz)", "")


def _work_groups(kernel: Kernel) -> list[str]:
    """The index spaces that the kernel can be launched with."""
    if not kernel.ndrange:
        return []
    if kernel.required_size:
        size = " x ".join(map(str, kernel.required_size))
    elif kernel.most_work_items:
        size = f"any of at most {kernel.most_work_items:,} work-items"
    else:
        size = "any, as no operation depends on it"
    dims = f"; {count(kernel.max_dims, 'dimension')} at most" if kernel.max_dims is not None else ""
    return wrapped(f"Work-group size: {size}{dims}", "")


def _large_operators(kernel: Kernel) -> list[Operator]:
    """The arithmetic parts that take most of a kernel's logic."""
    whole = kernel.resources.logic or 1
    return [one for one in kernel.operators if one.resources.logic >= LARGE_PART * whole][:MOST_PARTS]


def _operator(one: Operator, kernel: Kernel, cells: str) -> str:
    parts = f", {one.count} parts" if one.count > 1 else ""
    share = 100 * one.resources.logic / (kernel.resources.logic or 1)
    return f"{one.words}{at(one.span)}{parts}: {one.resources.logic:,} {cells}, {share:.0f} % of the kernel"


def _messages_of(report: Report) -> list[Diagnostic]:
    return [*report.messages, *(one for kernel in report.kernels for one in kernel.messages)]


def _counted(report: Report) -> list[str]:
    """How many warnings the full form has, by number."""
    numbers = Counter(one.code.number for one in _messages_of(report) if one.severity == "warning" and one.code)
    if not numbers:
        return []
    kinds = ", ".join(f"{many} x {number}" for number, many in sorted(numbers.items()))
    return ["", *wrapped(f"{count(numbers.total(), 'warning')}, in report.txt: {kinds}", "")]


def _slots(depth: int) -> str:
    return f" x {depth} slots" if depth > 1 else ""


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *_lines(lines)] if lines else []


def _lines(findings: Iterable[str]) -> list[str]:
    return [part for finding in findings for part in wrapped(finding, "  ")]


def _messages(messages) -> list[str]:
    lines = []
    for message in messages:
        place = f"{message.span}: " if message.span else ""
        number = f"[{message.code.number}]" if message.code else ""
        lines.append(f"{place}{message.severity}{number}: {message.message}")
        if message.hint:
            lines.append(f"  hint: {message.hint}")
    return _section("Warnings and notes", lines)


def _is_slow(access: Access, clock_mhz: float) -> bool:
    return access.fmax_mhz is not None and access.fmax_mhz < clock_mhz


def _access(access: Access, kernel: Kernel, clock_mhz: float) -> str:
    verb = {"load": "load of", "store": "store to", "atomic": "atomic operation on"}[access.kind]
    units = f"{access.count} units, " if access.count > 1 else ""
    where = f" of {access.memory}" if access.memory else ""
    early = "; made early, before it is known whether the program makes it" if access.early else ""
    slow = f"; the unit limits the clock to about {access.fmax_mhz:g} MHz" if _is_slow(access, clock_mhz) else ""
    return (
        f"{verb} {access.expression or access.buffer}{at(access.span)}, {count(access.bytes, 'byte')}{where}: {units}"
        f"{access.lsu}, {access.reason}{early}{_use(access)}{_waiting(access, kernel)}{slow}"
    )


def _use(access: Access) -> str:
    """How well the access uses memory words, and its cache."""
    found = ""
    if access.efficiency is not None:
        found = f"; {access.pattern}{_words(access)}; expected efficiency {100 * access.efficiency:.0f} %"
    elif access.cache_bytes and access.stride:
        found = f"; {access.pattern}"
    elif access.pattern == CONSTANT_STRIDE:
        found = "; constant stride, known only at run time"
    if access.cache_bytes:
        found += f"; cache of {access.cache_bytes:,} bytes, emptied {access.flush}"
        if access.flush == OWN_CACHE_FLUSH:
            found += " (its hits are in the profile; volatile builds none)"
    return found


def _words(access: Access) -> str:
    """How many accesses a memory word serves, or how much of it one uses."""
    if (access.efficiency or 0) < 1:
        return f": {access.used} of {access.word_bytes} bytes of a word used"
    if access.pattern != "consecutive" or access.bytes >= access.word_bytes:
        return ""
    verb = "fill" if access.kind == "store" else "share"
    return f": {count(access.word_bytes // access.bytes, access.kind)} {verb} a word of {access.word_bytes} bytes"


def _waiting(access: Access, kernel: Kernel) -> str:
    """What waits for a store only because buffers may overlap."""
    waits = [(other, one) for other in kernel.accesses for one in other.waits_for if one.access == access.id]
    if access.kind != "store" or not waits or not all(one.only_if_overlap for _, one in waits):
        return ""
    names = ", ".join(dict.fromkeys(f"{other.kind} of {other.expression or other.buffer}" for other, _ in waits))
    return f"; waits for this store only in launches in which buffers overlap: {names} (restrict on both excludes it)"


def _buffer_copy(one: BufferCopy) -> str:
    if not one.most_bytes:
        return f"{one.name}{at(one.span)}: not copied to the chip: {one.why}"
    return (
        f"{one.name}{at(one.span)}: copied to the chip, and what was stored back, in launches in which none of the "
        f"copied buffers has more than {one.most_bytes:,} bytes (--copy-bytes)"
    )


def _private(private: Private) -> str:
    return f"{private.name}{at(private.span)}, {count(private.bits, 'bit')}: {private.place}"

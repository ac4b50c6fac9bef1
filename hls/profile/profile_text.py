"""A profile as text: verdicts first, then where the cycles went, then what memory and channels did."""

from collections.abc import Sequence

from rich.table import Table

from . import model
from .text import at_line, burst_of, line_of, number, percent, table, tables_text

__all__ = ["render_profile"]

#: accounts and launches that are shown of each kernel
MOST_ACCOUNTS, MOST_KERNELS = 5, 12


def render_profile(profile: model.Profile, launches: Sequence[model.Launch] | None = None, width: int = 124) -> str:
    """The profile in a page of text; ``launches`` are those whose accesses and channels are shown (default: the longest
    of each kernel)."""
    worst = {kernel.worst for kernel in profile.kernels}
    shown = [one for one in profile.launches if one.number in worst] if launches is None else list(launches)
    head = f"{len(profile.launches)} launches and captures on {profile.board}, {profile.clock_mhz:g} MHz"
    kernels = sorted(profile.kernels, key=lambda one: -one.cycles)
    parts = [head, *(_verdict(kernel) for kernel in kernels[:MOST_KERNELS])]
    if len(kernels) > MOST_KERNELS:
        parts.append(f"and {len(kernels) - MOST_KERNELS} kernels with fewer cycles: see profile.json")
    tables = [_kernels(kernels[:MOST_KERNELS]), _accounts(kernels[:MOST_KERNELS]), _accesses(shown)]
    tables += [_banks(shown), _channels(shown), _depths(profile.depths)]
    return "\n".join(parts) + "\n\n" + tables_text(tables, width)


def _verdict(kernel: model.Kernel) -> str:
    return "\n".join([f"- {kernel.verdict.sentence}", *(f"    {remedy}" for remedy in kernel.verdict.remedies[:1])])


def _kernels(kernels: Sequence[model.Kernel]) -> Table:
    found = table("Kernels", "<kernel", "launches", "cycles", "mean", "worst", "launch", "<verdict")
    for one in kernels:
        found.add_row(
            f"{one.name}{' (autorun)' if one.autorun else ''}",
            f"{one.launches:,}",
            f"{one.cycles:,}",
            f"{one.mean:,.0f}",
            f"{one.most:,}",
            str(one.worst),
            one.verdict.rule,
        )
    return found


def _accounts(kernels: Sequence[model.Kernel]) -> Table:
    """The largest accounts of each kernel; what remains is one row, so that the rows of a kernel sum to its cycles."""
    found = table("Cycle accounts", "<kernel", "cycles", "share", "<account", "line")
    for kernel in kernels:
        shown = kernel.accounts[:MOST_ACCOUNTS]
        rows = [(one.cycles, one.cause, line_of(one.line)) for one in shown]
        rest = kernel.cycles - sum(one.cycles for one in shown)
        rows += [(rest, f"{len(kernel.accounts) - len(shown)} other accounts", "-")] if rest else []
        for k, (cycles, cause, line) in enumerate(rows):
            share = percent(cycles / kernel.cycles if kernel.cycles else None)
            found.add_row("" if k else kernel.name, f"{cycles:,}", share, cause, line)
    return found


def _accesses(launches: Sequence[model.Launch]) -> Table:
    found = table(
        "Global memory, in the longest launch of each kernel",
        "line",
        "<access",
        "<unit",
        "occupancy",
        "activity",
        "stall",
        "GB/s",
        "of peak",
        "efficiency",
        "burst",
        "<held up by",
    )
    for launch in launches:
        for one in launch.accesses:
            found.add_row(
                line_of(one.line),
                f"{launch.kernel}: {one.kind} {one.buffer}",
                one.unit,
                percent(one.occupancy),
                percent(one.activity),
                percent(one.stall),
                number(one.bytes_per_ns),
                percent(one.bandwidth),
                percent(one.efficiency),
                burst_of(one.average_burst, one.max_burst),
                _held_by(launch, one.id),
            )
    return found


def _banks(launches: Sequence[model.Launch]) -> Table:
    found = table(
        "Memory banks meanwhile, other kernels included",
        "<kernel",
        "<bank",
        "busy",
        "MB read",
        "MB written",
        "rows opened",
        "turnarounds",
        "refreshes",
    )
    for launch in launches:
        for one in launch.banks:
            if one.reads or one.writes:
                found.add_row(
                    launch.kernel,
                    f"{one.memory} {one.number}",
                    percent(one.busy),
                    number(one.bytes_read / 1e6),
                    number(one.bytes_written / 1e6),
                    f"{one.activates:,}",
                    f"{one.turnarounds:,}",
                    f"{one.refreshes:,}",
                )
    return found


def _held_by(launch: model.Launch, id: str) -> str:
    """What the cycles in which an operation is held up are attributed to, mostly."""
    most = max((one for one in launch.held if one.id == id), key=lambda one: one.cycles, default=None)
    if most is None or most.cycles < launch.cycles / 100:
        return "-"
    return f"{most.cause}{at_line(most.cause_line)}"


def _channels(launches: Sequence[model.Launch]) -> Table:
    found = table(
        "Channels", "line", "<channel", "<this kernel", "values", "depth", "mean", "max.", "read stall", "write stall"
    )
    for launch in launches:
        for one in launch.channels:
            found.add_row(
                line_of(one.line),
                one.name,
                f"{launch.kernel} {one.end}s",
                f"{one.values:,}",
                str(one.depth),
                number(one.mean_level),
                str(one.max_level),
                percent(one.read_stall),
                percent(one.write_stall),
            )
    return found


def _depths(channels: Sequence[model.ChannelDepth]) -> Table:
    found = table("Depths of channels between kernels", "<channel", "values", "depth", "write waits", "<what if")
    for one in channels:
        waits = f"{one.actual.writer_waits:,}"
        found.add_row(one.channel, f"{one.values:,}", f"{one.actual.depth:,}", waits, one.sentence)
    return found

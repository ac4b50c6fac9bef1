"""A profile as text: verdicts first, then where the cycles went, then what memory and channels did."""

import textwrap
from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.table import Table

from . import model
from .summary import copy_groups
from .text import at_line, burst_of, line_of, number, percent, table, tables_text

One = TypeVar("One")

__all__ = ["render_brief", "render_profile"]

#: kernels, rows with their accounts, and rows of each other table at most, so that a profile stays below 120 lines
MOST_KERNELS, MOST_ACCOUNT_ROWS, MOST_ROWS = 10, 36, 14
#: channels for which other depths are shown, at most
MOST_DEPTHS = 8
#: accesses to memories inside kernels, at most, and the share of cycles from which on a wait for a port is shown
MOST_LOCAL, LEAST_STALL = 4, 0.01
#: accounts of each kernel at most
MOST_ACCOUNTS = 5
#: lines with verdicts, at most
VERDICT_LINES = 30
#: kernels on the screen, and lines with their verdicts
BRIEF_VERDICTS, BRIEF_KERNELS, BRIEF_LINES = 6, 10, 20
#: copies of one kernel together, the slowest first
Groups = Sequence[Sequence[model.Kernel]]

BEYOND = 16  #: characters by which tables of a file may be wider, so that no word of them is broken


def render_profile(profile: model.Profile, chosen: Sequence[int] = (), width: int = 132) -> str:
    """The profile in a page of text; ``chosen`` are the numbers of the launches whose accesses and channels are shown
    (none: the longest of each kernel)."""
    groups = copy_groups(profile)
    wanted = set(chosen) or {group[0].worst for group in groups}
    shown = [one for one in profile.launches if one.number in wanted]
    parts = [_head(profile), *_verdicts(groups[:MOST_KERNELS], len(profile.kernels), VERDICT_LINES, width)]
    groups = groups[:MOST_KERNELS]
    tables = [_kernels(groups), _accounts([group[0] for group in groups]), _accesses(shown), _banks(shown)]
    tables += [_local(shown), _channels(shown), _depths(profile.depths)]
    return "\n".join(parts) + "\n\n" + tables_text(tables, width, BEYOND)


def render_brief(profile: model.Profile, width: int = 132) -> str:
    """The verdicts and the kernels, for a screen: fewer than 40 lines."""
    groups = copy_groups(profile)
    parts = [_head(profile), *_verdicts(groups[:BRIEF_VERDICTS], len(profile.kernels), BRIEF_LINES, width)]
    return "\n".join(parts) + "\n\n" + tables_text([_kernels(groups[:BRIEF_KERNELS])], width)


def _head(profile: model.Profile) -> str:
    captures = sum(one.capture and not one.part for one in profile.launches)
    launches = sum(not one.capture for one in profile.launches)
    told = f"{launches:,} launch{'es' if launches != 1 else ''}"
    told += f" and {captures:,} captures of autorun kernels" if captures else ""
    only = f"; {profile.recorded}" if profile.recorded else ""
    return f"{told} on {profile.board}, {profile.clock_mhz:g} MHz{only}"


def _verdicts(groups: Groups, kernels: int, lines: int, width: int) -> list[str]:
    """A paragraph for each group, as many as have room in so many lines; and how many of all ``kernels`` were left
    out."""
    found: list[str] = []
    told = 0
    for group in groups:
        paragraph = _verdict(group, width)
        if found and sum(map(_lines, found)) + _lines(paragraph) > lines:
            break
        found.append(paragraph)
        told += len(group)
    left = kernels - told
    return [*found, *([f"and {left} more kernel{'s' if left > 1 else ''}: see profile.json"] if left else [])]


def _lines(text: str) -> int:
    return text.count("\n") + 1


def _verdict(group: Sequence[model.Kernel], width: int) -> str:
    verdict = group[0].verdict
    of = f" (the slowest of {len(group)} copies)" if len(group) > 1 else ""
    remedies = [_filled(one, width, "    ", "    ") for one in verdict.remedies[:1]]
    return "\n".join([_filled(f"{verdict.sentence}{of}", width, "- ", "  "), *remedies])


def _filled(text: str, width: int, first: str, indent: str) -> str:
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)


def _kernels(groups: Groups) -> Table:
    found = table("Kernels", "<kernel", "launches", "cycles", "mean", "worst", "launch", "<verdict")
    for group in groups:
        one = group[0]
        found.add_row(
            f"{one.name}{f' x {len(group)}' if len(group) > 1 else ''}{' (autorun)' if one.autorun else ''}",
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
    most = max(1, min(MOST_ACCOUNTS, MOST_ACCOUNT_ROWS // max(1, len(kernels)) - 1))
    for kernel in kernels:
        shown = kernel.accounts[:most]
        rows = [(one.cycles, one.cause, line_of(one.line)) for one in shown]
        rest = kernel.cycles - sum(one.cycles for one in shown)
        others = len(kernel.accounts) - len(shown)
        rows += [(rest, f"{others} other account{'s' if others > 1 else ''}", "-")] if rest else []
        for k, (cycles, cause, line) in enumerate(rows):
            share = percent(cycles / kernel.cycles if kernel.cycles else None)
            found.add_row("" if k else kernel.name, f"{cycles:,}", share, cause, line)
    return found


def _longest(
    launches: Sequence[model.Launch],
    records: Callable[[model.Launch], Sequence[One]],
    stall: Callable[[One], float],
    chosen_by: str = "stall most",
) -> tuple[list[tuple[model.Launch, One]], str]:
    """The rows of a table, of too many those that stall most, in their order; and what to add to its title."""
    rows = [(launch, one) for launch in launches for one in records(launch)]
    if len(rows) <= MOST_ROWS:
        return rows, ""
    chosen = sorted(range(len(rows)), key=lambda k: -stall(rows[k][1]))[:MOST_ROWS]
    return [rows[k] for k in sorted(chosen)], f"; the {MOST_ROWS} of {len(rows)} that {chosen_by}"


def _accesses(launches: Sequence[model.Launch]) -> Table:
    rows, more = _longest(launches, lambda launch: _alike(launch.accesses), lambda row: row[0].stall or 0.0)
    crossing = any(one.unaligned for _, (one, _) in rows)
    found = table(
        f"Global memory, in {_numbers(launches)}{more}",
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
        *(["unaligned"] if crossing else []),
        "<held up by",
    )
    for launch, (one, of) in rows:
        found.add_row(
            line_of(one.line),
            f"{launch.kernel}: {one.kind} {one.buffer}{f' x {of}' if of > 1 else ''}",
            one.unit,
            percent(one.occupancy),
            percent(one.activity),
            percent(one.stall),
            number(one.bytes_per_ns),
            percent(one.bandwidth),
            percent(one.efficiency),
            burst_of(one.average_burst, one.max_burst),
            *([percent(one.unaligned)] if crossing else []),
            _held_by(launch, one),
        )
    return found


def _numbers(launches: Sequence[model.Launch]) -> str:
    """Which launches, in words."""
    numbers = [str(one.number) for one in launches]
    if len(numbers) > 12:
        return "the longest launch of each kernel"
    return f"launch{'es' if len(numbers) != 1 else ''} {', '.join(numbers)}"


def _banks(launches: Sequence[model.Launch]) -> Table:
    rows, more = _longest(
        launches,
        lambda launch: [one for one in launch.banks if one.reads or one.writes],
        lambda one: one.busy or 0.0,
        "are busiest",
    )
    found = table(
        f"Memory banks meanwhile, other kernels included{more}",
        "<kernel",
        "<bank",
        "busy",
        "kB read",
        "kB written",
        "rows opened",
        "turnarounds",
        "refreshes",
    )
    for launch, one in rows:
        found.add_row(
            launch.kernel,
            f"{one.memory} {one.number}",
            percent(one.busy),
            f"{one.bytes_read / 1e3:,.1f}",
            f"{one.bytes_written / 1e3:,.1f}",
            f"{one.activates:,}",
            f"{one.turnarounds:,}",
            f"{one.refreshes:,}",
        )
    return found


def _alike(accesses: Sequence[model.Access]) -> list[tuple[model.Access, int]]:
    """Of the accesses of one line to one buffer by units of one kind, as unrolling makes them: the one that stalls
    most, and how many there are."""
    groups: dict[tuple[int | None, str, str, str], list[model.Access]] = {}
    for one in accesses:
        groups.setdefault((one.line, one.kind, one.buffer, one.unit), []).append(one)
    return [(max(group, key=lambda one: one.stall or 0.0), len(group)) for group in groups.values()]


def _held_by(launch: model.Launch, access: model.Access) -> str:
    """What the cycles in which an access is held up are attributed to, mostly; the line where it is another one."""
    most = max((one for one in launch.held if one.id == access.id), key=lambda one: one.cycles, default=None)
    if most is None or most.cycles < launch.cycles / 100:
        return "-"
    if most.cause == "issued":
        return "nothing lost: iterations were issued"
    return f"{most.cause}{at_line(most.cause_line) if most.cause_line != access.line else ''}"


def _local(launches: Sequence[model.Launch]) -> Table:
    """The accesses to memories inside kernels that wait for ports, longest first; most accesses never do."""
    rows = [(launch, one) for launch in launches for one in launch.local if (one.stall or 0.0) >= LEAST_STALL]
    shown = sorted(rows, key=lambda row: -(row[1].stall or 0.0))[:MOST_LOCAL]
    more = f", {len(shown)} of {len(rows)}" if len(rows) > len(shown) else ""
    found = table(f"Waits for ports inside kernels{more}", "line", "<access", "requests", "activity", "stall")
    for launch, one in shown:
        what = f"{launch.kernel}: {one.kind} {one.memory}"
        found.add_row(line_of(one.line), what, f"{one.requests:,}", percent(one.activity), percent(one.stall))
    return found


def _channels(launches: Sequence[model.Launch]) -> Table:
    rows, more = _longest(
        launches, lambda launch: launch.channels, lambda one: (one.read_stall or 0.0) + (one.write_stall or 0.0)
    )
    found = table(
        f"Channels{more}",
        "line",
        "<channel",
        "<this kernel",
        "values",
        "depth",
        "mean",
        "max.",
        "read stall",
        "write stall",
    )
    for launch, one in rows:
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
    """The channels whose depth would save most."""
    shown = sorted(channels, key=lambda one: (-one.saved, -one.actual.writer_waits))[:MOST_DEPTHS]
    more = f", {len(shown)} of {len(channels)}" if len(channels) > len(shown) else ""
    found = table(f"Depths of channels between kernels{more}", "<channel", "values", "depth", "write waits", "<what if")
    for one in shown:
        waits = f"{one.actual.writer_waits:,}"
        found.add_row(one.channel, f"{one.values:,}", f"{one.actual.depth:,}", waits, one.sentence)
    return found

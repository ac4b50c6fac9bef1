"""A run's statistics as text: the II of every loop, the account of every cycle, and the traffic of every access."""

import io
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .both_wait import BothWait, channels_where_both_wait

if TYPE_CHECKING:  # what counts no cycles, as `sluice check`, imports this module and no tables
    from rich.table import Table

__all__ = ["at_line", "burst_of", "line_of", "number", "percent", "render", "table", "tables_text"]

LONGEST = 20  #: characters of words that are not broken
UNBOUNDED = 1000  #: characters of a line in which every table has room


def render(stats: dict[str, Any], source: str = "", width: int = 132) -> str:
    """The result of :func:`hls.profile.decode` as tables, of a split kernel those of its parts one after the other.
    ``source`` is the kernel's text, quoted next to its lines."""
    lines = source.splitlines()
    time = _seconds(stats["cycles"] / (stats["clock_mhz"] * 1e6))
    head = f"{stats['kernel']}: {stats['cycles']:,} cycles at {stats['clock_mhz']:g} MHz = {time}\n"
    tables = (
        _units(stats.get("units", ())),
        _loops(_apart(stats)),
        _accounts(stats, lines),
        _memory(stats),
        _channels(stats["channels"]),
    )
    said = [_wrapped(one.sentence, width) for one in _both_wait(stats["channels"])]
    whole = head + tables_text(tables, width) + "".join(f"{one}\n" for one in said)
    return "\n".join([whole, *(render(part, source, width) for part in stats.get("parts", ()))])


def tables_text(tables: Iterable["Table"], width: int, beyond: int = 0) -> str:
    """The tables that have rows, one below the other. Words are broken only where a table would else be more than
    ``beyond`` characters wider than ``width``."""
    from rich.console import Console
    from rich.measure import Measurement

    written, most = io.StringIO(), width + beyond
    console = Console(file=written, width=most, color_system=None, highlight=False, markup=False, emoji=False)
    for one in tables:
        if one.row_count:
            _keep_words(one)
            least = Measurement.get(console, console.options.update(width=UNBOUNDED), one).minimum
            if least > most:
                _keep_words(one, longest=1)
            console.print(one, width=max(width, min(least, most)))
    lines = [line.rstrip() for line in written.getvalue().rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def table(title: str, *columns: str) -> "Table":
    """A plain table; the names of text columns begin with '<', all other columns hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        text = column.startswith("<")
        made.add_column(column.lstrip("<"), justify="left" if text else "right", overflow="fold", no_wrap=not text)
    return made


def _keep_words(made: "Table", longest: int = LONGEST) -> None:
    """Make columns of text as wide as their longest word, up to ``longest``."""
    for column in made.columns:
        words = " ".join(map(str, (column.header, *column.cells))).split()
        if not column.no_wrap:
            column.min_width = min(longest, max(map(len, words)))


def _loops(loops: list[dict[str, Any]]) -> "Table":
    found = table(
        "Loops", "line", "<loop", "static II", "interleaved", "scheduled II", "measured II", "iterations", "invocations"
    )
    for loop in sorted(loops, key=lambda loop: loop["line"] or 0):
        found.add_row(
            line_of(loop["line"]),
            loop["name"],
            str(loop["static_ii"]),
            str(loop["interleaving"]),
            number(loop["scheduled_ii"]),
            number(loop["measured_ii"]),
            f"{loop['iterations']:,}",
            f"{loop['invocations']:,}",
        )
    return found


def _apart(stats: dict[str, Any]) -> list[dict[str, Any]]:
    """The loops; one for which compute units measured different IIs is listed once for each unit."""
    found = []
    for k, loop in enumerate(stats["loops"]):
        each = [(unit["unit"], unit["loops"][k]) for unit in stats.get("units", ())]
        if len({number(own["measured_ii"]) for _, own in each}) > 1:
            found += [own | {"name": f"{own['name']}, unit {unit}"} for unit, own in each]
        else:
            found.append(loop)
    return found


def _units(units: Any) -> "Table":
    """How the compute units of a kernel shared the work; the following tables show sums or means over them."""
    found = table("Compute units", "unit", "groups", "occupancy", "<largest other account")
    for unit in units:
        others = [account for account in unit["accounts"] if account["cause"] != "issued" and account["cycles"]]
        most = max(others, key=lambda account: account["cycles"], default=None)
        groups = "-" if unit["groups"] is None else f"{unit['groups']:,}"
        found.add_row(str(unit["unit"]), groups, percent(unit["occupancy"]), most["cause"] if most else "-")
    return found


def _accounts(stats: dict[str, Any], lines: list[str]) -> "Table":
    """The causes that took cycles, longest first; causes without cycles are left out. The total is that of the run."""
    found = table("Cycle accounts", "cycles", "share", "<account", "line", "<source")
    for account in sorted(stats["accounts"], key=lambda account: -account["cycles"]):
        if account["cycles"]:
            line = account["line"]
            quoted = lines[line - 1].strip() if line and line <= len(lines) else ""
            found.add_row(
                f"{account['cycles']:,}",
                percent(account["cycles"] / stats["cycles"]),
                account["cause"],
                line_of(line),
                quoted,
            )
    return found


def _memory(stats: dict[str, Any]) -> "Table":
    crossing = any(one.get("unaligned") for one in stats["memory"])
    early = any(one.get("in_vain") is not None for one in stats["memory"])
    found = table(
        "Global memory",
        "line",
        "<access",
        "<unit",
        "occupancy",
        "activity",
        "stall",
        "GB/s",
        "of peak",
        "efficiency",
        "reuse",
        "burst",
        "hits",
        *(["unaligned"] if crossing else []),
        *(["in vain"] if early else []),
    )
    for access in stats["memory"]:
        found.add_row(
            line_of(access["line"]),
            f"{access['kind']} {access['buffer']}",
            ", ".join(filter(None, (access["lsu"], access["memory"]))),
            percent(access["occupancy"]),
            percent(access["activity"]),
            percent(access["stall"]),
            number(access["bytes_per_ns"]),
            percent(access["bandwidth"]),
            percent(access["efficiency"]),
            number(access["reuse"]),
            burst_of(access["average_burst"], access.get("max_burst")),
            percent(access["cache_hit"]),
            *([percent(access.get("unaligned"))] if crossing else []),
            *([percent(access.get("in_vain"))] if early else []),
        )
    return found


def _both_wait(channels: list[dict[str, Any]]) -> tuple[BothWait, ...]:
    return channels_where_both_wait(
        (one["name"], one["depth"], one["max_level"], one["read_stall"], one["write_stall"]) for one in channels
    )


def _wrapped(sentence: str, width: int) -> str:
    """A sentence below the tables, in lines of ``width`` characters."""
    return textwrap.fill(sentence, width, subsequent_indent="  ")


def _channels(channels: list[dict[str, Any]]) -> "Table":
    """The channels as observed by this kernel: at both ends, what waited while it ran."""
    found = table(
        "Channels", "line", "<channel", "<this kernel", "values", "depth", "max. level", "read stall", "write stall"
    )
    for one in channels:
        found.add_row(
            line_of(one["line"]),
            one["name"],
            f"{one['end']}s",
            f"{one['values']:,}",
            str(one["depth"]),
            str(one["max_level"]),
            percent(one["read_stall"]),
            percent(one["write_stall"]),
        )
    return found


def burst_of(average: float | None, most: int | None) -> str:
    """The average length of a burst in words, and in brackets the greatest that the unit makes."""
    return number(average) + (f" ({most})" if average is not None and most else "")


def line_of(line: int | None) -> str:
    """A line number in a table."""
    return "-" if line is None else str(line)


def at_line(line: int | None) -> str:
    """A place in the source, in a sentence."""
    return f" (line {line})" if line else ""


def number(value: float | None) -> str:
    """A number in a table."""
    return "-" if value is None else f"{value:.2f}"


def percent(share: float | None) -> str:
    """A share in a table."""
    return "-" if share is None else f"{100 * share:.1f}%"


def _seconds(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"

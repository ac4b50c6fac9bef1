"""A run's statistics as text: the II of every loop, the account of every cycle, and the traffic of every access."""

import io

from rich import box
from rich.console import Console
from rich.table import Table

__all__ = ["render"]


def render(stats: dict, source: str = "", width: int = 124) -> str:
    """The result of :func:`hls.profile.decode` as tables. ``source`` is the kernel's text, quoted next to its lines."""
    lines = source.splitlines()
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False, emoji=False)
    time = _seconds(stats["cycles"] / (stats["clock_mhz"] * 1e6))
    console.print(f"{stats['kernel']}: {stats['cycles']:,} cycles at {stats['clock_mhz']:g} MHz = {time}")
    tables = (
        _units(stats.get("units", ())),
        _loops(_apart(stats)),
        _accounts(stats, lines),
        _memory(stats),
        _channels(stats["channels"]),
    )
    for table in tables:
        if table.row_count:
            console.print(table)
    return "\n".join(line.rstrip() for line in console.file.getvalue().rstrip().splitlines()) + "\n"


def _table(title: str, *columns: str) -> Table:
    """A plain table; the names of text columns begin with '<', all other columns hold numbers."""
    table = Table(title=title, title_justify="left", title_style="", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        text = column.startswith("<")
        table.add_column(column.lstrip("<"), justify="left" if text else "right", overflow="fold", no_wrap=not text)
    return table


def _loops(loops: list[dict]) -> Table:
    table = _table(
        "Loops", "line", "<loop", "static II", "interleaved", "scheduled II", "measured II", "iterations", "invocations"
    )
    for loop in sorted(loops, key=lambda loop: loop["line"] or 0):
        table.add_row(
            _line(loop),
            loop["name"],
            str(loop["static_ii"]),
            str(loop["interleaving"]),
            _number(loop["scheduled_ii"]),
            _number(loop["measured_ii"]),
            f"{loop['iterations']:,}",
            f"{loop['invocations']:,}",
        )
    return table


def _apart(stats: dict) -> list[dict]:
    """The loops; one for which compute units measured different IIs is listed once for each unit."""
    found = []
    for k, loop in enumerate(stats["loops"]):
        each = [(unit["unit"], unit["loops"][k]) for unit in stats.get("units", ())]
        if len({_number(own["measured_ii"]) for _, own in each}) > 1:
            found += [own | {"name": f"{own['name']}, unit {unit}"} for unit, own in each]
        else:
            found.append(loop)
    return found


def _units(units) -> Table:
    """How the compute units of a kernel shared the work; the following tables show sums or means over them."""
    table = _table("Compute units", "unit", "groups", "occupancy", "<largest other account")
    for unit in units:
        others = [account for account in unit["accounts"] if account["cause"] != "issued" and account["cycles"]]
        most = max(others, key=lambda account: account["cycles"], default=None)
        groups = "-" if unit["groups"] is None else f"{unit['groups']:,}"
        table.add_row(str(unit["unit"]), groups, _percent(unit["occupancy"]), most["cause"] if most else "-")
    return table


def _accounts(stats: dict, lines: list[str]) -> Table:
    """The causes that took cycles, longest first; causes without cycles are left out. The total is that of the run."""
    table = _table("Cycle accounts", "cycles", "share", "<account", "line", "<source")
    for account in sorted(stats["accounts"], key=lambda account: -account["cycles"]):
        if account["cycles"]:
            number = account["line"]
            quoted = lines[number - 1].strip() if number and number <= len(lines) else ""
            table.add_row(
                f"{account['cycles']:,}",
                _percent(account["cycles"] / stats["cycles"]),
                account["cause"],
                _line(account),
                quoted,
            )
    return table


def _memory(stats: dict) -> Table:
    table = _table(
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
        "avg. burst",
        "hits",
    )
    for access in stats["memory"]:
        table.add_row(
            _line(access),
            f"{access['kind']} {access['buffer']}",
            ", ".join(filter(None, (access["lsu"], access["memory"]))),
            _percent(access["occupancy"]),
            _percent(access["activity"]),
            _percent(access["stall"]),
            _number(access["bytes_per_ns"]),
            _percent(access["bandwidth"]),
            _percent(access["efficiency"]),
            _number(access["reuse"]),
            _number(access["average_burst"]),
            _percent(access["cache_hit"]),
        )
    return table


def _channels(channels: list[dict]) -> Table:
    """The channels as observed by this kernel: at both ends, what waited while it ran."""
    table = _table(
        "Channels", "line", "<channel", "<this kernel", "values", "depth", "max. level", "read stall", "write stall"
    )
    for one in channels:
        table.add_row(
            _line(one),
            one["name"],
            f"{one['end']}s",
            f"{one['values']:,}",
            str(one["depth"]),
            str(one["max_level"]),
            _percent(one["read_stall"]),
            _percent(one["write_stall"]),
        )
    return table


def _line(entry: dict) -> str:
    return "-" if entry["line"] is None else str(entry["line"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _seconds(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"

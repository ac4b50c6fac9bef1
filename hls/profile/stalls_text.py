"""The stalls of a waveform as tables, and as JSON."""

from collections.abc import Sequence
from typing import TypedDict

from .stalls import AccountMeaning, Meaning, Stall, UnitStalls
from .text import line_of, percent, table, tables_text

__all__ = ["rows_of", "stalls_text"]

#: accounts of these categories are no stalls
MOVING = ("issue", "ramp-up", "drain", "latency")


class Other(TypedDict):
    """What else held in so many of a row's cycles."""

    what: str
    cycles: int


class Row(TypedDict):
    """A row of ``sluice stalls``. ``of`` counts the cycles in which the unit ran, ``at`` is where the longest stretch
    begins."""

    kind: str
    kernel: str
    autorun: bool
    unit: int
    line: int | None
    what: str
    cycles: int
    of: int
    stretches: int
    longest: int
    at: int
    others: list[Other]


def rows_of(meaning: Meaning, units: Sequence[UnitStalls], line: int | None = None) -> list[Row]:
    """One row for each thing that was waited for ("account"), and for each place that was held up ("held"), of all
    units or of one source ``line``: those of kernels that the host launches first, as autorun ones also wait while
    there is nothing to do; most cycles first."""
    rows = []
    for one in units:
        accounts, places = one.unit["accounts"], one.unit["holds"]
        for number, stall in one.accounts.items():
            if number < len(accounts) and accounts[number]["category"] not in MOVING:
                others = [(places[k]["what"], cycles) for k, cycles in stall.others.items()]
                rows.append(_row("account", one, accounts[number]["cause"], accounts[number]["line"], stall, others))
        for number, stall in one.places.items():
            others = [(_cause(accounts, k), cycles) for k, cycles in stall.others.items()]
            rows.append(_row("held", one, places[number]["what"], places[number]["line"], stall, others))
    rows = [row for row in rows if line in (None, row["line"])]
    return sorted(rows, key=lambda row: (row["kind"], row["autorun"], -row["cycles"], row["kernel"], row["what"]))


def _cause(accounts: Sequence[AccountMeaning], number: int) -> str:
    return accounts[number]["cause"] if number < len(accounts) else "latency of the pipeline"


def _row(kind: str, unit: UnitStalls, what: str, line: int | None, stall: Stall, others: list[tuple[str, int]]) -> Row:
    others.sort(key=lambda item: (-item[1], item[0]))
    return {
        "kind": kind,
        "kernel": unit.unit["kernel"],
        "autorun": unit.autorun,
        "unit": unit.unit["number"],
        "line": line,
        "what": what,
        "cycles": stall.cycles,
        "of": unit.busy,
        "stretches": stall.stretches,
        "longest": stall.longest,
        "at": stall.at,
        "others": [{"what": name, "cycles": cycles} for name, cycles in others],
    }


def stalls_text(meaning: Meaning, rows: Sequence[Row], top: int = 20, width: int = 140) -> str:
    """The ``top`` rows of each kind, with the source text of their lines."""
    lines = meaning["source"].splitlines()
    tables = []
    for kind, title, others in (
        ("account", "What cycles were spent waiting for", "<held up meanwhile"),
        ("held", "Requests that were held up", "<mostly while"),
    ):
        made = table(
            title, "line", "<kernel", "<what", "cycles", "share", "stretches", "longest", "at", others, "<source"
        )
        for row in [row for row in rows if row["kind"] == kind][:top]:
            number = row["line"]
            made.add_row(
                line_of(number),
                row["kernel"],
                row["what"],
                f"{row['cycles']:,}",
                percent(row["cycles"] / row["of"]),
                f"{row['stretches']:,}",
                f"{row['longest']:,}",
                f"{row['at']:,}",
                ", ".join(other["what"] for other in row["others"][:2]) or "-",
                lines[number - 1].strip() if number and number <= len(lines) else "",
            )
        tables.append(made)
    return tables_text(tables, width) or "nothing stalled\n"

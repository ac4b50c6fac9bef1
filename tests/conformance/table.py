"""The table of docs/conformance.md: passes of each program, and the reason for each sub-test that does not pass.

``results.toml`` has what came of each program when it was last run, ``reasons.toml`` the reasons; the page is made of both:
``python -m tests.conformance.table`` writes it.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from .suite import UNFINISHED, Result

__all__ = [
    "PAGE",
    "RECORDED",
    "Outcome",
    "outcomes",
    "page",
    "read",
    "reason_of",
    "table",
    "unexplained",
    "unused",
    "write",
]

HERE = Path(__file__).parent
REASONS: dict[str, list[str]] = tomllib.loads((HERE / "reasons.toml").read_text())
RECORDED = HERE / "results.toml"
PAGE = Path(__file__).parents[2] / "docs/conformance.md"
MARK = "<!-- table -->\n"


@dataclass(frozen=True)
class Outcome:
    """What came of a program: numbers of sub-tests that passed or were skipped, and names of the others."""

    passed: int
    skipped: int
    failed: tuple[str, ...]
    late: tuple[str, ...]

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """A row of the table."""
        return self.passed, self.skipped, len(self.failed), len(self.late)


def outcomes(results: Iterable[Result]) -> dict[str, Outcome]:
    """The outcome of each program of the results."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in results:
        kinds = found.setdefault(one.program, {"passed": [], "skipped": [], "failed": [], "late": []})
        kinds[one.outcome].append(one.name)
    return {
        program: Outcome(len(kinds["passed"]), len(kinds["skipped"]), tuple(kinds["failed"]), tuple(kinds["late"]))
        for program, kinds in found.items()
    }


def read() -> dict[str, Outcome]:
    """The recorded outcomes."""
    recorded = tomllib.loads(RECORDED.read_text())
    return {
        program: Outcome(one["passed"], one["skipped"], tuple(one["failed"]), tuple(one["late"]))
        for program, one in recorded.items()
    }


def write(found: Mapping[str, Outcome]) -> None:
    """Replace what is recorded of these programs, and the page."""
    head = "".join(line + "\n" for line in RECORDED.read_text().splitlines() if line.startswith("#"))
    rows = [f"{program} = {_row(one)}\n" for program, one in (read() | dict(found)).items()]
    RECORDED.write_text(head + "".join(rows))
    PAGE.write_text(page())


def _row(one: Outcome) -> str:
    def names(of: tuple[str, ...]) -> str:
        return "[" + ", ".join(f'"{name}"' for name in of) + "]"

    return (
        f"{{ passed = {one.passed}, skipped = {one.skipped}, failed = {names(one.failed)}, late = {names(one.late)} }}"
    )


def page() -> str:
    """The text of docs/conformance.md with the table of what is recorded."""
    head, mark, _ = PAGE.read_text().partition(MARK)
    return f"{head}{mark}{table(read())}"


def reason_of(program: str, name: str) -> str:
    """The reason that reasons.toml names for a sub-test; empty for none."""
    whole = f"{program}/{name}"
    return next((why for why, names in REASONS.items() if any(fnmatchcase(whole, one) for one in names)), "")


def _bad(found: Mapping[str, Outcome]) -> list[tuple[str, str]]:
    return [(program, name) for program, one in found.items() for name in (*one.failed, *one.late)]


def unexplained(found: Mapping[str, Outcome]) -> list[tuple[str, str]]:
    """The sub-tests that fail without a reason."""
    return [one for one in _bad(found) if not reason_of(*one)]


def unused(found: Mapping[str, Outcome]) -> list[str]:
    """The names and patterns of reasons.toml that are of no sub-test that fails."""
    bad = ["/".join(one) for one in _bad(found)]
    return [one for names in REASONS.values() for one in names if not any(fnmatchcase(name, one) for name in bad)]


def table(found: Mapping[str, Outcome]) -> str:
    """The table in Markdown."""
    lines = ["| program | passed | skipped | failed | late |", "| --- | --- | --- | --- | --- |"]
    rows = {program: one.counts for program, one in found.items()}
    rows["all"] = tuple(map(sum, zip(*rows.values(), strict=True)))
    lines += [f"| {program} | {' | '.join(map(str, counts))} |" for program, counts in rows.items()]
    if bad := _bad(found):
        lines += ["", "| does not pass | why |", "| --- | --- |"]
        lines += [f"| {program}/{name} | {reason_of(program, name) or 'not looked into'} |" for program, name in bad]
    lines += ["", "| not run to its end | what is known |", "| --- | --- |"]
    lines += [f"| {program} | {known} |" for program, known in UNFINISHED.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())

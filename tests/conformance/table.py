"""The table of docs/conformance.md: passes of each program, and the reason for each sub-test that does not pass."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from .suite import Result

__all__ = ["reason_of", "table", "unexplained"]

REASONS: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "reasons.toml").read_text())
OUTCOMES = ("passed", "skipped", "failed", "late")


def reason_of(result: Result) -> str:
    """The reason that reasons.toml names for a sub-test; empty for none."""
    name = f"{result.program}/{result.name}"
    return next((why for why, names in REASONS.items() if any(fnmatchcase(name, one) for one in names)), "")


def unexplained(results: Iterable[Result]) -> list[Result]:
    """The sub-tests that fail without a reason."""
    return [one for one in results if one.outcome in ("failed", "late") and not reason_of(one)]


def table(results: Sequence[Result]) -> str:
    """The table in Markdown."""
    lines = [f"| program | {' | '.join(OUTCOMES)} |", "| --- " * (len(OUTCOMES) + 1) + "|"]
    for program in dict.fromkeys(one.program for one in results):
        counts = Counter(one.outcome for one in results if one.program == program)
        lines.append(f"| {program} | {' | '.join(str(counts[outcome]) for outcome in OUTCOMES)} |")
    sums = Counter(one.outcome for one in results)
    lines += [f"| all | {' | '.join(str(sums[outcome]) for outcome in OUTCOMES)} |", ""]
    bad = [one for one in results if one.outcome in ("failed", "late")]
    if bad:
        lines += ["| does not pass | why |", "| --- | --- |"]
        lines += [f"| {one.program}/{one.name} | {reason_of(one) or 'not looked into'} |" for one in bad]
    return "\n".join(lines) + "\n"

"""Line breaks and numbers of the report's text."""

import textwrap

__all__ = ["RULE", "WIDTH", "count", "wrapped"]

WIDTH = 100
RULE = "=" * WIDTH


def wrapped(finding: str, margin: str) -> list[str]:
    """The lines of a finding behind a margin; its own indentation is kept."""
    inner = margin + " " * (len(finding) - len(finding.lstrip()))
    return textwrap.wrap(finding.lstrip(), WIDTH, initial_indent=inner, subsequent_indent=inner + "  ")


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

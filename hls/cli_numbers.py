"""Types of command line options that are numbers: what is wrong names the numbers that an option takes."""

import math
from typing import Any

import click

__all__ = ["Numbers", "Reals"]


class Numbers(click.IntRange):
    """Whole numbers from ``min`` to ``max``, both with their ends; None: no limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of a text; a usage error that names the numbers that the option takes."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number{_within(self.min, self.max)}", param, ctx)


class Reals(click.FloatRange):
    """Finite numbers from ``min`` to ``max``, both with their ends; None: no limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number of a text; a usage error that names the numbers that the option takes."""
        try:
            number = float(super().convert(value, param, ctx))
        except click.BadParameter:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number{_within(self.min, self.max)}", param, ctx)
        return number


def _within(least: float | None, most: float | None) -> str:
    """A range in words."""
    if least is None:
        return "" if most is None else f" of at most {most:,}"
    return f" from {least:,} on" if most is None else f" from {least:,} to {most:,}"

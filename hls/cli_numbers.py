"""Types of command line options that are numbers: what is wrong names the numbers that an option takes."""

import math
from typing import Any

import click

__all__ = ["Numbers", "Reals"]


class _Told(click.ParamType):
    """A number that click reads; a text that is none, or one outside of the range, is told with the range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of a text; a usage error that names the numbers that the option takes."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            return self.fail(f"{value!r} is not {self.takes()}", param, ctx)

    def takes(self) -> str:
        """What the option takes, in words."""
        raise NotImplementedError


class Numbers(_Told, click.IntRange):
    """Whole numbers from ``min`` to ``max``, both with their ends; None: no limit."""

    def takes(self) -> str:
        """What the option takes, in words."""
        return f"a whole number{_within(self.min, self.max)}"


class Reals(_Told, click.FloatRange):
    """Numbers from ``min`` to ``max``, both with their ends; None: no limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of a text; a usage error also for one that is not finite."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not {self.takes()}", param, ctx)

    def takes(self) -> str:
        """What the option takes, in words."""
        return f"a number{_within(self.min, self.max)}"


def _within(least: float | None, most: float | None) -> str:
    """A range in words."""
    if least is None:
        return "" if most is None else f" of at most {most:,}"
    return f" from {least:,} on" if most is None else f" from {least:,} to {most:,}"

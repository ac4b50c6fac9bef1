"""A comparison of two profiles as one HTML file without scripts, which loads nothing."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TypedDict

from jinja2 import Environment, StrictUndefined, Template

from .compare import Change, first_line
from .compare_figures import UNITS, FigureChange

__all__ = ["comparison_page"]


class _Row(TypedDict):
    """A cause in the page: cycles as text, and the shares of the longer run in percent."""

    name: str
    before: str
    after: str
    change: str
    tone: str
    shares: tuple[float, float]


def comparison_page(
    changes: Sequence[Change], figures: Mapping[str, Sequence[FigureChange]], names: tuple[str, str]
) -> str:
    """The page: for each kernel a sentence, its cycles by cause, and the ``figures`` that differ. ``names`` are those
    of the profiles."""
    kernels = [_kernel(one, figures.get(one.kernel, ())) for one in changes]
    return _template().render(title="Comparison of two profiles", names=names, kernels=kernels)


def _kernel(change: Change, figures: Sequence[FigureChange]) -> dict[str, object]:
    before, after = change.before, change.after
    sentence = first_line(change)
    if before is None or after is None:
        return {"sentence": sentence, "causes": [], "figures": []}
    longer = max(before, after, 1.0)
    return {
        "sentence": sentence,
        "causes": [_cause(*row, longer) for row in change.causes],
        "sums": (f"{before:,.0f}", f"{after:,.0f}", f"{after - before:+,.0f}"),
        "figures": [
            {"name": one.what, "figure": UNITS[one.figure], "before": _number(one.before), "after": _number(one.after)}
            for one in figures
        ],
    }


def _cause(name: str, before: float, after: float, longer: float) -> _Row:
    change = round(after) - round(before)
    # more issues are no loss
    tone = "" if not change or name == "issued" else "worse" if change > 0 else "better"
    shares = (round(100 * before / longer, 2), round(100 * after / longer, 2))
    return _Row(
        name=name, before=f"{before:,.0f}", after=f"{after:,.0f}", change=f"{change:+,}", tone=tone, shares=shares
    )


def _number(value: float | None) -> str:
    """Four digits at least, without an exponent."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


@cache
def _template() -> Template:
    environment = Environment(
        undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(resources.files(__package__).joinpath("compare.html.j2").read_text(encoding="utf-8"))

"""Fits the figures of a delay table to measured delays, and writes them into the table's file without changing
anything else there."""

import itertools
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hls.target.delay import DelayModel

__all__ = ["MARGIN_NS", "SAID", "WIDTHS", "Fit", "fit", "fit_level", "rewritten"]

WIDTHS = (8, 16, 32, 64)  #: of the operations that are measured
#: What a hop of routing is taken to need beyond what it does in the design that is measured, which hardly fills its
#: device. With it a row of logic takes what it took in the table with which kernels of several thousand LUTs reached
#: the clock they were planned for (docs/peers.md).
MARGIN_NS = 0.2
#: Figures are multiples of this: runs of the tools over the same operations in another design differ by as much.
STEP_NS = 0.05
PER_BIT_NS = 0.001
#: of the line of the table's file that says what the figures come from
SAID = "# Fitted by python -m tests.boards.pnr_delays --write to what was measured with"
LINES, ROWS, ONE_ROW = ("add", "ult"), ("eq", "shl"), ("xor", "select")


@dataclass(frozen=True)
class Fit:
    """What is to stand in the table: ``hop`` and ``level``, and figures of the entries that name a class; None leaves
    what is there."""

    hop: float | None = None
    level: float | None = None
    entries: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def fit(found: Mapping[str, float], model: DelayModel) -> Fit:
    """Figures fitted to delays by "CLASS_WIDTH", in ns beyond a register's own, with :data:`MARGIN_NS` for each hop;
    what is not measured is as in ``model``.

    A row of logic is the mean of the operations of one row. What runs along a carry chain grows with each bit; each of
    both classes has a line of its own, since a comparison leaves the chain at its end through one more cell. What grows
    with the logarithm is made of whole rows.
    """
    row = statistics.mean(ns for name, ns in found.items() if name.rsplit("_", 1)[0] in ONE_ROW)
    hop = _rounded(row + MARGIN_NS - model.lut, STEP_NS)
    entries = {opclass: _line([(width, found[f"{opclass}_{width}"]) for width in WIDTHS], hop) for opclass in LINES}
    entries |= {
        opclass: _rows([(width, found[f"{opclass}_{width}"] / row) for width in WIDTHS], model.costs[opclass])
        for opclass in ROWS
    }
    entries["ram_out"] = {"base": _rounded(found["ram_out_1"] + MARGIN_NS - hop, STEP_NS)}
    return Fit(hop=hop, entries=entries)


def fit_level(levels: Sequence[float]) -> Fit:
    """The figure ``level`` from what a level took in each of several parts: the mean, as one figure stands for all
    kinds of logic."""
    return Fit(level=_rounded(statistics.mean(levels), STEP_NS))


def _line(points: list[tuple[int, float]], hop: float) -> dict[str, float]:
    line = statistics.linear_regression(*zip(*points, strict=True))
    return {"base": _rounded(line.intercept + MARGIN_NS - hop, STEP_NS), "per_bit": _rounded(line.slope, PER_BIT_NS)}


def _rows(points: list[tuple[int, float]], now) -> dict[str, float]:
    """Rows of logic whose whole number is closest to what was measured in rows; of those equally close what is nearest
    to the figures of now."""

    def misfit(luts: float, per_doubling: float) -> tuple[float, float]:
        off = sum((math.ceil(luts + per_doubling * math.log2(width) - 1e-9) - rows) ** 2 for width, rows in points)
        return round(off, 6), abs(luts - now.luts) + abs(per_doubling - now.luts_per_doubling)

    steps = [k / 20 for k in range(41)]
    luts, per_doubling = min(itertools.product(steps, steps), key=lambda pair: misfit(*pair))
    return {"luts": luts, "luts_per_doubling": per_doubling}


def _rounded(ns: float, step: float) -> float:
    return round(round(ns / step) * step, 6)


def rewritten(text: str, figures: Fit, said: str) -> str:
    """The table's text with the figures in the place of those there, and ``said`` in the place of the line that begins
    with :data:`SAID`.

    Raises ValueError for a figure that has no line to stand in.
    """
    head, *entries = re.split(r"(?m)^(?=\[\[delay\]\])", text)
    for key in ("hop", "level"):
        if (ns := getattr(figures, key)) is not None:
            head = _put(head, key, ns)
    if said.startswith(SAID):
        head, lines = re.subn(rf"(?m)^{re.escape(SAID)}.*$", said, head)
        if lines != 1:
            raise ValueError(f"no line of the table begins with {SAID!r}")
    for opclass, values in figures.entries.items():
        at = [k for k, entry in enumerate(entries) if re.search(rf'(?m)^ops = .*"{opclass}"', entry)]
        if len(at) != 1:
            raise ValueError(f"{len(at)} entries of the table name {opclass!r}")
        for key, value in values.items():
            entries[at[0]] = _put(entries[at[0]], key, value)
    return head + "".join(entries)


def _put(text: str, key: str, value: float) -> str:
    """The text with another value in the line of ``key``; a comment behind it stays in its column."""
    line = re.compile(rf"(?m)^({key} = )([\d.]+)( *)(#?.*)$")
    if value == 0 and not line.search(text):
        return text  # as good as absent
    if not (found := line.search(text)):
        raise ValueError(f"no line of the table sets {key}")
    digits = f"{value:.3f}" if "." in found[2] else f"{value:g}"
    if float(digits) == float(found[2]):
        digits = found[2]
    gap = " " * max(1, len(found[2]) + len(found[3]) - len(digits)) if found[4] else ""
    return text[: found.start()] + found[1] + digits + gap + found[4] + text[found.end() :]

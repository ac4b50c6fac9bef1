"""What a search found: as a table, as a page with the front of cycles and area, as a design and a patch."""

import html
from collections.abc import Mapping
from pathlib import Path

from ..design import DesignError, write_design
from ..design_patch import patch
from ..target.board import Board
from .evaluate import Evaluator
from .points import Point
from .search import Outcome, front

__all__ = ["page", "table", "write_best", "write_results"]

MOST_ROWS = 20
#: size of the plot in the page, and its margins
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 360, 80, 40


def table(outcome: Outcome, board: Board) -> str:
    """The best points, one a line, the points that are no designs counted by reason, and the result."""
    cell = board.device.cell.plural
    good = [one for one in outcome.points if one.problem is None]
    lines = [f"{'estimated':>12}  {'replayed':>12}  {'measured':>12}  {cell:>9}  {'fit':>5}  design"]
    for one in good[:MOST_ROWS]:
        replayed, measured = (f"{it:,}" if it is not None else "-" for it in (one.replayed, one.measured))
        logic, share = (f"{one.area.logic:,}", f"{one.area.share:.0%}") if one.area else ("-", "-")
        lines.append(f"{one.cycles or 0:>12,.0f}  {replayed:>12}  {measured:>12}  {logic:>9}  {share:>5}  {one.name}")
    if len(good) > MOST_ROWS:
        lines.append(f"{'':>12}  ... and {len(good) - MOST_ROWS} more")
    reasons: dict[str, int] = {}
    for one in outcome.points:
        if one.problem is not None:
            text = f"{one.problem.code} {one.problem.text}".strip()
            reasons[text] = reasons.get(text, 0) + 1
    lines += [
        f"not possible, {count} point{'s' if count > 1 else ''}: {text}" for text, count in sorted(reasons.items())
    ]
    lines.append(_result(outcome))
    return "\n".join(lines)


def _result(outcome: Outcome) -> str:
    best, base = outcome.best, outcome.base
    if best is None:
        return "no point fits the device and the goal"
    if best.knobs == base.knobs:
        return "best: the program as written"
    now, before = best.best_known or 0, base.best_known
    gain = f", {before / now:.2f} times as fast as written" if before and now else ""
    return f"best: {best.name}: {now:,.0f} cycles{_source(best)}{gain}"


def _source(point: Point) -> str:
    """Where the cycles of a point come from, behind their number."""
    if point.measured is not None:
        return " measured"
    return " replayed" if point.replayed is not None else ""


def write_results(outcome: Outcome, evaluator: Evaluator, folder: Path) -> list[str]:
    """Write ``tune.html``, and the best design if there is one; what to print of it. Raises OSError."""
    (folder / "tune.html").write_text(page(outcome, evaluator.program.board), encoding="utf-8")
    told = [str(folder / "tune.html")]
    return told if outcome.best is None else told + write_best(outcome.best, evaluator, folder)


def write_best(point: Point, evaluator: Evaluator, folder: Path) -> list[str]:
    """Write ``best.json`` and ``best.patch``; their names, or why the patch is missing. Raises OSError."""
    design = evaluator.design(dict(point.knobs))
    write_design(design, folder / "best.json")
    sources: Mapping[str, str] = evaluator.module.sources
    try:
        (folder / "best.patch").write_text(patch(sources, evaluator.main, design), encoding="utf-8")
    except DesignError as error:
        return [str(folder / "best.json"), f"no best.patch: {error}"]
    return [str(folder / "best.json"), str(folder / "best.patch")]


def page(outcome: Outcome, board: Board) -> str:
    """A page without a network: all points with an area by cycles and share of the device, the front joined."""
    shown = [one for one in outcome.points if one.area is not None and one.cycles and one.problem is None]
    best = front(outcome.points)
    rows = "".join(_row(one, one in best) for one in outcome.points if one.problem is None)
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>sluice tune</title>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style><h1>Cycles and area on {html.escape(board.name)}</h1>"
        f"{_plot(shown, best)}"
        "<table><thead><tr><th>estimated<th>replayed<th>measured<th>logic<th>registers<th>RAMs<th>DSPs"
        f"<th>of the device<th>front<th>design</thead><tbody>{rows}</tbody></table></html>\n"
    )


_STYLE = (
    ":root{color-scheme:light dark}body{font:15px system-ui,sans-serif;margin:2em;max-width:72em}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:right}"
    "td:last-child,th:last-child{text-align:left}"
    "tr{border-bottom:1px solid #8886}circle{fill:#888}circle.front{fill:#06c}text{fill:currentColor;font-size:12px}"
    "line,polyline{stroke:#8888;fill:none}polyline{stroke:#06c;stroke-width:2}"
)


def _row(point: Point, on_front: bool) -> str:
    area = point.area
    figures = [f"{point.cycles or 0:,.0f}"]
    figures += [f"{one:,}" if one is not None else "" for one in (point.replayed, point.measured)]
    figures += [f"{one:,}" for one in (area.logic, area.registers, area.rams, area.dsps)] if area else [""] * 4
    figures += [f"{area.share:.1%}" if area else "", "yes" if on_front else "", html.escape(point.name)]
    return "<tr>" + "".join(f"<td>{one}" for one in figures)


def _plot(shown: list[Point], best: list[Point]) -> str:
    if not shown:
        return "<p>No point has a counted area.</p>"
    most_x = max(one.best_known or 0 for one in shown)
    most_y = max(one.area.share for one in shown if one.area)

    def place(point: Point) -> tuple[float, float]:
        share = point.area.share if point.area else 0.0
        return (
            _LEFT + (_WIDTH - _LEFT - 10) * (point.best_known or 0) / most_x,
            (_HEIGHT - _BOTTOM) * (1 - share / most_y) + 5,
        )

    dots = "".join(
        f"<circle class='{'front' if one in best else ''}' cx='{place(one)[0]:.1f}' cy='{place(one)[1]:.1f}' "
        f"r='{5 if one in best else 3}'><title>{html.escape(one.name)}: {one.best_known or 0:,.0f} cycles, "
        f"{one.area.share if one.area else 0:.1%}</title></circle>"
        for one in shown
    )
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, best))
    bottom = _HEIGHT - _BOTTOM + 5
    return (
        f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}' role='img' aria-label='Cycles and area of each point; "
        f"the table below has the same figures'><line x1='{_LEFT}' y1='{bottom}' x2='{_WIDTH}' y2='{bottom}'/>"
        f"<line x1='{_LEFT}' y1='0' x2='{_LEFT}' y2='{bottom}'/><polyline points='{joined}'/>{dots}"
        f"<text x='{_LEFT}' y='{bottom + 18}'>0</text>"
        f"<text x='{_WIDTH - 10}' y='{bottom + 18}' text-anchor='end'>{most_x:,.0f} cycles</text>"
        f"<text x='{_LEFT - 6}' y='{bottom}' text-anchor='end'>0%</text>"
        f"<text x='{_LEFT - 6}' y='16' text-anchor='end'>{most_y:.1%}</text></svg>"
    )

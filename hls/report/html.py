"""The report as one HTML file that needs no network: the page's parts, and the report's JSON as data in it.

The parts are in ``page/``. Its scripts are plain ones without modules; they are joined in the order of
:data:`SCRIPTS` and share one function scope. The layout of graphs is dagre's, see ``page/vendor``; it runs in a worker
that is started from a Blob, as a page opened from a file may load nothing else.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined

from ..records import Plain
from . import json as report_json
from .colours import colours
from .model import Report
from .packing import deflated, pack

__all__ = [
    "DAGRE_VERSION",
    "FRAME",
    "SCRIPTS",
    "START",
    "STYLES",
    "VIEWS",
    "assembled",
    "coloured",
    "data_text",
    "render",
    "render_plain",
]

DAGRE_VERSION = "3.1.3"
STYLES = ("style.css", "views.css")
#: building blocks and the frame
FRAME = (
    "dom.js",
    "model.js",
    "selection.js",
    "fit.js",
    "window.js",
    "table.js",
    "source.js",
    "graph.js",
    "layout.js",
    "details.js",
    "details_loop.js",
    "frame.js",
)
#: the views of a report
VIEWS = (
    "views/summary.js",
    "views/bottlenecks.js",
    "views/loops.js",
    "views/area.js",
    "views/system.js",
    "views/memories.js",
    "views/schedule.js",
    "views/deadlock.js",
    "views/synthesis.js",
)
#: what starts a page whose views are there
START = ("main.js",)
SCRIPTS = (*FRAME, *VIEWS, *START)


def render(report: Report) -> str:
    """The page of a report."""
    return render_plain(json.loads(report_json.render(report)))


def render_plain(data: dict[str, Any]) -> str:
    """The page of a report in plain form, as :func:`hls.report.json.render` writes it. Its element ``report`` contains
    the data, packed and deflated. Raises KeyError for what is no report."""
    clock = f"kernel clock {data['clock_mhz']:,.1f}".removesuffix(".0") + " MHz"
    device = f" ({data['info']['device']})" if data["info"]["device"] else ""
    return assembled(
        title=f"{data['source']} on {data['board']}",
        heading=data["source"].rpartition("/")[2],
        subtitle=f"{data['board']}{device}, {clock}",
        text_beside="report.txt",
        styles=STYLES,
        scripts=SCRIPTS,
        data={"report": deflated(pack(data)), "colours": coloured(data)},
    )


def coloured(*reports: dict[str, Any]) -> dict[str, list[list[int | str]]]:
    """The colours of the sources of reports in plain form, by file."""
    sources = {one["file"]: one["text"] for report in reports for one in report.get("sources", ())}
    return {file: colours(text) for file, text in sources.items()}


def assembled(
    *,
    title: str,
    heading: str,
    subtitle: str,
    text_beside: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Mapping[str, Plain],
) -> str:
    """A page of these parts of ``page/``. ``data`` are its elements with JSON by their id, ``text_beside`` is the file
    with the same facts for a reader without scripts."""
    return _template().render(
        title=title,
        heading=heading,
        subtitle=subtitle,
        text_beside=text_beside,
        style="\n".join(_part(name) for name in styles),
        script="\n".join(_compact(_part(name)) for name in scripts),
        data={name: data_text(one) for name, one in data.items()},
        dagre=_vendored("dagre.min.js"),
        licence=_part("vendor/dagre.LICENSE"),
        dagre_version=DAGRE_VERSION,
    )


def data_text(data: Any) -> str:
    """JSON for a ``<script>`` element, which no text in it can end: ``<`` occurs in strings only, and is escaped."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _compact(script: str) -> str:
    """A script without indentation and without comments that have lines of their own: a third less to send."""
    without = re.sub(r"^\s*(//.*|/\*\*(?s:.*?)\*/)\n", "", script, flags=re.MULTILINE)
    return re.sub(r"^\s+", "", without, flags=re.MULTILINE)


@cache
def _template() -> Any:
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    environment.filters["escaped"] = _escaped
    return environment.from_string(_part("page.html"))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _part(name: str) -> str:
    text = resources.files(__package__).joinpath("page", *name.split("/")).read_text(encoding="utf-8")
    if re.search(r"</(script|style)", text, re.IGNORECASE) and not name.endswith(".html"):
        raise ValueError(f"page/{name} would end the element that contains it")
    return text


def _vendored(name: str) -> str:
    """A vendored script without its last comment, which names a source map that does not exist here."""
    return re.sub(r"//# sourceMappingURL=.*\s*$", "", _part(f"vendor/{name}"))

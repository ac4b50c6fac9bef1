"""The report as JSON, for other tools. Keys are the field names of :mod:`hls.report.model`; docs/report.schema.json
describes them.
"""

import json
from collections.abc import Iterator
from typing import Any

from ..records import Plain, plain
from .model import Report

__all__ = ["plain", "render", "render_plain", "written"]

#: records up to this length are written in one line
WIDTH = 116


def render(report: Report) -> str:
    """The whole report. A span becomes {file, line, column, length}; figures computed from fields are included."""
    return render_plain(plain(report))


def render_plain(data: Plain) -> str:
    """A report in plain form as text."""
    return "".join(written(data, "")) + "\n"


def written(value: Any, margin: str) -> Iterator[str]:
    """The parts of a text in which each record, or list, is a line if it fits."""
    nested = isinstance(value, (dict, list)) and value
    line = json.dumps(value) if not nested or _is_small(value) else None
    if line is not None and (not nested or len(margin) + len(line) <= WIDTH):
        yield line
        return
    inner = margin + " "
    items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    yield "{" if isinstance(value, dict) else "["
    for position, (key, item) in enumerate(items):
        yield ("," if position else "") + f"\n{inner}" + ("" if key is None else f"{json.dumps(key)}: ")
        yield from written(item, inner)
    yield f"\n{margin}" + ("}" if isinstance(value, dict) else "]")


def _is_small(value: Any, most: int = WIDTH // 4) -> bool:
    """Whether a value has so few parts that its line may fit."""
    count, left = 0, [value]
    while left:
        one = left.pop()
        count += 1
        if count > most:
            return False
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
    return True

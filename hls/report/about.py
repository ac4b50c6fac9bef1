"""How a report was made, and from which sources."""

import dataclasses
import hashlib
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..diag import Span
from ..ir.attributes import ATTRIBUTES, FUNCTIONS
from ..options import Options
from ..version import version
from .compiled import Compiled
from .model import Info, Report, Source

__all__ = ["about", "sources_named", "written_attributes"]

#: options that say nothing about the hardware, or that the report states elsewhere
_ELSEWHERE = frozenset({"include_dirs", "include_roots", "limits", "counters"})

#: names in the source of attributes that have another one in the IR
_WRITTEN = {"work_group_size": "reqd_work_group_size"}


def about(result: Compiled, command: str = "") -> Info:
    """How a compilation (:class:`hls.driver.Result`) was made."""
    usual = Options()
    changed = [
        (field.name, str(value))
        for field in dataclasses.fields(Options)
        if field.name not in _ELSEWHERE and (value := getattr(result.options, field.name)) != getattr(usual, field.name)
    ]
    counted = next((kernel.layout.counted for kernel in result.interface.kernels if kernel.layout.counted), "off")
    return Info(
        version=version(),
        command=command,
        options=tuple(changed),
        board=result.board.name,
        device=result.board.device.part,
        date=_date(),
        clock_mhz=result.board.clock.kernel_mhz,
        counters=counted,
    )


def _date() -> str:
    """The time of the compilation; that of SOURCE_DATE_EPOCH (reproducible-builds.org) if it is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    when = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def written_attributes(attrs: Mapping[str, object]) -> tuple[str, ...]:
    """A kernel's attributes as the source writes them, from those of its IR before optimization."""
    found = []
    for row in ATTRIBUTES.values():
        if not row.asked or FUNCTIONS not in row.holders or row.key not in attrs:
            continue
        value, name = attrs[row.key], _WRITTEN.get(row.key, row.key)
        values = value if isinstance(value, tuple) else (value,)
        found.append(name if value is True else f"{name}({', '.join(map(str, values))})")
    return tuple(found)


def sources_named(report: Report, texts: Mapping[str, str]) -> tuple[Source, ...]:
    """The texts of the files that spans of the report name, in the order of their names, the report's own first."""
    files = {span.file for span in _spans(report)} & texts.keys()
    return tuple(
        Source(file, texts[file], hashlib.sha256(texts[file].encode()).hexdigest())
        for file in sorted(files, key=lambda file: (file != report.source, file))
    )


def _spans(value: Any) -> Iterator[Span]:
    if isinstance(value, Span):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _spans(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _spans(getattr(value, field.name))

"""The report as JSON, for other tools. Keys are the field names of :mod:`hls.report.model`."""

import dataclasses
import json

from ..diag import Code, Diagnostic, Span
from .model import Loop, Memory, Report

__all__ = ["render"]


def render(report: Report) -> str:
    """The whole report. A span becomes {file, line, column}; what is computed from fields is written out as well."""
    return json.dumps(_plain(report), indent=2) + "\n"


def _plain(value):
    if isinstance(value, Span):
        return {"file": value.file, "line": value.line, "column": value.column}
    if isinstance(value, Code):
        return value.number
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return value
    plain = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Loop):
        plain |= {"scheduled_ii": value.scheduled_ii, "concurrency": value.concurrency}
    if isinstance(value, Memory):
        plain |= {"stall_free": value.stall_free}
    if isinstance(value, Report):
        plain |= {"resources": _plain(value.resources)}
    if isinstance(value, Diagnostic):
        plain["span"] = _plain(value.span)
    return plain

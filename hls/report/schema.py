"""The JSON Schema of a report, generated from its dataclasses: ``python -m hls.report.schema`` prints it.

docs/report.schema.json holds the result.
"""

import dataclasses
import json
import types
import typing
from collections.abc import Iterator
from enum import Enum

from ..diag import Code
from .facts.computed import computed_names
from .model import SCHEMA, Report

__all__ = ["schema", "text"]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def schema() -> dict:
    """The schema of :func:`hls.report.json.render`'s result, in draft 2020-12."""
    records = {record.__name__: _record(record) for record in _reachable(Report)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of one compilation",
        **records.pop("Report"),
        "$defs": dict(sorted(records.items())),
    }


def text() -> str:
    """The schema as it is written into docs/report.schema.json."""
    return json.dumps(schema(), indent=1) + "\n"


def _fields(record: type) -> Iterator[tuple[str, object]]:
    """Names and types of all fields and computed figures of a record."""
    hints = typing.get_type_hints(record)
    for field in dataclasses.fields(record):
        yield field.name, hints[field.name]
    for name in computed_names(record):
        yield name, typing.get_type_hints(getattr(record, name).fget)["return"]


def _reachable(record: type) -> list[type]:
    """The record and those in its fields, each once."""
    found, left = {record: None}, [record]
    while left:
        for _, kind in _fields(left.pop()):
            new = [one for one in _inside(kind) if dataclasses.is_dataclass(one) and one not in found]
            found |= dict.fromkeys(new)
            left += new
    return list(found)


def _inside(kind) -> Iterator[object]:
    yield kind
    for part in typing.get_args(kind):
        yield from _inside(part)


def _record(record: type) -> dict:
    properties = {name: _type(kind) for name, kind in _fields(record)}
    if record is Report:
        properties["schema"] = {"const": SCHEMA}
    return {
        "description": " ".join((record.__doc__ or "").split()),
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _type(kind) -> dict:
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is Code:
        return {"type": "string"}
    if dataclasses.is_dataclass(kind):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    parts = typing.get_args(kind)
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return {"anyOf": [_type(part) for part in parts]}
    if typing.get_origin(kind) is not tuple:
        raise TypeError(f"{kind} has no form in JSON")
    if parts[-1] is Ellipsis:
        return {"type": "array", "items": _type(parts[0])}
    return {"type": "array", "prefixItems": [_type(part) for part in parts], "items": False, "minItems": len(parts)}


if __name__ == "__main__":
    print(text(), end="")

"""Frozen dataclasses as JSON: their plain form, and the JSON Schema that describes it."""

import dataclasses
import types
import typing
from collections.abc import Iterator

__all__ = ["plain", "schema_of"]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def plain(value):
    """A record as dicts, lists, texts and numbers; floats are rounded to six digits behind the point."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value


def schema_of(root: type, title: str, number: int) -> dict:
    """The JSON Schema (draft 2020-12) of the plain form of the record ``root``, whose field ``schema`` is ``number``.

    Raises TypeError for a field whose type has no form in JSON.
    """
    records = {record.__name__: _record(record) for record in _reachable(root)}
    head = records.pop(root.__name__)
    head["properties"]["schema"] = {"const": number}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **head,
        "$defs": dict(sorted(records.items())),
    }


def _reachable(root: type) -> list[type]:
    """The record and those in its fields, each once."""
    found, left = {root: None}, [root]
    while left:
        for kind in typing.get_type_hints(left.pop()).values():
            new = [one for one in _inside(kind) if dataclasses.is_dataclass(one) and one not in found]
            found |= dict.fromkeys(new)
            left += new
    return list(found)


def _inside(kind) -> Iterator[object]:
    yield kind
    for part in typing.get_args(kind):
        yield from _inside(part)


def _record(record: type) -> dict:
    hints = typing.get_type_hints(record)
    properties = {field.name: _type(hints[field.name]) for field in dataclasses.fields(record)}
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
    if dataclasses.is_dataclass(kind):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    parts = typing.get_args(kind)
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return {"anyOf": [_type(part) for part in parts]}
    if typing.get_origin(kind) is tuple and parts[-1] is Ellipsis:
        return {"type": "array", "items": _type(parts[0])}
    raise TypeError(f"{kind} has no form in JSON")

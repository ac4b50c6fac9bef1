"""Frozen dataclasses as JSON: their plain form, and the JSON Schema that describes it."""

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TypeAlias, TypedDict

from .diag import Code

__all__ = ["Plain", "computed", "computed_names", "plain", "record_of", "schema_of"]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null", Code: "string"}

Record = typing.TypeVar("Record")

#: what JSON can hold
Plain: TypeAlias = "Mapping[str, Plain] | Sequence[Plain] | str | int | float | bool | None"


class _RecordSchema(TypedDict):
    """The schema of a record."""

    description: str
    type: str
    properties: dict[str, dict[str, object]]
    required: list[str]
    additionalProperties: bool


class computed(property):
    """A property that the JSON form and its schema include as if it were a field; its type is that of its result."""


@cache
def computed_names(record: type) -> tuple[str, ...]:
    """The names of the computed figures of a record's class, in the order of their definition."""
    return tuple(
        name for one in reversed(record.__mro__) for name, value in vars(one).items() if isinstance(value, computed)
    )


def plain(value: object, digits: int | None = None) -> Plain:
    """A record as dicts, lists, texts and numbers, computed figures included; floats are rounded to so many ``digits``
    behind the point (None: not at all)."""
    if isinstance(value, Code):
        return value.number
    if isinstance(value, (tuple, list)):
        return [plain(item, digits) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name), digits) for name in (*names, *computed_names(type(value)))}
    if isinstance(value, Mapping):
        return {str(name): plain(item, digits) for name, item in value.items()}
    if isinstance(value, float) and digits is not None:
        return round(value, digits)
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{value!r} has no form in JSON")


def record_of(record: type[Record], data: object, place: str = "") -> Record:
    """The record of which ``data`` is the plain form. Raises ValueError that names the field, as in
    ``loops[2].place.line``, for data of another form."""
    return typing.cast(Record, _value_of(record, data, place))


def _value_of(kind: object, data: object, place: str) -> object:
    parts = typing.get_args(kind)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        names = {field.name for field in dataclasses.fields(kind)} | set(computed_names(kind))
        if not isinstance(data, dict) or set(data) != names:
            raise ValueError(f"{place or kind.__name__} has other fields than {kind.__name__}")
        given = [field.name for field in dataclasses.fields(kind)]
        return kind(**{name: _value_of(hints[name], data[name], f"{place}.{name}".lstrip(".")) for name in given})
    if typing.get_origin(kind) is tuple and isinstance(data, list):
        kinds = [parts[0]] * len(data) if parts[-1] is Ellipsis else parts
        if len(kinds) == len(data):
            return tuple(_value_of(one, item, f"{place}[{k}]") for k, (one, item) in enumerate(zip(kinds, data)))
    elif typing.get_origin(kind) in (types.UnionType, typing.Union):
        for part in parts:
            try:
                return _value_of(part, data, place)
            except ValueError:
                continue
    elif typing.get_origin(kind) is dict and isinstance(data, dict):
        return {name: _value_of(parts[1], item, f"{place}.{name}".lstrip(".")) for name, item in data.items()}
    elif isinstance(kind, type) and type(data) is kind:
        return data
    elif kind is float and type(data) is int:
        return float(data)
    raise ValueError(f"{place} is of another kind")


def schema_of(root: type, title: str, number: int) -> dict[str, object]:
    """The JSON Schema (draft 2020-12) of the plain form of the record ``root``, whose field ``schema`` is ``number``.

    Raises TypeError for a field whose type has no form in JSON.
    """
    records = {record.__name__: _record(record) for record in _reachable(root)}
    records[root.__name__]["properties"] |= {"schema": {"const": number}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **records.pop(root.__name__),
        "$defs": dict(sorted(records.items())),
    }


def _fields(record: type) -> Mapping[str, object]:
    """The types of all fields and computed figures of a record, by name."""
    hints = typing.get_type_hints(record)
    found = {field.name: hints[field.name] for field in dataclasses.fields(record)}
    for name in computed_names(record):
        found[name] = typing.get_type_hints(getattr(record, name).fget)["return"]
    return found


def _reachable(record: type) -> list[type]:
    """The record and those in its fields, each once."""
    found: dict[type, None] = {record: None}
    left = [record]
    while left:
        for kind in _fields(left.pop()).values():
            new = [one for one in _inside(kind) if isinstance(one, type) and dataclasses.is_dataclass(one)]
            new = [one for one in new if one not in found]
            found |= dict.fromkeys(new)
            left += new
    return list(found)


def _inside(kind: object) -> Iterator[object]:
    yield kind
    for part in typing.get_args(kind):
        yield from _inside(part)


def _record(record: type) -> _RecordSchema:
    properties = {name: _type(kind) for name, kind in _fields(record).items()}
    return {
        "description": " ".join((record.__doc__ or "").split()),
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _type(kind: object) -> dict[str, object]:
    if isinstance(kind, type) and kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    parts = typing.get_args(kind)
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return {"anyOf": [_type(part) for part in parts]}
    if typing.get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _type(parts[1])}
    if typing.get_origin(kind) is not tuple:
        raise TypeError(f"{kind} has no form in JSON")
    if parts[-1] is Ellipsis:
        return {"type": "array", "items": _type(parts[0])}
    return {"type": "array", "prefixItems": [_type(part) for part in parts], "items": False, "minItems": len(parts)}

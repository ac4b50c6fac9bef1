"""A smaller form of a report's data for report.html: the same dictionaries and lists with fewer repeated words.

A list of records with equal keys becomes ``{"$keys": [...], "$rows": [[...], ...]}``. A flat record that occurs several
times (a span, resources) is written once into ``shared`` and becomes ``{"$same": its index}`` elsewhere.
"""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import TypeGuard

from ..narrow import instance
from ..records import Plain

__all__ = ["deflated", "inflated", "pack", "unpack"]


def pack(data: Plain) -> dict[str, Plain]:
    """``{"shared": [...], "data": ...}`` of data that :func:`hls.report.json.plain` made."""
    counts = Counter(_flat_records(data))
    shared = {text: index for index, text in enumerate(text for text, count in counts.items() if count > 1)}
    return {"shared": [json.loads(text) for text in shared], "data": _packed(data, shared)}


def deflated(packed: dict[str, Plain]) -> dict[str, Plain]:
    """``{"deflate": base64 of its JSON in zlib's format}``: a browser reads it with its DecompressionStream."""
    data = json.dumps(packed, separators=(",", ":"), ensure_ascii=False).encode()
    return {"deflate": base64.b64encode(zlib.compress(data, 9)).decode()}


def inflated(data: dict[str, Plain]) -> dict[str, Plain]:
    """What :func:`deflated` was given."""
    return json.loads(zlib.decompress(base64.b64decode(instance(data["deflate"], str))))


def unpack(packed: dict[str, Plain]) -> Plain:
    """The data that :func:`pack` was given; ``page/model.js`` has the same in its own language."""
    return _unpacked(packed["data"], instance(packed["shared"], list))


def _is_flat(value: Plain) -> TypeGuard[dict[str, Plain]]:
    return isinstance(value, dict) and not any(isinstance(item, (dict, list)) for item in value.values())


def _flat_records(value: Plain) -> Iterator[str]:
    """The JSON of each flat record in the data."""
    if _is_flat(value):
        yield json.dumps(value)
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _flat_records(item)


def _packed(value: Plain, shared: dict[str, int]) -> Plain:
    if isinstance(value, dict):
        index = shared.get(json.dumps(value)) if _is_flat(value) else None
        return {key: _packed(item, shared) for key, item in value.items()} if index is None else {"$same": index}
    if not isinstance(value, list):
        return value
    keys = list(value[0]) if value and isinstance(value[0], dict) else []
    if len(value) < 2 or not keys or not all(isinstance(one, dict) and list(one) == keys for one in value):
        return [_packed(item, shared) for item in value]
    return {"$keys": keys, "$rows": [[_packed(one[key], shared) for key in keys] for one in value]}


def _unpacked(value: Plain, shared: list[Plain]) -> Plain:
    if isinstance(value, list):
        return [_unpacked(item, shared) for item in value]
    if not isinstance(value, dict):
        return value
    if "$same" in value:
        return shared[instance(value["$same"], int)]
    if "$keys" in value:
        keys, rows = instance(value["$keys"], list), instance(value["$rows"], list)
        return [dict(zip(keys, (_unpacked(item, shared) for item in row), strict=True)) for row in rows]
    return {key: _unpacked(item, shared) for key, item in value.items()}

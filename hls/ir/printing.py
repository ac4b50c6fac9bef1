"""printf in hardware: each call sends a record over a channel of its kernel, which the host shows.

A record is an array of 32-bit lanes. Lane 0 is the number of the call's format; the arguments follow in order, each in
one lane, or in two (low lane first) if it has 64 bits. Lanes that a call does not use are 0.

Work-items that run side by side, or on several compute units, send their records in any order. So the records of a
kernel with many work-items have places: between the number and the arguments, lanes that are compared from the first
one on, and in whose order the text of a launch is shown (:func:`in_order`). They hold the ids of the work-group in
the dimensions of a launch, the last one first, then how many barriers the work-items of the group have passed, the
local ids, and, where barriers stand among the calls of a work-item, how many calls it has made. That is the order in
which a program that runs one work-item after the other prints.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .attributes import Attr
from .nodes import MemoryObject
from .text import formatted
from .types import ArrayType, FloatType, IntType, Type

__all__ = ["LANE", "Format", "in_order", "lanes_of", "places_of", "record_type", "shown", "shows_text", "type_named"]

LANE = IntType(32)


@dataclass(frozen=True)
class Format:
    """A printf format: C's format string, and the types of its arguments."""

    text: str
    types: tuple[Type, ...]


def lanes_of(type: Type) -> int:
    """The lanes of an argument."""
    return -(-type.bits // LANE.bits)


def record_type(formats: Sequence[Format], places: int = 0) -> ArrayType:
    """The type of a channel's records with so many lanes for their ``places``: the longest of these formats fits."""
    return ArrayType(LANE, 1 + places + max(sum(map(lanes_of, one.types)) for one in formats))


def shows_text(channel: MemoryObject) -> bool:
    """Whether the values of a channel are records of printf."""
    return bool(dict(channel.attrs).get(Attr.PRINTS))


def places_of(channel: MemoryObject) -> int:
    """The lanes of a record of printf that are its place."""
    return int(dict(channel.attrs).get(Attr.PLACES, 0))


def type_named(text: str) -> IntType | FloatType:
    """The type of an argument from its text, such as "i32" or "f64"."""
    return (IntType if text[0] == "i" else FloatType)(int(text[1:]))


def in_order(data: bytes, lanes: int, places: int) -> bytes:
    """The records of one launch, of ``lanes`` lanes each, in the order of the ``places`` lanes behind the first; those
    of one place stay as they are. Raises ValueError for bytes that are no whole records."""
    records = sorted(_records(data, lanes), key=lambda record: record[1 : 1 + places])
    return b"".join(struct.pack(f"<{lanes}I", *record) for record in records)


def shown(data: bytes, lanes: int, formats: Sequence[Format], places: int = 0) -> str:
    """The text of records of ``lanes`` lanes each, ``places`` of which are their place, one behind the other. Raises
    ValueError for bytes that are no whole records, and IndexError for the number of no format."""
    text = []
    for number, *words in _records(data, lanes):
        form, given = formats[number], iter(words[places:])
        values = [_value(sum(next(given) << 32 * k for k in range(lanes_of(type))), type) for type in form.types]
        text.append(formatted(form.text, values, form.types))
    return "".join(text)


def _records(data: bytes, lanes: int) -> Iterator[tuple[int, ...]]:
    if len(data) % (4 * lanes):
        raise ValueError(f"{len(data)} bytes are no whole number of records of {lanes} lanes")
    return struct.iter_unpack(f"<{lanes}I", data)


def _value(bits: int, type: Type) -> int | float:
    """An argument from its lanes."""
    if not isinstance(type, FloatType):
        return bits & (1 << type.bits) - 1
    integer, floating = {16: ("H", "e"), 32: ("I", "f"), 64: ("Q", "d")}[type.bits]
    return struct.unpack(f"<{floating}", struct.pack(f"<{integer}", bits & (1 << type.bits) - 1))[0]

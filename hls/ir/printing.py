"""printf in hardware: each call sends a record over a channel of its kernel, which the host shows.

A record is an array of 32-bit lanes. Lane 0 is the number of the call's format; the arguments follow in order, each in
one lane, or in two (low lane first) if it has 64 bits. Lanes that a call does not use are 0.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from .attributes import Attr
from .nodes import MemoryObject
from .text import formatted
from .types import ArrayType, FloatType, IntType, Type

__all__ = ["LANE", "Format", "lanes_of", "record_type", "shown", "shows_text", "type_named"]

LANE = IntType(32)


@dataclass(frozen=True)
class Format:
    """A printf format: C's format string, and the types of its arguments."""

    text: str
    types: tuple[Type, ...]


def lanes_of(type: Type) -> int:
    """The lanes of an argument."""
    return -(-type.bits // LANE.bits)


def record_type(formats: Sequence[Format]) -> ArrayType:
    """The type of a channel's records: the longest of these formats fits."""
    return ArrayType(LANE, 1 + max(sum(map(lanes_of, one.types)) for one in formats))


def shows_text(channel: MemoryObject) -> bool:
    """Whether the values of a channel are records of printf."""
    return bool(dict(channel.attrs).get(Attr.PRINTS))


def type_named(text: str) -> IntType | FloatType:
    """The type of an argument from its text, such as "i32" or "f64"."""
    return (IntType if text[0] == "i" else FloatType)(int(text[1:]))


def shown(data: bytes, lanes: int, formats: Sequence[Format]) -> str:
    """The text of records of ``lanes`` lanes each, one behind the other. Raises ValueError for bytes that are no whole
    records, and IndexError for the number of no format."""
    if len(data) % (4 * lanes):
        raise ValueError(f"{len(data)} bytes are no whole number of records of {lanes} lanes")
    text = []
    for number, *words in struct.iter_unpack(f"<{lanes}I", data):
        form, given = formats[number], iter(words)
        values = [_value(sum(next(given) << 32 * k for k in range(lanes_of(type))), type) for type in form.types]
        text.append(formatted(form.text, values, form.types))
    return "".join(text)


def _value(bits: int, type: Type) -> int | float:
    """An argument from its lanes."""
    if not isinstance(type, FloatType):
        return bits & (1 << type.bits) - 1
    integer, floating = {16: ("H", "e"), 32: ("I", "f"), 64: ("Q", "d")}[type.bits]
    return struct.unpack(f"<{floating}", struct.pack(f"<{integer}", bits & (1 << type.bits) - 1))[0]

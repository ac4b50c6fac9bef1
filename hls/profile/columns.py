"""Columns of numbers as few bytes: of each number the difference to the one before, in a variable number of bytes.

A difference d is written as 2 d, or as -2 d - 1 if it is negative, seven bits a byte, the lowest ones first; all bytes
of a number but its last have their highest bit set. (This is the "zigzag" and "varint" coding of protocol buffers.)
"""

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["coded", "decoded", "packed", "unpacked"]


def coded(values: Iterable[int]) -> bytes:
    """The bytes of a column."""
    found = bytearray()
    before = 0
    for value in values:
        step, before = value - before, value
        rest = step << 1 if step >= 0 else ~(step << 1)
        while rest > 0x7F:
            found.append(rest & 0x7F | 0x80)
            rest >>= 7
        found.append(rest)
    return bytes(found)


def decoded(data: bytes) -> Iterator[int]:
    """The numbers of a column from its bytes."""
    value = part = shift = 0
    for byte in data:
        part |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value += ~(part >> 1) if part & 1 else part >> 1
            yield value
            part = shift = 0


def packed(columns: Iterable[Sequence[int]]) -> str:
    """Columns, one after the other, as text: their bytes, deflated (RFC 1950), in base64. How many numbers each column
    has is not in it."""
    return base64.b64encode(zlib.compress(b"".join(map(coded, columns)), 9)).decode()


def unpacked(text: str, lengths: Iterable[int]) -> list[list[int]]:
    """The columns from that text, whose ``lengths`` are known. Raises ValueError if they are not those of the text."""
    data = zlib.decompress(base64.b64decode(text))
    found, at = [], 0
    for length in lengths:
        end = at
        for _ in range(length):
            while end < len(data) and data[end] & 0x80:
                end += 1
            end += 1
        column = list(decoded(data[at:end]))
        if len(column) != length:
            raise ValueError(f"{length} numbers were expected, {len(column)} are there")
        found.append(column)
        at = end
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes are left over")
    return found

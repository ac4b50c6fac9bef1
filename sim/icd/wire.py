"""Messages between ``libsluice.so`` and its server: numbers of 64 bits and byte strings, each behind a letter.

The same format as in library/server.cpp. A message is its length (8 bytes, little endian) and its items; a request
begins with the numbers of the objects that the host has released, then its name.
"""

import array
import os
import socket
import struct
from collections.abc import Iterable
from typing import Self

__all__ = ["Reader", "Writer", "receive", "receive_fd", "send"]

_NUMBER, _VALUE, _SIZE = struct.Struct("<cq"), struct.Struct("<q"), struct.Struct("<Q")


class Reader:
    """Reads the items of a message in order. Raises ValueError where another kind of item is there."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self) -> int:
        """The next item, a number."""
        self._tag(b"i")
        (value,) = _VALUE.unpack_from(self._data, self._at)
        self._at += _VALUE.size
        return value

    def numbers(self) -> list[int]:
        """A count, and so many numbers."""
        count = self.number()
        end = self._at + count * _NUMBER.size
        piece = self._data[self._at : end]
        items = [*_NUMBER.iter_unpack(piece)] if len(piece) == end - self._at else []
        if [tag for tag, _ in items] != [b"i"] * count or count < 0:
            raise ValueError(f"{count} numbers are wanted at byte {self._at}")
        self._at = end
        return [value for _, value in items]

    def blob(self) -> bytes:
        """The next item, a byte string."""
        self._tag(b"b")
        (size,) = _SIZE.unpack_from(self._data, self._at)
        self._at += _SIZE.size + size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        """The next item as text; bytes that are not UTF-8 become U+FFFD, which the compiler then refuses by place."""
        return self.blob().decode(errors="replace")

    def named(self, name: str) -> Self:
        """This reader behind the name of the request. Raises ValueError for another request."""
        if (found := self.text()) != name:
            raise ValueError(f"{name} is wanted, not {found}")
        return self

    def _tag(self, wanted: bytes) -> None:
        if self._data[self._at : self._at + 1] != wanted:
            raise ValueError(f"item {wanted!r} is wanted at byte {self._at}")
        self._at += 1


class Writer:
    """Collects the items of a message."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def number(self, value: int) -> Self:
        """Append a number."""
        self._parts.append(_NUMBER.pack(b"i", value))
        return self

    def numbers(self, values: Iterable[int]) -> Self:
        """Append numbers, without their count."""
        self._parts += [_NUMBER.pack(b"i", value) for value in values]
        return self

    def blob(self, value: bytes) -> Self:
        """Append a byte string."""
        self._parts.append(b"b" + _SIZE.pack(len(value)) + value)
        return self

    def text(self, value: str) -> Self:
        """Append text."""
        return self.blob(value.encode(errors="replace"))

    def raw(self, items: bytes) -> Self:
        """Append items that another writer collected."""
        self._parts.append(items)
        return self

    def data(self) -> bytes:
        """The message so far."""
        return b"".join(self._parts)


def receive(connection: socket.socket) -> tuple[Reader, int | None] | None:
    """The next message, and the file that came along, which is the caller's; None when the other side has closed the
    connection."""
    head, fds, _flags, _address = socket.recv_fds(connection, _SIZE.size, 1)
    rest = _exactly(connection, _SIZE.size - len(head)) if head else None
    data = None if rest is None else _exactly(connection, _SIZE.unpack(head + rest)[0])
    if data is None:
        for fd in fds:
            os.close(fd)
        return None
    return Reader(data), fds[0] if fds else None


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    parts = bytearray(count)
    view, at = memoryview(parts), 0
    while at < count:
        got = connection.recv_into(view[at:])
        if not got:
            return None
        at += got
    return bytes(parts)


def send(connection: socket.socket, data: bytes, fd: int | None = None) -> None:
    """Send a message, and a file along with its length. Raises OSError when the other side is gone."""
    size = _SIZE.pack(len(data))
    if fd is None:
        connection.sendall(size + data)
        return
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
    connection.sendmsg([size], files)
    connection.sendall(data)


def receive_fd(control: socket.socket) -> socket.socket | None:
    """The next connection that the host opens; None when it has ended."""
    data, fds, _flags, _address = socket.recv_fds(control, 1, 1)
    return socket.socket(fileno=fds[0]) if data and fds else None

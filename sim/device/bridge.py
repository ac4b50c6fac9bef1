"""Accesses of a board's bus over a line, in the protocol of LiteX's UARTBone: words of 32 bits, no acknowledgement of
writes."""

from collections.abc import Sequence

import numpy as np

from .bus import Words
from .line import DeviceError, Line

__all__ = ["Bridge"]

WRITE, READ = 1, 2
#: words that one command moves, at most
MOST = 255
#: commands that are sent before the line is checked
TOGETHER = 2
#: the bridge drops a command that is not complete after a tenth of a second
PAUSE = 0.2
#: how often a transfer that may be repeated is tried
TRIES = 3


class Bridge:
    """Words at byte addresses of the bus. ``fence`` is an address whose word is always ``value``: reading it shows that
    the commands before it were complete, as the bridge answers nothing to a write. Raises DeviceError."""

    def __init__(self, line: Line, fence: int) -> None:
        self.line, self._fence = line, fence
        self._value: int | None = None

    @property
    def place(self) -> str:
        """The path of the serial port."""
        return self.line.path

    @property
    def closed(self) -> bool:
        """Whether the line was closed."""
        return self.line.closed

    def close(self) -> None:
        """Close the line; safe to call twice."""
        self.line.close()

    def read(self, address: int, words: int = 1) -> Words:
        """The words from that address on."""
        parts = []
        for first in range(0, words, MOST):
            count = min(MOST, words - first)
            self.line.send(_head(READ, address + 4 * first, count))
            parts.append(np.frombuffer(self.line.receive(4 * count), ">u4"))
        return np.concatenate(parts).astype(np.uint32)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write words from that address on, once: registers may do something at each write."""
        self._send(address, np.asarray(words, np.uint32))
        self._check()

    def fill(self, address: int, words: Words) -> None:
        """Write words of memory, and again if bytes were lost."""
        for first in range(0, len(words), MOST * TOGETHER):
            part = words[first : first + MOST * TOGETHER]
            for tries_left in reversed(range(TRIES)):
                self._send(address + 4 * first, part)
                try:
                    last = address + 4 * (first + len(part) - 1)
                    if self.read(last)[0] != part[-1]:
                        raise DeviceError(f"the board at {self.line.path} has lost bytes of a transfer")
                    break
                except DeviceError:
                    if not tries_left:
                        raise
                    self.line.forget(PAUSE)

    def settle(self) -> None:
        """Find the end of what an earlier program may have left half sent, and take the fence's value."""
        for tries_left in reversed(range(TRIES)):
            self.line.forget(0 if tries_left == TRIES - 1 else PAUSE)
            try:
                self._value = int(self.read(self._fence)[0])
                return
            except DeviceError:
                if not tries_left:
                    raise

    def _send(self, address: int, words: Words) -> None:
        for first in range(0, len(words), MOST):
            part = words[first : first + MOST]
            self.line.send(_head(WRITE, address + 4 * first, len(part)) + part.astype(">u4").tobytes())

    def _check(self) -> None:
        """Raises DeviceError if the line has lost bytes."""
        try:
            found = int(self.read(self._fence)[0])
        except DeviceError as error:
            raise DeviceError(f"bytes to the board were lost: {error}") from error
        if self._value is not None and found != self._value:
            raise DeviceError(f"bytes of the line to the board at {self.line.path} were lost; begin again")


def _head(command: int, address: int, words: int) -> bytes:
    return bytes((command, words)) + (address // 4).to_bytes(4, "big")

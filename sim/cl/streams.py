"""Streams of the simulated board, which I/O channels read and write."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hls.rtl.interface import StreamInterface

from .constants import status_code
from .errors import LogicError
from .memory import host_bytes

if TYPE_CHECKING:
    from .program import Program

__all__ = ["Stream"]


class Stream:
    """A stream of the board that a program's I/O channel is bound to. Values wait, in any number, on the board's side.

    Both ends see the effects of launches that were queued before, as far as these end by themselves.
    """

    def __init__(self, program: "Program", interface: StreamInterface) -> None:
        self.program, self.interface = program, interface

    @property
    def value_bytes(self) -> int:
        """The size of a value."""
        return self.interface.bits // 8

    def feed(self, values: Any) -> None:
        """Pass values for the kernels to read: an array, or any object with a buffer, such as the content of a file."""
        data = host_bytes(values, "Stream.feed")
        if self.interface.direction != "in":
            raise self._wrong("is written by the kernels; take() what they wrote")
        if data.size % self.value_bytes:
            raise self._wrong(
                f"passes values of {self.value_bytes} bytes; {data.size} bytes are no whole number of them"
            )
        with self.program.context.simulated.guard as guard:
            self.program._launches.settle()
            if self.program._emulated:
                self.program._native.feed(self.interface, data.tobytes())
            else:
                self.program._system.session.feed(self.interface.name, self.value_bytes, data.tobytes())
            guard.changed()

    def take(self, dtype: Any = np.uint8) -> np.ndarray:
        """The values that kernels wrote since the last call, as elements of ``dtype``."""
        if self.interface.direction != "out":
            raise self._wrong("is read by the kernels; feed() it")
        simulated = self.program.context.simulated
        with simulated.guard:
            if self.program._emulated:
                data = self.program._native.drain(self.interface)
                while simulated.schedule.pump():  # commands that depended on launches which have ended now
                    data += self.program._native.drain(self.interface)
            else:
                self.program._launches.settle()
                data = self.program._system.session.drain(self.interface.name, self.value_bytes)
        if len(data) % np.dtype(dtype).itemsize:
            raise self._wrong(f"wrote {len(data)} bytes, which are no whole number of {np.dtype(dtype)}")
        return np.frombuffer(data, dtype)

    def _wrong(self, what: str) -> LogicError:
        return LogicError("Stream", status_code.INVALID_VALUE, f"stream {self.interface.name} {what}")

"""The text that kernels print on the simulated board."""

import sys

from hls.ir.printing import Format, in_order, shown, type_named
from hls.rtl.interface import StreamInterface, SystemInterface

from .session import Session

__all__ = ["Console"]

#: A kernel has sent its last record before it ends. Where a stream was idle for so many cycles since then, no record is
#: left between the kernel and the stream: the path is a few registers, each of which may stall at random in tests.
IDLE_CYCLES = 64


class Console:
    """Writes to stdout what the kernels of a system print."""

    def __init__(self, interface: SystemInterface) -> None:
        self.streams = [one for one in interface.streams if one.formats]
        #: records with places, by stream, whose launch has not ended: others may come before them
        self._held: dict[str, bytes] = {}

    def show(self, session: Session, ended: str | None = None) -> None:
        """Write what kernels have printed since the last call: everything of the kernel ``ended``, of which no record
        is under way when this returns, and of others what nothing can come before; everything of all kernels where
        None ends by itself."""
        for stream in self.streams:
            while stream.prints_for == ended and (idle := session.idle(stream.name)) < IDLE_CYCLES:
                session.run(IDLE_CYCLES - idle, 0)
            records = self._held.pop(stream.name, b"") + session.drain(stream.name, stream.bits // 8)
            if stream.places and ended not in (None, stream.prints_for):
                self._held[stream.name] = records
            else:
                _show(stream, records)

    def forget(self) -> None:
        """Write what is held of launches that will never end."""
        for stream in self.streams:
            _show(stream, self._held.pop(stream.name, b""))


def _show(stream: StreamInterface, records: bytes) -> None:
    if records:
        formats = [Format(one.text, tuple(map(type_named, one.types))) for one in stream.formats]
        lanes = stream.bits // 32
        sys.stdout.write(shown(in_order(records, lanes, stream.places), lanes, formats, stream.places))
        sys.stdout.flush()

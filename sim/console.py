"""The text that kernels print on the simulated board."""

import sys

from hls.ir.printing import Format, shown, type_named
from hls.rtl.interface import StreamInterface, SystemInterface

from .session import Session

__all__ = ["show_printed"]

#: A kernel has sent its last record before it ends. Where a stream was idle for so many cycles since then, no record is
#: left between the kernel and the stream: the path is a few registers, each of which may stall at random in tests.
IDLE_CYCLES = 64


def show_printed(session: Session, interface: SystemInterface, ended: str | None = None) -> None:
    """Write to stdout what kernels have printed since the last call; the kernel ``ended`` first has sent everything."""
    for stream in interface.streams:
        if stream.formats:
            while stream.prints_for == ended and (idle := session.idle(stream.name)) < IDLE_CYCLES:
                session.run(IDLE_CYCLES - idle, 0)
            _show(stream, session.drain(stream.name, stream.bits // 8))


def _show(stream: StreamInterface, records: bytes) -> None:
    if records:
        formats = [Format(one.text, tuple(map(type_named, one.types))) for one in stream.formats]
        sys.stdout.write(shown(records, stream.bits // 32, formats))
        sys.stdout.flush()

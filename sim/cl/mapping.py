"""Buffers as arrays of the host (clEnqueueMapBuffer)."""

from typing import Self

import numpy as np

from .constants import map_flags, status_code
from .errors import LogicError
from .event import Event, wait_for_events
from .memory import Buffer
from .queue import CommandQueue

__all__ = ["MemoryMap", "enqueue_map_buffer"]


class MemoryMap:
    """What a mapped array is a view of; ``release`` it when the host is done."""

    def __init__(self, queue: CommandQueue, array: np.ndarray):
        self._queue, self._array = queue, array
        self.__array_interface__ = array.__array_interface__

    def release(self, queue: CommandQueue | None = None, wait_for: list[Event] | None = None) -> Event:
        """Unmap: kernels see what was written, as they do anyway."""
        wait_for_events(wait_for or [])
        (queue or self._queue).context.simulated.guard.check()
        now = (queue or self._queue).context.simulated.now_ns
        return Event(now, now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused) -> None:
        self.release()


def enqueue_map_buffer(
    queue: CommandQueue,
    buf: Buffer,
    flags: int,
    offset: int,
    shape,
    dtype,
    order: str = "C",
    strides=None,
    wait_for: list[Event] | None = None,
    is_blocking: bool = True,
) -> tuple[np.ndarray, Event]:
    """The buffer from byte ``offset`` on as an array of the host, which shares the bytes; its ``base`` is a
    :class:`MemoryMap`."""
    wait_for_events(wait_for or [])
    with queue.context.simulated.guard:
        queue.settle()
        buf.settle()
        return _map(queue, buf, flags, offset, shape, dtype, order, strides)


def _map(
    queue: CommandQueue, buf: Buffer, flags: int, offset: int, shape, dtype, order: str, strides
) -> tuple[np.ndarray, Event]:
    if not flags or flags & ~(map_flags.READ | map_flags.WRITE | map_flags.WRITE_INVALIDATE_REGION):
        raise LogicError("clEnqueueMapBuffer", status_code.INVALID_VALUE, f"flags {flags:#x} are none of cl.map_flags")
    try:
        contents = buf.contents if flags == map_flags.READ else buf.bytes
        array = np.ndarray(shape, np.dtype(dtype), contents, offset, strides, order)
    except (TypeError, ValueError) as error:
        raise LogicError(
            "clEnqueueMapBuffer",
            status_code.INVALID_VALUE,
            f"an array of shape {shape} from byte {offset} on is not within the buffer of {buf.size} bytes: {error}",
        ) from None
    buf.note_write()
    return np.asarray(MemoryMap(queue, array)), Event(
        *queue.context.simulated.transfer(array.nbytes if flags & map_flags.READ else 0)
    )

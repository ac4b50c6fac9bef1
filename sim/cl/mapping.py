"""Buffers as arrays of the host (clEnqueueMapBuffer)."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np

from .constants import command_type, map_flags, status_code
from .errors import LogicError
from .event import Event
from .host_commands import enqueue_host_command
from .memory import Buffer
from .queue import CommandQueue

__all__ = ["MemoryMap", "enqueue_map_buffer"]


class MemoryMap:
    """The base of a mapped array; ``release`` it when the host is done."""

    def __init__(self, queue: CommandQueue, array: np.ndarray, write_back: Callable[[], int], buf: Buffer) -> None:
        self._queue, self._array, self._write_back, self._buffer = queue, array, write_back, buf
        self.__array_interface__ = array.__array_interface__

    def release(self, queue: CommandQueue | None = None, wait_for: list[Event] | None = None) -> Event:
        """Unmap. (Kernels see the host's writes even before that, except to the host's memory of USE_HOST_PTR.)"""
        queue = queue or self._queue
        transfer = queue.context.simulated.transfer
        work: Callable[[float], tuple[float, float]] = lambda ready_ns: transfer(self._write_back(), ready_ns)
        return enqueue_host_command(queue, wait_for, command_type.UNMAP_MEM_OBJECT, work, [self._buffer])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.release()


def enqueue_map_buffer(
    queue: CommandQueue,
    buf: Buffer,
    flags: int,
    offset: int,
    shape: int | Sequence[int],
    dtype: Any,
    order: Literal["C", "F"] = "C",
    strides: Sequence[int] | None = None,
    wait_for: list[Event] | None = None,
    is_blocking: bool = True,
) -> tuple[np.ndarray, Event]:
    """The buffer from byte ``offset`` on as an array of the host, which shares the bytes; its ``base`` is a
    :class:`MemoryMap`. Of a buffer with USE_HOST_PTR it is a part of the host's own memory, a copy while it is
    mapped."""
    board = queue.context.simulated
    with board.guard:
        array = _view(buf, flags, offset, shape, dtype, order, strides)
    moved = array.nbytes if flags & map_flags.READ else 0

    first, last = offset, offset + array.nbytes if strides is None else buf.size
    theirs, writes = buf.host_memory, flags & (map_flags.WRITE | map_flags.WRITE_INVALIDATE_REGION)

    def work(ready_ns: float) -> tuple[float, float]:
        buf.note_write()
        if theirs is not None and not flags & map_flags.WRITE_INVALIDATE_REGION:
            theirs[first:last] = buf.contents[first:last]
        return board.transfer(moved, ready_ns)

    def write_back() -> int:
        """The number of bytes that the unmapping moves."""
        if theirs is None or not writes:
            return 0
        buf.contents[first:last] = theirs[first:last]
        buf.note_write()
        return last - first

    event = enqueue_host_command(
        queue, wait_for, command_type.MAP_BUFFER, work, [buf], is_blocking=is_blocking, bytes=moved
    )
    return np.asarray(MemoryMap(queue, array, write_back, buf)), event


def _view(
    buf: Buffer,
    flags: int,
    offset: int,
    shape: int | Sequence[int],
    dtype: Any,
    order: Literal["C", "F"],
    strides: Sequence[int] | None,
) -> np.ndarray:
    if not flags or flags & ~(map_flags.READ | map_flags.WRITE | map_flags.WRITE_INVALIDATE_REGION):
        raise LogicError("clEnqueueMapBuffer", status_code.INVALID_VALUE, f"flags {flags:#x} are none of cl.map_flags")
    try:
        own = buf.contents if flags == map_flags.READ or buf.host_memory is not None else buf.bytes
        contents = own if buf.host_memory is None else buf.host_memory
        return np.ndarray(shape, np.dtype(dtype), contents, offset, strides, order)
    except (TypeError, ValueError) as error:
        raise LogicError(
            "clEnqueueMapBuffer",
            status_code.INVALID_VALUE,
            f"an array of shape {shape} from byte {offset} on is not within the buffer of {buf.size} bytes: {error}",
        ) from None

"""Copies between host arrays and buffers, and between buffers; fills."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .constants import command_type, status_code
from .errors import LogicError
from .event import Event
from .host_commands import enqueue_host_command
from .memory import Buffer, host_bytes
from .queue import CommandQueue
from .rectangles import box

__all__ = ["enqueue_copy", "enqueue_fill_buffer"]

ROUTINE = "enqueue_copy"
#: no bytes of these pass the link to the host
WITHIN_BOARD = (command_type.COPY_BUFFER, command_type.COPY_BUFFER_RECT, command_type.FILL_BUFFER)


def enqueue_copy(
    queue: CommandQueue,
    dest: Any,
    src: Any,
    *,
    is_blocking: bool = True,
    wait_for: list[Event] | None = None,
    device_offset: int = 0,
    src_offset: int = 0,
    dst_offset: int = 0,
    dest_offset: int | None = None,
    byte_count: int | None = None,
    region: Sequence[int] | None = None,
    **corners: Sequence[int],
) -> Event:
    """Copy between host arrays and buffers, or between buffers.

    ``device_offset`` is the offset in bytes into the buffer of a copy from or to the host; ``src_offset``,
    ``dst_offset`` and ``byte_count`` are for copies between buffers. Host arrays are contiguous. ``region`` is (bytes
    of a row, rows, planes) of a part of both, with ``buffer_origin``, ``host_origin``, ``buffer_pitches`` and
    ``host_pitches``, or between buffers ``src_origin``, ``dst_origin``, ``src_pitches`` and ``dst_pitches``.
    A copy between buffers never blocks.
    """
    used = [side for side in (dest, src) if isinstance(side, Buffer)]
    if not used and region is None and not corners:
        what = f"neither {type(dest).__name__} nor {type(src).__name__} is a buffer"
        raise LogicError(ROUTINE, status_code.INVALID_MEM_OBJECT, what)
    with queue.context.simulated.guard:
        if region is not None or corners:
            parts, rect = _regions(dest, src, region, corners), "_RECT"
        else:
            offset = dst_offset if dest_offset is None else dest_offset
            parts, rect = _ranges(dest, src, device_offset, src_offset, offset, byte_count), ""
    kind = "COPY" if len(used) == 2 else "WRITE" if used[0] is dest else "READ"
    number = getattr(command_type, f"{kind}_BUFFER{rect}")
    return _copy(queue, wait_for, number, *parts, used, dest, is_blocking and len(used) < 2)


def _ranges(
    dest: Any, src: Any, device_offset: int, src_offset: int, offset: int, byte_count: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Contiguous bytes of source and destination."""
    if isinstance(dest, Buffer) and isinstance(src, Buffer):
        count = min(src.size - src_offset, dest.size - offset) if byte_count is None else byte_count
        return _part(dest, offset, count), _part(src, src_offset, count)
    if isinstance(dest, Buffer):
        source = host_bytes(src, ROUTINE)
        return _part(dest, device_offset, source.size), source
    target = host_bytes(dest, ROUTINE, writable=True)
    return target, _part(src, device_offset, target.size)


def _regions(
    dest: Any, src: Any, region: Sequence[int] | None, corners: dict[str, Sequence[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """A region of rows and planes of source and destination."""
    both = isinstance(dest, Buffer) and isinstance(src, Buffer)
    names = ("dst", "src") if both else tuple("buffer" if isinstance(side, Buffer) else "host" for side in (dest, src))
    unknown = corners.keys() - {f"{name}_{what}" for name in names for what in ("origin", "pitches")}
    if region is None or unknown or names == ("host", "host"):
        what = (
            f"no arguments of this copy: {', '.join(sorted(unknown))}"
            if unknown
            else "a copy of a part wants a region, and a buffer"
        )
        raise LogicError(ROUTINE, status_code.INVALID_VALUE, what)
    parts: list[np.ndarray] = []
    for side, name in zip((dest, src), names, strict=True):
        data = side.contents if isinstance(side, Buffer) else host_bytes(side, ROUTINE, writable=side is dest)
        parts.append(
            box(data, corners.get(f"{name}_origin", ()), region, corners.get(f"{name}_pitches", ()), f"the {name} side")
        )
    target, source = parts
    return target, source


def enqueue_fill_buffer(
    queue: CommandQueue, mem: Buffer, pattern: Any, offset: int, size: int, wait_for: list[Event] | None = None
) -> Event:
    """Fill bytes [offset, offset + size) with repetitions of ``pattern`` (a numpy scalar or array)."""
    unit = host_bytes(np.array(pattern, order="C"), "enqueue_fill_buffer")
    if size % unit.size or offset % unit.size:
        raise LogicError(
            "enqueue_fill_buffer",
            status_code.INVALID_VALUE,
            f"offset {offset} and size {size} must be multiples of the pattern's {unit.size} bytes",
        )
    with queue.context.simulated.guard:
        target = _part(mem, offset, size)
    return _copy(queue, wait_for, command_type.FILL_BUFFER, target, np.tile(unit, size // unit.size), [mem], mem, False)


def _part(buffer: Buffer, offset: int, count: int) -> np.ndarray:
    if offset < 0 or count < 0 or offset + count > buffer.size:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_VALUE,
            f"bytes {offset} to {offset + count} are not within the buffer of {buffer.size} bytes",
        )
    return buffer.contents[offset : offset + count]


def _copy(
    queue: CommandQueue,
    wait_for: list[Event] | None,
    kind: int,
    target: np.ndarray,
    source: np.ndarray,
    used: list[Buffer],
    dest: Any,
    is_blocking: bool,
) -> Event:
    if np.shares_memory(target, source):
        raise LogicError(ROUTINE, status_code.MEM_COPY_OVERLAP, "source and destination overlap")
    board = queue.context.simulated

    def work(ready_ns: float) -> tuple[float, float]:
        if isinstance(dest, Buffer):
            dest.note_write()
        target[:] = source
        if kind in WITHIN_BOARD:
            return board.move(target.size, used[0].memory, ready_ns)
        return board.transfer(target.size, ready_ns)

    return enqueue_host_command(queue, wait_for, kind, work, used, is_blocking=is_blocking, bytes=target.size)

"""Command queues: launches run in the order in which they are queued, and beside those of other queues; see
sim.cl.schedule.

A call that copies, fills or maps waits for the launches of its queue, for its events, and for launches of other queues
that use its buffers as far as they can end by themselves. It has done its work when it returns."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from .constants import command_queue_properties, status_code
from .errors import LogicError
from .event import Event, Marker, PendingEvent, dependencies, wait_for_events
from .memory import Buffer, host_bytes
from .platform import Context, Device
from .rectangles import box

__all__ = [
    "CommandQueue",
    "enqueue_barrier",
    "enqueue_copy",
    "enqueue_fill_buffer",
    "enqueue_marker",
    "enqueue_migrate_mem_objects",
]


class CommandQueue:
    """A queue on the context's board. Profiling is always on."""

    def __init__(self, context: Context, device: Device | None = None, properties: int | None = None):
        if device is not None and device is not context.device:
            raise LogicError("CommandQueue", status_code.INVALID_DEVICE, "the device is not the context's")
        self.context = context
        self.properties = (properties or 0) | command_queue_properties.PROFILING_ENABLE
        self.unfinished: list[PendingEvent] = []  #: what has not ended, and what failed and was not told
        self._most = 16  #: so many before those that have ended are looked for

    @property
    def device(self) -> Device:
        return self.context.device

    def finish(self) -> None:
        """Return when all commands are finished. Raises what the first raises that failed since the last call, whether
        its event told it or not."""
        with self.context.simulated.guard:
            self._complete()
            failed = [event for event in self.unfinished if event.failed and not event.interrupted]
            self.unfinished = [event for event in self.unfinished if not event.over]
        _tell(failed)

    def settle(self) -> None:
        """Return when all commands are finished. Raises what the first raises that failed and of which nobody was
        told."""
        with self.context.simulated.guard:
            self._complete()
            failed = [event for event in self.unfinished if event.failed and not event.told]
        _tell(failed)

    def _complete(self) -> None:
        for event in list(self.unfinished):
            event.complete()

    def flush(self) -> None:
        """Return when all commands are on their way, as they are."""

    def before(self) -> list[PendingEvent]:
        """What the next command has to wait for. Who failed is told by :meth:`finish`, and holds up nobody who comes
        later."""
        last = next((event for event in reversed(self.unfinished) if not event.failed), None)
        return [] if last is None or last.over else [last]

    def note(self, event: PendingEvent) -> None:
        """A command was queued that may not end at once."""
        if len(self.unfinished) >= self._most:
            self.unfinished = [one for one in self.unfinished if not (one.done or one.told)]
            self._most = max(16, 2 * len(self.unfinished))
        self.unfinished.append(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused) -> None:
        self.finish()


def _tell(failed: list[PendingEvent]) -> None:
    for event in failed:
        event.told = True
    if failed:
        raise failed[0].error.with_traceback(None)


def enqueue_copy(
    queue: CommandQueue,
    dest,
    src,
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
    """
    wait_for_events(wait_for or [])
    with queue.context.simulated.guard:
        _wait(queue, dest, src)
        if region is not None or corners:
            return _copy_part(queue, dest, src, region, corners)
        return _copy_all(
            queue, dest, src, device_offset, src_offset, dst_offset if dest_offset is None else dest_offset, byte_count
        )


def _wait(queue: CommandQueue, *used) -> None:
    """Until the host may touch the buffers among ``used``."""
    queue.settle()
    for buffer in used:
        if isinstance(buffer, Buffer):
            buffer.settle()


def _copy_all(
    queue: CommandQueue, dest, src, device_offset: int, src_offset: int, offset: int, byte_count: int | None
) -> Event:
    """Copy bytes that lie one behind the other."""
    if isinstance(dest, Buffer) and isinstance(src, Buffer):
        count = min(src.size - src_offset, dest.size - offset) if byte_count is None else byte_count
        dest.note_write()
        return _copy(queue, _part(dest, offset, count), _part(src, src_offset, count))
    if isinstance(dest, Buffer):
        source = host_bytes(src, "enqueue_copy")
        dest.note_write()
        return _copy(queue, _part(dest, device_offset, source.size), source)
    if isinstance(src, Buffer):
        target = host_bytes(dest, "enqueue_copy", writable=True)
        return _copy(queue, target, _part(src, device_offset, target.size))
    raise LogicError(
        "enqueue_copy",
        status_code.INVALID_MEM_OBJECT,
        f"neither {type(dest).__name__} nor {type(src).__name__} is a buffer",
    )


def _copy_part(
    queue: CommandQueue, dest, src, region: Sequence[int] | None, corners: dict[str, Sequence[int]]
) -> Event:
    """Copy a region of rows and planes."""
    both = isinstance(dest, Buffer) and isinstance(src, Buffer)
    names = ("dst", "src") if both else tuple("buffer" if isinstance(side, Buffer) else "host" for side in (dest, src))
    unknown = corners.keys() - {f"{name}_{what}" for name in names for what in ("origin", "pitches")}
    if region is None or unknown or names == ("host", "host"):
        what = (
            f"no arguments of this copy: {', '.join(sorted(unknown))}"
            if unknown
            else "a copy of a part wants a region, and a buffer"
        )
        raise LogicError("enqueue_copy", status_code.INVALID_VALUE, what)
    parts = []
    for side, name in zip((dest, src), names, strict=True):
        data = side.contents if isinstance(side, Buffer) else host_bytes(side, "enqueue_copy", writable=side is dest)
        parts.append(
            box(data, corners.get(f"{name}_origin", ()), region, corners.get(f"{name}_pitches", ()), f"the {name} side")
        )
    if isinstance(dest, Buffer):
        dest.note_write()
    return _copy(queue, *parts)


def enqueue_fill_buffer(
    queue: CommandQueue, mem: Buffer, pattern, offset: int, size: int, wait_for: list[Event] | None = None
) -> Event:
    """Fill bytes [offset, offset + size) with repetitions of ``pattern`` (a numpy scalar or array)."""
    wait_for_events(wait_for or [])
    with queue.context.simulated.guard:
        _wait(queue, mem)
        return _fill(queue, mem, pattern, offset, size)


def _fill(queue: CommandQueue, mem: Buffer, pattern, offset: int, size: int) -> Event:
    unit = host_bytes(np.ascontiguousarray(pattern), "enqueue_fill_buffer")
    if size % unit.size or offset % unit.size:
        raise LogicError(
            "enqueue_fill_buffer",
            status_code.INVALID_VALUE,
            f"offset {offset} and size {size} must be multiples of the pattern's {unit.size} bytes",
        )
    mem.note_write()
    return _copy(queue, _part(mem, offset, size), np.tile(unit, size // unit.size))


def enqueue_barrier(queue: CommandQueue, wait_for: list[Event] | None = None) -> Event:
    """An event for all commands queued so far, and for those of ``wait_for``; what is queued later waits for it."""
    schedule = queue.context.simulated.schedule
    after = dependencies(schedule, wait_for)
    with queue.context.simulated.guard:
        marker = Marker(schedule, [*queue.before(), *after])
        queue.note(marker)
        schedule.add(marker)
    return marker


enqueue_marker = enqueue_barrier


def _part(buffer: Buffer, offset: int, count: int) -> np.ndarray:
    if offset < 0 or count < 0 or offset + count > buffer.size:
        raise LogicError(
            "enqueue_copy",
            status_code.INVALID_VALUE,
            f"bytes {offset} to {offset + count} are not within the buffer of {buffer.size} bytes",
        )
    return buffer.contents[offset : offset + count]


def _copy(queue: CommandQueue, target: np.ndarray, source: np.ndarray) -> Event:
    if np.shares_memory(target, source):
        raise LogicError("enqueue_copy", status_code.MEM_COPY_OVERLAP, "source and destination overlap")
    target[:] = source
    return Event(*queue.context.simulated.transfer(target.size))


def enqueue_migrate_mem_objects(
    queue: CommandQueue, mem_objects: list, flags: int = 0, wait_for: list | None = None
) -> Event:
    """Buffers of a context are in the memory of its one board: nothing has to be moved."""
    return enqueue_marker(queue, wait_for)

"""Buffers in the board's memory, and the bytes of host arrays."""

import weakref
from typing import Any

import numpy as np

from hls.narrow import present
from hls.target.board import Memory

from .board import Allocation
from .constants import mem_flags, mem_info, mem_object_type, status_code
from .errors import LogicError
from .event import Event, PendingEvent
from .facts import fact
from .platform import Context
from .timeline import TIMELINE

__all__ = ["Buffer", "LocalMemory", "MemoryObject", "Pipe", "host_bytes"]

BANK_SHIFT, BANK_MASK = 16, 7  #: of the flags that select a bank
COPIES = mem_flags.COPY_HOST_PTR | mem_flags.USE_HOST_PTR


class LocalMemory:
    """A local memory argument of ``size`` bytes."""

    def __init__(self, size: int) -> None:
        self.size = size


class MemoryObject:
    """An object in the memory of a context's board."""

    context: Context
    flags: int
    type = mem_object_type.BUFFER
    reference_count, map_count = 1, 0

    @property
    def host_ptr(self) -> int | None:
        """The address of the host's memory for it; None without."""
        return None

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, mem_info, parameter, f"{type(self).__name__}.get_info")


class Buffer(MemoryObject):
    """``size`` bytes of the board's global memory; with ``hostbuf`` and COPY_HOST_PTR initialized as a copy of it.

    USE_HOST_PTR copies too, as the board has memory of its own: the host sees results in its array while it maps the
    buffer, and kernels see what it wrote there when it unmaps. The flag CHANNEL_1_INTELFPGA (or _2 ...) allocates it in
    that bank, if the program was built with -no-interleaving. It lies in the board's default memory, or in the memory
    named ``memory``, and moves when a kernel is launched whose argument has a buffer_location elsewhere.
    """

    def __init__(
        self, context: Context, flags: int, size: int = 0, hostbuf: Any = None, *, memory: str | None = None
    ) -> None:
        if hostbuf is not None and not flags & COPIES:
            raise LogicError(
                "create_buffer", status_code.INVALID_HOST_PTR, "hostbuf is given without COPY_HOST_PTR or USE_HOST_PTR"
            )
        if hostbuf is None and flags & COPIES:
            raise LogicError("create_buffer", status_code.INVALID_HOST_PTR, "the flags ask for a hostbuf")
        source = None if hostbuf is None else host_bytes(hostbuf, "create_buffer")
        size = size or (0 if source is None else source.size)
        if size <= 0:
            raise LogicError("create_buffer", status_code.INVALID_BUFFER_SIZE, f"a buffer needs bytes, not {size}")
        if source is not None and size > source.size:
            raise LogicError(
                "create_buffer",
                status_code.INVALID_VALUE,
                f"size {size} is greater than the host buffer of {source.size} bytes",
            )
        board = context.simulated.facts
        home = board.memory_named(memory)
        if home is None:
            raise LogicError(
                "create_buffer",
                status_code.INVALID_VALUE,
                f"board {board.name} has no memory {memory!r}; it has {', '.join(one.name for one in board.memories)}",
            )
        self.context, self.flags, self.size = context, flags, int(size)
        self._parent: Buffer | None = None
        self._origin = 0
        self._launches: weakref.WeakSet[PendingEvent] = weakref.WeakSet()  # some may not have ended
        self._home = home
        self._shown = False  # code outside may write the bytes at any time
        theirs = source is not None and flags & mem_flags.USE_HOST_PTR and source.flags.writeable
        self._host_memory = present(source)[: self.size] if theirs else None
        self._released = False
        self._written: float
        with context.simulated.guard:
            self.note_write()
            self._allocation = context.simulated.allocate(self.size, (flags >> BANK_SHIFT & BANK_MASK) - 1, home)
            if source is not None:
                self.contents[:] = source[: self.size]
                times = context.simulated.transfer(self.size)
                TIMELINE.command("create", Event(*times), self.size)

    @property
    def written(self) -> float:
        """The board's stamp of the last write; infinite if it cannot be known."""
        root = self.whole
        return float("inf") if root._shown else root._written

    def note_write(self) -> None:
        """Called when the host or a kernel has written, or is about to."""
        self.whole._written = self.context.simulated.next_stamp()

    @property
    def whole(self) -> "Buffer":
        """The buffer that this is a sub-region of, or itself."""
        return self if self._parent is None else self._parent.whole

    @property
    def host_memory(self) -> np.ndarray | None:
        """The host's own bytes of a buffer with USE_HOST_PTR, which mappings show; None for others, and where the host
        gave memory that it must not write."""
        if self._parent is None:
            return self._host_memory
        whole = self._parent.host_memory
        return None if whole is None else whole[self._origin : self._origin + self.size]

    @property
    def host_ptr(self) -> int | None:
        """The address of :attr:`host_memory`."""
        return None if self.host_memory is None else self.host_memory.ctypes.data

    @property
    def contents(self) -> np.ndarray:
        """The bytes, for callers that report their writes."""
        return self.context.simulated.view(self.allocation)

    @property
    def allocation(self) -> Allocation:
        """The buffer's allocation. Raises LogicError after release()."""
        if self._released:
            raise LogicError("Buffer", status_code.INVALID_MEM_OBJECT, "the buffer has been released")
        return self.place

    @property
    def place(self) -> Allocation:
        """The same for pending launches, which may use a buffer that the host has released."""
        return (
            self._allocation
            if self._parent is None
            else Allocation(self._parent.place.address + self._origin, self.size)
        )

    @property
    def memory(self) -> Memory:
        """The board's memory in which the buffer lies."""
        return self.whole._home

    def note_launch(self, launch: PendingEvent) -> None:
        """A kernel uses the buffer until this has ended."""
        self.whole._launches.add(launch)

    def settle(self) -> None:
        """Run to their end the launches that use the buffer and need no command that has not been queued. Their
        failures are reported where they are waited for."""
        for launch in self.able_to_end():
            launch.complete()

    def able_to_end(self) -> list[PendingEvent]:
        """The launches that use the buffer and need no command that has not been queued, in order."""
        found = [one for one in self.whole._launches if not one.over and not one.needs_others]
        return sorted(found, key=lambda one: one.number)

    def move_to(self, home: Memory) -> None:
        """Move to another memory, with its sub-regions. Raises LogicError if the old address is in use outside."""
        root = self.whole
        hint = f'create it there: cl.Buffer(..., memory="{home.name}")'
        if root._shown:
            raise LogicError(
                "clEnqueueNDRangeKernel",
                status_code.INVALID_MEM_OBJECT,
                f"the buffer has to move from memory {self.memory.name} to {home.name}, and its bytes have been "
                f"given out; {hint}",
            )
        self.settle()
        if any(not one.over for one in root._launches):
            raise LogicError(
                "clEnqueueNDRangeKernel",
                status_code.INVALID_MEM_OBJECT,
                f"the buffer has to move from memory {self.memory.name} to {home.name}, and a kernel that uses it "
                "has not ended; "
                f"wait for that, or {hint}",
            )
        board, old = self.context.simulated, root.allocation
        new = board.allocate(root.size, memory=home)
        board.view(new)[:] = board.view(old)
        board.free(old)
        root._allocation, root._home = new, home
        root.note_write()

    @property
    def address(self) -> int:
        """Global byte address, as passed to a kernel."""
        return self.allocation.address

    @property
    def int_ptr(self) -> int:
        """The buffer's address in the board's global memory, in bytes."""
        return self.address

    @property
    def bytes(self) -> np.ndarray:
        """The contents, shared with the simulated board, once the launches that use it have ended. Constant caches do
        not retain a buffer whose bytes were requested."""
        with self.context.simulated.guard:
            self.settle()
            self.whole._shown = True
            return self.contents

    @property
    def associated_memobject(self) -> "Buffer | None":
        """The buffer that this is a sub-region of."""
        return self._parent

    @property
    def offset(self) -> int:
        """Byte offset of a sub-region in its buffer."""
        return self._origin

    def get_sub_region(self, origin: int, size: int, flags: int = 0) -> "Buffer":
        """The part [origin, origin + size) as a buffer of its own, sharing the bytes."""
        if origin < 0 or size <= 0 or origin + size > self.size:
            raise LogicError(
                "Buffer.get_sub_region",
                status_code.INVALID_VALUE,
                f"bytes {origin} to {origin + size} are not within the buffer of {self.size}",
            )
        part = Buffer.__new__(Buffer)
        part.context, part.flags, part.size, part._parent = self.context, flags or self.flags, size, self
        part._origin, part._allocation, part._released = origin, Allocation(self.address + origin, size), False
        return part

    def __getitem__(self, where: slice) -> "Buffer":
        start, stop, step = where.indices(self.size)
        if step != 1:
            raise LogicError("Buffer.__getitem__", status_code.INVALID_VALUE, "a part of a buffer has step 1")
        return self.get_sub_region(start, stop - start)

    def release(self) -> None:
        """Free the memory, when the launches that use it have ended."""
        board = self.context.simulated
        with board.guard:
            allocation, self._released = self.allocation, True
            if self._parent is None:
                board.drop(allocation, tuple(one for one in self._launches if not one.over))
                board.reclaim()

    def __del__(self) -> None:
        # A buffer whose constructor raised has nothing to free.
        if not getattr(self, "_released", True) and self._parent is None and hasattr(self, "_allocation"):
            self.context.simulated.drop(self._allocation)


class Pipe(MemoryObject):
    """The host's object for a pipe. Kernels are connected by the names of their pipe parameters, so it holds
    nothing itself."""

    type = mem_object_type.PIPE
    size, offset, associated_memobject = 0, 0, None

    def __init__(self, context: Context, flags: int = 0, packet_size: int = 0, max_packets: int = 0) -> None:
        self.context, self.flags, self.packet_size, self.max_packets = context, flags, packet_size, max_packets


def host_bytes(array: Any, routine: str, writable: bool = False) -> np.ndarray:
    """The bytes of a contiguous host array or buffer, without a copy. Raises LogicError if that is impossible."""
    try:
        view = memoryview(array)
    except TypeError:
        raise LogicError(
            routine, status_code.INVALID_VALUE, f"a host array is wanted, not {type(array).__name__}"
        ) from None
    if not view.contiguous:
        raise LogicError(
            routine, status_code.INVALID_VALUE, "the host array is not contiguous; use numpy.ascontiguousarray"
        )
    if writable and view.readonly:
        raise LogicError(routine, status_code.INVALID_VALUE, "the host array is read-only")
    if isinstance(array, np.ndarray):
        return array.reshape(-1, order="A").view(np.uint8)  # order "A" keeps Fortran arrays from being copied
    return np.frombuffer(view.cast("B"), np.uint8)

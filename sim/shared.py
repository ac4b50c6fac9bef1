"""Memory that the host program and the simulator both map: contents, and a page of control data.

``ControlPage`` mirrors the structure of that name in runtime/shared_memory.h; the simulator refuses to start when
size or version differ.
"""

import ctypes
import mmap
import os
import weakref
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

__all__ = ["Fault", "FaultKind", "Response", "SharedMemory"]

VERSION = 2
MAX_ALLOCATIONS = 4096
MAP_FIXED, MAP_NORESERVE = 0x10, 0x4000  #: of mmap(2) on Linux; Python 3.11 has no names for them


class FaultKind(IntEnum):
    """The kind of an access that the memory refused."""

    NONE = 0
    READ_OUTSIDE = 1
    WRITE_OUTSIDE = 2
    PROTOCOL = 3
    READ_ERROR = 4
    WRITE_ERROR = 5

    @property
    def is_read(self) -> bool:
        """Whether the access was a load; False for stores and violations of the protocol."""
        return self in (FaultKind.READ_OUTSIDE, FaultKind.READ_ERROR)


class Response(IntEnum):
    """AXI's response to a refused access."""

    SLVERR = 2
    DECERR = 3


class _Record(ctypes.Structure):
    _fields_ = [
        ("count", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("cycle", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("bank", ctypes.c_uint64),
    ]


class _Allocation(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_uint64), ("end", ctypes.c_uint64)]


class ControlPage(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("faults", _Record * len(FaultKind)),
        ("failing", _Allocation),
        ("response", ctypes.c_uint64),
        ("allocation_count", ctypes.c_uint64),
        ("allocations", _Allocation * MAX_ALLOCATIONS),
    ]


@dataclass(frozen=True)
class Fault:
    """The first refused access of its kind since the last :meth:`SharedMemory.take_faults`."""

    kind: FaultKind
    address: int  #: global byte address
    bytes: int
    cycle: int  #: of the simulation
    bank: int
    count: int  #: refused accesses of this kind


_maps: "weakref.WeakSet[SharedMemory]" = weakref.WeakSet()


class SharedMemory:
    """The global memory of one simulated board: ``bytes`` bytes, of which only touched pages take space.

    ``contents`` is a writable array of uint8 over all of it. Both files live in memory, not on disk, and vanish with
    the last process that holds them. A forked child has a copy of their contents at the fork: its writes
    change nothing here. Raises the built-in MemoryError if there is not enough address space.
    """

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self.contents_fd = os.memfd_create("sluice-memory")
        self.control_fd = os.memfd_create("sluice-control")
        os.ftruncate(self.contents_fd, bytes)
        os.ftruncate(self.control_fd, ctypes.sizeof(ControlPage))
        flags = mmap.MAP_SHARED | MAP_NORESERVE
        try:
            mapped = mmap.mmap(self.contents_fd, bytes, flags=flags)
        except OSError as error:
            _close(self.contents_fd, self.control_fd)
            raise MemoryError(
                f"the board's memory of {bytes / 2**30:.3g} GiB cannot be mapped: {error.strerror}; raise `ulimit "
                "-v`, or choose a "
                "board with less memory"
            ) from error
        self.contents = np.frombuffer(mapped, np.uint8)
        self._page = ControlPage.from_buffer(mmap.mmap(self.control_fd, ctypes.sizeof(ControlPage)))
        self._page.size, self._page.version = ctypes.sizeof(ControlPage), VERSION
        self._fds = weakref.finalize(self, _close, self.contents_fd, self.control_fd)
        _maps.add(self)

    def close(self) -> None:
        """Close the files; the arrays stay valid until they are dropped."""
        self._fds()
        self.contents_fd = self.control_fd = -1

    def part(self) -> None:
        """In a child after a fork: map both files again at the same addresses, so that writes stay in this
        process."""
        for fd, place, size in (
            (self.contents_fd, self.contents.ctypes.data, self.bytes),
            (self.control_fd, ctypes.addressof(self._page), ctypes.sizeof(ControlPage)),
        ):
            if fd >= 0:
                _map_again(fd, place, size)
        self.close()

    def publish(self, ranges: list[tuple[int, int]]) -> None:
        """Tell the simulator which address ranges [begin, end) may be accessed."""
        if len(ranges) > MAX_ALLOCATIONS:
            raise MemoryError(f"the simulated board keeps at most {MAX_ALLOCATIONS} buffers")
        for entry, (begin, end) in zip(self._page.allocations, sorted(ranges)):
            entry.begin, entry.end = begin, end
        self._page.allocation_count = len(ranges)

    @property
    def published(self) -> list[tuple[int, int]]:
        """The address ranges that may be accessed."""
        return [(one.begin, one.end) for one in self._page.allocations[: self._page.allocation_count]]

    def fail(self, begin: int, end: int, response: Response = Response.SLVERR) -> None:
        """Answer accesses to bytes of [begin, end) with an error from now on; an empty range ends that."""
        self._page.failing.begin, self._page.failing.end, self._page.response = begin, end, response

    def take_faults(self) -> tuple[Fault, ...]:
        """The first refused access of each kind since the last call, in order of arrival."""
        records = [(kind, record) for kind, record in zip(FaultKind, self._page.faults, strict=True) if record.count]
        found = [
            Fault(kind, record.address, record.bytes, record.cycle, record.bank, record.count)
            for kind, record in records
        ]
        for _, record in records:
            record.count = 0
        return tuple(sorted(found, key=lambda fault: fault.cycle))

    def take_fault(self) -> Fault | None:
        """The first of :meth:`take_faults`; None where there are none."""
        return next(iter(self.take_faults()), None)


def _close(*fds: int) -> None:
    for fd in fds:
        os.close(fd)


def _map_again(fd: int, place: int, size: int) -> None:
    """Map the file privately over the shared mapping at that address; read-only if the system grants no more."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    flags = mmap.MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE
    for access in (mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ):
        if library.mmap(place, size, access, flags, fd, 0) == place:
            return
    raise OSError(ctypes.get_errno(), "a child of a fork cannot have its own copy of the simulated board's memory")


def _part_all() -> None:
    for memory in list(_maps):
        memory.part()


os.register_at_fork(after_in_child=_part_all)

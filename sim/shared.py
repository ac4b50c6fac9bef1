"""Memory that the host program and the simulator both map: contents, and a page of control data.

``ControlPage`` mirrors the structure of that name in runtime/shared_memory.h; the simulator refuses to start when
size or version differ.
"""

import ctypes
import mmap
import os
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

__all__ = ["Fault", "FaultKind", "SharedMemory"]

VERSION = 1
MAX_ALLOCATIONS = 4096


class FaultKind(IntEnum):
    """What the memory refused."""

    NONE = 0
    READ_OUTSIDE = 1
    WRITE_OUTSIDE = 2
    PROTOCOL = 3


class _Allocation(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_uint64), ("end", ctypes.c_uint64)]


class ControlPage(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32), ("version", ctypes.c_uint32),
        ("fault", ctypes.c_uint32), ("fault_bank", ctypes.c_uint32),
        ("fault_address", ctypes.c_uint64), ("fault_cycle", ctypes.c_uint64),
        ("fault_bytes", ctypes.c_uint64), ("fault_count", ctypes.c_uint64),
        ("allocation_count", ctypes.c_uint64), ("allocations", _Allocation * MAX_ALLOCATIONS),
    ]


@dataclass(frozen=True)
class Fault:
    """The first refused access since the last :meth:`SharedMemory.take_fault`."""

    kind: FaultKind
    address: int  #: global byte address
    bytes: int
    cycle: int  #: of the simulation
    bank: int
    count: int  #: refused accesses in all


class SharedMemory:
    """The global memory of one simulated board: ``bytes`` bytes, of which only what is touched takes space.

    ``contents`` is a writable array of uint8 over all of it. Both files live in memory, not on disk, and vanish with
    the last process that holds them.
    """

    def __init__(self, bytes: int):
        self.bytes = bytes
        self.contents_fd = os.memfd_create("sluice-memory")
        self.control_fd = os.memfd_create("sluice-control")
        os.ftruncate(self.contents_fd, bytes)
        os.ftruncate(self.control_fd, ctypes.sizeof(ControlPage))
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_NORESERVE", 0)
        self.contents = np.frombuffer(mmap.mmap(self.contents_fd, bytes, flags=flags), np.uint8)
        self._page = ControlPage.from_buffer(mmap.mmap(self.control_fd, ctypes.sizeof(ControlPage)))
        self._page.size, self._page.version = ctypes.sizeof(ControlPage), VERSION

    def close(self) -> None:
        """Give the files up; the arrays stay valid until they are dropped."""
        for fd in (self.contents_fd, self.control_fd):
            if fd >= 0:
                os.close(fd)
        self.contents_fd = self.control_fd = -1

    def publish(self, ranges: list[tuple[int, int]]) -> None:
        """Tell the simulator which address ranges [begin, end) may be accessed."""
        if len(ranges) > MAX_ALLOCATIONS:
            raise MemoryError(f"the simulated board keeps at most {MAX_ALLOCATIONS} buffers")
        for entry, (begin, end) in zip(self._page.allocations, sorted(ranges)):
            entry.begin, entry.end = begin, end
        self._page.allocation_count = len(ranges)

    def take_fault(self) -> Fault | None:
        """The first refused access since the last call; None when there was none."""
        page = self._page
        if page.fault_count == 0:
            return None
        fault = Fault(FaultKind(page.fault), page.fault_address, page.fault_bytes, page.fault_cycle, page.fault_bank,
                      page.fault_count)
        page.fault, page.fault_count = FaultKind.NONE, 0
        return fault

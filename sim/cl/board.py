"""The simulated board of a context: its memory, the allocations in it, and its clock."""

import bisect
import builtins
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hls.target.board import Board, Memory
from sim.shared import MAX_ALLOCATIONS, Fault, FaultKind, SharedMemory

from .constants import status_code
from .errors import LogicError, MemoryError
from .event import PendingEvent
from .guard import Guard
from .schedule import Schedule

__all__ = ["Allocation", "SimulatedBoard"]

#: Gap between buffers, so that an access past a buffer's end hits no other one; smaller on small memories.
GUARD_BYTES, SMALL_GUARD_BYTES, SMALL_MEMORY = 4096, 64, 1 << 24


@dataclass(frozen=True, order=True)
class Allocation:
    """Bytes [address, address + bytes) of the global memory."""

    address: int
    bytes: int

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.address + self.bytes


class SimulatedBoard:
    """Memory and time of one board, shared by all programs that run on it, and the lock that protects both: ``guard``.

    ``now_ns`` is the simulated time of the host: of the latest command that it waited for.
    """

    def __init__(self, board: Board) -> None:
        self.facts = board
        self.memory = _shared(board)
        self.now_ns = 0.0
        self.stamp = 0  #: of the last write of a buffer
        self.guard = Guard()
        self.schedule = Schedule(self)
        self._allocations: list[Allocation] = []  # by address
        self._dropped: deque[tuple[Allocation, Sequence[PendingEvent]]] = deque()  # no longer referenced
        self._guard = SMALL_GUARD_BYTES if board.memory.bytes <= SMALL_MEMORY else GUARD_BYTES
        self._alignment = max(self._guard, board.memory.word_bytes)

    def allocate(self, bytes: int, bank: int = -1, memory: Memory | None = None) -> Allocation:
        """Reserve a part of one of the board's memories (None: the default one), at the lowest free address; in the
        bank of that number, counted from 0 with banks at consecutive address ranges, or (negative) anywhere. Raises
        cl.MemoryError when there is no room."""
        self.reclaim()
        if len(self._allocations) == MAX_ALLOCATIONS:
            raise MemoryError(
                "create_buffer",
                status_code.OUT_OF_RESOURCES,
                f"board {self.facts.name} keeps at most {MAX_ALLOCATIONS:,} buffers; release some, or take parts of "
                "a large one",
            )
        memory = memory or self.facts.memory
        first, end = self._range(bank, memory)
        place = first + self._guard  # nothing lies at address 0: a null pointer is caught
        for existing in [*self._allocations, Allocation(end + self._guard, 0)]:
            if existing.end <= first:
                continue
            if place + bytes + self._guard <= min(existing.address, end + self._guard):
                allocation = Allocation(place, bytes)
                bisect.insort(self._allocations, allocation)
                self._publish()
                return allocation
            place = max(place, -(-(existing.end + self._guard) // self._alignment) * self._alignment)
        used = sum(allocation.bytes for allocation in self._allocations if first <= allocation.address < end)
        within = f"memory {memory.name} of " if memory is not self.facts.memory else ""
        where = f"bank {bank + 1} of {within}board" if bank >= 0 else f"{within}board"
        raise MemoryError(
            "create_buffer",
            status_code.MEM_OBJECT_ALLOCATION_FAILURE,
            f"no room for {bytes:,} bytes on {where} {self.facts.name}: {used:,} of {end - first:,} are in use, and "
            f"{self._guard:,} bytes stay free on either side of each buffer, which catch accesses outside it; "
            "release buffers or choose a board with more memory",
        )

    def _range(self, bank: int, memory: Memory) -> tuple[int, int]:
        """Addresses [first, end) of a bank; of the whole memory if the number is negative. Raises cl.LogicError if
        there is no such bank."""
        banks = memory.banks
        if bank >= len(banks):
            raise LogicError(
                "create_buffer",
                status_code.INVALID_VALUE,
                f"board {self.facts.name} has {len(banks)} bank{'s' * (len(banks) != 1)} of memory"
                f"{f' {memory.name}' if memory is not self.facts.memory else ''}, and no bank {bank + 1}",
            )
        size = banks[0].bytes
        return (memory.base, memory.end) if bank < 0 else (memory.base + bank * size, memory.base + (bank + 1) * size)

    def next_stamp(self) -> int:
        """The stamp of a write that happens now."""
        self.stamp += 1
        return self.stamp

    def free(self, allocation: Allocation) -> None:
        """Free memory; accesses to it are faults from then on."""
        del self._allocations[bisect.bisect_left(self._allocations, allocation)]
        self._publish()

    def drop(self, allocation: Allocation, users: Sequence[PendingEvent] = ()) -> None:
        """Free memory as soon as the launches ``users`` are over. Does not wait for the lock: any thread may call this
        from its garbage collection."""
        self._dropped.append((allocation, users))

    def reclaim(self) -> None:
        """Free what was dropped and is no longer in use."""
        for _ in range(len(self._dropped)):
            allocation, users = self._dropped.popleft()
            if all(one.over for one in users):
                self.free(allocation)
            else:
                self._dropped.append((allocation, users))

    def before(self, address: int) -> Allocation | None:
        """The allocation at the address, or the nearest before it."""
        place = bisect.bisect_right(self._allocations, address, key=lambda one: one.address)
        return self._allocations[place - 1] if place else None

    def view(self, allocation: Allocation) -> np.ndarray:
        """The bytes themselves, shared with the simulator."""
        return self.memory.contents[allocation.address : allocation.end]

    def transfer(self, bytes: int, ready_ns: float = 0.0) -> tuple[float, float]:
        """Advance simulated time by a transfer from or to the host, which starts when it is ready; returns its start
        and end in ns. Without bytes it takes no time."""
        host = self.facts.host
        return self._pass(bytes and host.latency_ns + bytes / host.bytes_per_ns, ready_ns)

    def move(self, bytes: int, memory: Memory, ready_ns: float = 0.0) -> tuple[float, float]:
        """The same for bytes that are written within a memory of the board, and read there too: half of its peak
        bandwidth is assumed."""
        return self._pass(2 * bytes / memory.peak_bytes_per_ns(self.facts.clock.period_ns), ready_ns)

    def _pass(self, duration_ns: float, ready_ns: float) -> tuple[float, float]:
        start = max(self.now_ns, ready_ns)
        self.now_ns = start + duration_ns
        return start, self.now_ns

    def describe(self, fault: Fault, names: dict[Allocation, str]) -> str:
        """A description of a refused access; ``names`` maps the buffers that the kernel was given to argument names."""
        if fault.kind is FaultKind.PROTOCOL:
            return f"the design broke an AXI rule with a burst of {fault.bytes} bytes at address {fault.address:#x}"
        verb = "read" if fault.kind.is_read else "write"
        more = f" ({fault.count} accesses in all)" if fault.count > 1 else ""
        place, bytes = _place(fault, names)
        if fault.kind in (FaultKind.READ_ERROR, FaultKind.WRITE_ERROR):
            return f"the memory answered a {verb} of {place} with an error{more}"
        why = (
            f"leaves its buffer of {bytes} bytes; make the buffer larger or check the index"
            if bytes
            else "touches no buffer of the kernel"
        )
        if not bytes and fault.address < self._guard:  # where nothing is ever allocated
            why += ": a pointer that is null, or an argument that the host passed as None (NULL in C)"
        return f"a {verb} of {place} {why}{more}"

    def _publish(self) -> None:
        self.memory.publish([(one.address, one.end) for one in self._allocations])


def _shared(board: Board) -> SharedMemory:
    """The bytes of all memories. Raises cl.MemoryError."""
    try:
        return SharedMemory(board.bytes)
    except builtins.MemoryError as error:
        raise MemoryError("clCreateContext", status_code.OUT_OF_HOST_MEMORY, str(error)) from error


def _place(fault: Fault, names: dict[Allocation, str]) -> tuple[str, int]:
    """A description of the address of a refused access, and the size of the buffer it is relative to; 0 if it lies
    before all buffers."""
    before = [one for one in names if one.address <= fault.address]
    if not before:
        return f"{fault.bytes} bytes at address {fault.address:#x}", 0
    nearest = max(before)
    first = fault.address - nearest.address
    return (
        f"bytes {first} to {first + fault.bytes - 1} of argument `{names[nearest]}` (address {fault.address:#x})",
        nearest.bytes,
    )

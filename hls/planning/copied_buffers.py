"""Buffers in external memory that a kernel waits for, and that it may work on copies of in on-chip memory.

Only the host knows how large a buffer is. So the time of the copies is that of the largest buffers that fit, except
where the loops around the accesses tell how many elements they reach: a kernel is worth its copies if these take less
than what it waits otherwise, although the trip counts that the source does not tell are the same assumed ones in both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ..analysis.loops.sccs import components
from ..analysis.memory.strides import AccessPattern, access_patterns
from ..ir import Attr, Copying, Function, Op, Value, copied_by, is_access, memory_name, moved_type, walk
from ..ir.launch import copied_buffers
from ..model.operations import logic_cells
from ..target.board import Board, Device
from .memory import MemoryPlan
from .schedule import KernelPlan, OperatorTiming, RegionPlan
from .schedule.array_bottleneck import LEAST_COMPARED, waited_for
from .schedule.conflicts import AddressConflict, address_conflicts, pace_at_random
from .schedule.interleaving import crossings, passed, together
from .schedule.nest_time import Joined, assumed_trips, nest_time, operations_before

__all__ = [
    "LEAST_BYTES",
    "SIDE_BY_SIDE",
    "Copies",
    "CopyAttempt",
    "automatic_bytes",
    "body_time",
    "buffers_to_copy",
    "cells_fit",
    "cells_of",
    "copied_time",
    "rams_fit",
    "rams_of",
    "several_slow_down",
    "waited_for_beside_copies",
    "worthwhile_bytes",
]

#: bytes of the largest copy where the options do not say, and the share of the device's block RAMs for one copy: eight
#: buffers with their marks take about a quarter of the blocks; if there is no room for all, copies are smaller
MOST_AUTOMATIC, SHARE_FOR_EACH = 65536, 64
#: bytes of the largest buffer that is copied, at least: smaller ones are not worth a second body
#: unless the options ask for them
LEAST_BYTES = 1024
#: elements that a copy moves in a cycle, where that does not slow down the loops that work on it: an array that takes
#: several at once has as many banks, so a load at any address chooses among them
SIDE_BY_SIDE = 4
#: cycles of the loops that work on copies where only buffers that the kernel does not store to move several elements at
#: once, over those with one at a time, at most: these copies then take a share of the cycles
MOST_BESIDE = 1.05
#: share of the device's logic cells and block RAMs that the copies of all kernels of a program take at most; each of
#: many may take some, as few of them wait
MOST_OF_DEVICE, FOR_EACH_KERNEL = 1 / 4, 1 / 16
#: logic cells of the unit of an access to external memory, and of its port of the interconnect, about
CELLS_FOR_EACH_ACCESS = 1000
#: cycles with copies over those without, at most
LEAST_TIME = 0.95
#: how many times as many elements are assumed to be copied as the loops around an access reach, where its address
#: depends on data. A loop whose end depends on data as well may end after a few of the assumed iterations, as a search
#: does: copying is assumed to take so many times as long as that of the largest buffer
UNSURE = 4


@dataclass(frozen=True)
class Copies:
    """What became of the buffers that a kernel waits for in external memory: those ``copied`` to the chip in launches
    in which each of them has at most ``most_bytes``, and the others, each with why it is not ``(name, why)``."""

    most_bytes: int = 0
    copied: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()


def automatic_bytes(board: Board) -> int:
    """The bytes of the largest buffer that is copied where the options do not say: a power of two; 0 for none."""
    if board.memory.kind == "onchip":
        return 0
    share = board.device.rams.count * board.device.rams.bits // 8 // SHARE_FOR_EACH
    return min(MOST_AUTOMATIC, 1 << share.bit_length() - 1) if share else 0


def buffers_to_copy(function: Function, plan: KernelPlan, latency: int) -> frozenset[str]:
    """The names of buffers in external memory, of this ``latency`` in cycles, because of which iterations of a loop
    start several cycles apart: those that it loads and stores, and those with a load whose address waits for what it
    loads. Where there are any, also those at addresses that a loop computes from what it loads from these, as all are
    on the way from one iteration to the next. And those where loads wait for stores that data brings to their address,
    until these are in memory."""
    found, meeting = set(waited_for(function, plan)), set[str]()
    turns = together(plan)
    for loop, region in plan.loops.items():
        if region.ii >= LEAST_COMPARED * turns[loop]:
            found.update(memory_name(op) for op in _searches(loop))
        meeting.update(one.memory for one in _meeting(region, latency))
    found = {name for name in found if not function.memories[name].onchip}
    return frozenset(meeting | _with_behind(function, found)) if found else frozenset(meeting)


def _meeting(region: RegionPlan, latency: int) -> list[AddressConflict]:
    """The conflicts of a loop in which a load waits until a store is in memory, at an address that depends on data."""
    return [
        one
        for one in address_conflicts(region, latency)
        if not one.forwarded
        and any(op.opcode == "load" for op in operations_before([one.check.operands[0]], region.region))
    ]


def _searches(loop: Op) -> list[Op]:
    """The loads of a loop's body whose address waits for what they loaded before."""
    late = components(loop.regions[0])
    loads = [op for op in loop.regions[0].ops if op.opcode == "load" and op.operands[0] in late]
    return [op for op in loads if late.get(op.results[0]) == late[op.operands[0]]]


def _with_behind(function: Function, names: set[str]) -> set[str]:
    """The names, and those of buffers with a load at an address that is computed from what is loaded from them."""
    found, before = set(names), 0
    while len(found) != before:
        before = len(found)
        late: set[Value] = set()
        for op in walk(function.body):
            if op.opcode == "load" and memory_name(op) in found or _reads(op, late):
                late.update(op.results)
                if op.opcode == "loop":
                    late.update(_carried(op, late))
        found.update(
            memory_name(op)
            for op in walk(function.body)
            if op.opcode == "load" and op.operands[0] in late and not function.memories[memory_name(op)].onchip
        )
    return found


def _reads(op: Op, late: set[Value]) -> bool:
    return not is_access(op) and not late.isdisjoint(op.operands) or op.opcode == "load" and op.operands[0] in late


def _carried(loop: Op, late: set[Value]) -> list[Value]:
    """The arguments of a loop that begin with a late value."""
    return [arg for arg, init in zip(loop.regions[0].args, loop.operands[1:], strict=True) if init in late]


class Planned(Protocol):
    """A kernel with its plans."""

    @property
    def function(self) -> Function:
        """After all passes."""

    @property
    def memory(self) -> MemoryPlan:
        """Its memories."""

    @property
    def plan(self) -> KernelPlan:
        """Its schedule."""


def waited_for_beside_copies(found: Planned) -> frozenset[str]:
    """The names of buffers in external memory that loops of a kernel with copies still load from between the begin of
    an iteration and that of the next: themselves, or in a loop inside that the next iteration waits for."""
    names, turns = set[str](), together(found.plan)
    for loop, region in found.plan.loops.items():
        if Attr.COPYING in loop.attrs or region.ii < LEAST_COMPARED * turns[loop]:
            continue
        way = {op for _, start, end in crossings(region) for op in passed(region, start, end)}
        inside = (one for op in way for one in (op, *(inner for body in op.regions for inner in walk(body))))
        names.update(memory_name(op) for op in inside if op.opcode == "load")
    memories = found.function.memories
    return frozenset(name for name in names if memories[name].space == "global" and not memories[name].onchip)


def worthwhile_bytes(found: Planned, before: Planned, most_bytes: int, board: Board) -> int:
    """The bytes of the largest buffer, up to ``most_bytes``, with copies of which the kernel takes less time, as it
    does in ``found``, than ``before``; 0 for none."""
    size = most_bytes
    ends = 2 * board.read_latency  # until the first word is there, and until the last one is in memory
    while size >= max(1, min(LEAST_BYTES, most_bytes)):
        sizes = _sizes(found, before, size)
        then = nest_time(before.plan, paces=_paces(before, sizes, board.read_latency))
        if ends + _time(found.plan, sizes) <= LEAST_TIME * then:
            return size
        size //= 2
    return 0


def body_time(found: Planned) -> float:
    """The cycles of the loops that work on copies, without those that copy."""
    return _time(found.plan, dict.fromkeys(copied_buffers(found.function), 0))


def copied_time(found: Planned, before: Planned, most_bytes: int) -> float:
    """The cycles of the loops that work on copies, and of those that copy, for buffers of as many bytes as the accesses
    of the kernel ``before`` reach in them, up to ``most_bytes``."""
    return _time(found.plan, _sizes(found, before, most_bytes))


def _sizes(found: Planned, before: Planned, most_bytes: int) -> dict[str, int]:
    """The bytes of each buffer that are copied, of buffers of at most so many."""
    return {name: _copied_bytes(before.function, name, most_bytes) for name in copied_buffers(found.function)}


@dataclass(frozen=True)
class CopyAttempt:
    """Copies of buffers of at most so many bytes, the cycles of the loops that work on them, and how many elements of a
    buffer they move at once: where the kernel only loads from it, and where it stores to it."""

    cycles: float
    most_bytes: int
    side: tuple[int, int]
    copied: frozenset[str]

    def rank(self) -> tuple[float, int]:
        """The least is the best."""
        loaded, stored = self.side
        return self.cycles / (MOST_BESIDE if loaded > stored else 1), -stored


def several_slow_down(tried: list[CopyAttempt], function: Function) -> bool:
    """Whether several elements at once slow down the loops that work on copies, and not all copied buffers are stored
    to, or none is: then these may move one at a time, and the others several."""
    stored = {memory_name(op) for op in walk(function.body) if op.opcode == "store"}
    if len(tried) < 2 or tried[1].cycles <= tried[0].cycles:
        return False
    return bool(tried[0].copied & stored) and not tried[0].copied <= stored


def cells_fit(found: Planned, before: Planned, timing: OperatorTiming, device: Device, kernels: int) -> bool:
    """Whether the second body of a kernel, in a program of so many, leaves enough of the device's logic."""
    cells = cells_of(found, timing, device) - cells_of(before, timing, device)
    return cells <= _share(kernels) * device.logic_cells


def rams_fit(found: Planned, before: Planned, device: Device, kernels: int) -> bool:
    """Whether the copies of a kernel, in a program of so many, leave enough of the device's block RAMs."""
    return rams_of(found) - rams_of(before) <= _share(kernels) * device.rams.count


def _share(kernels: int) -> float:
    return max(MOST_OF_DEVICE / kernels, FOR_EACH_KERNEL)


def _paces(kernel: Planned, sizes: Mapping[str, int], latency: int) -> dict[Op, float]:
    """The mean cycles between iterations of loops in which data decides whether loads wait for stores, with buffers of
    so many bytes, by name."""
    met = {
        loop: [
            (one, sizes[one.memory] / moved_type(one.last).bytes)
            for one in _meeting(region, latency)
            if one.memory in sizes
        ]
        for loop, region in kernel.plan.loops.items()
    }
    return {loop: pace_at_random(kernel.plan.loops[loop].ii, found) for loop, found in met.items() if found}


def _time(plan: KernelPlan, sizes: Mapping[str, int]) -> float:
    """Cycles with copies of so many bytes of buffers, by name."""
    times = {}
    for loop in plan.loops:
        copying = loop.attrs.get(Attr.COPYING)
        if copying == Copying.WITHOUT:
            times[loop] = Joined(0, 0, 0, 0)
        elif copying == Copying.MOVES:
            name, moved = copied_by(loop, sizes)
            times[loop] = Joined(1, -(-sizes[name] // moved), 1, 1)
    return nest_time(plan, joined=times)


def _copied_bytes(function: Function, name: str, most_bytes: int) -> int:
    """The bytes of a buffer that are copied: those that a kernel reaches; where an address depends on data, several
    times as many, and if the end of a loop does so, too, all of several of the largest buffers that fit."""
    patterns = {op: pattern for op, pattern in access_patterns(function).items() if memory_name(op) == name}
    reached = [_reached(pattern) for pattern in patterns.values()]
    if None in reached:
        return UNSURE * most_bytes
    return min(most_bytes, max((count for count in reached if count is not None), default=0))


def _reached(pattern: AccessPattern) -> int | None:
    """The bytes that an access reaches in the loops around it, at most, of a buffer that is as large as these loops are
    long; None if they may end at once."""
    known, rows = moved_type(pattern.op).bytes, 1
    outside = [loop.regions[0] for loop, _ in pattern.steps[1:]]
    for (loop, step), outer in zip(pattern.steps, [*outside, None], strict=False):
        trips = assumed_trips(loop, outer)
        if not step.regular or pattern.op in _searches(loop):
            if _ends_by_data(loop):
                return None
            rows *= UNSURE * trips
        elif step.amount is None:
            rows *= trips
        else:
            known += abs(step.amount) * (trips - 1)
    return known * rows


def _ends_by_data(loop: Op) -> bool:
    """Whether the end of a loop depends on what it loads."""
    body = loop.regions[0]
    return any(op.opcode == "load" for op in operations_before([body.terminator.operands[0]], body))


def cells_of(kernel: Planned, timing: OperatorTiming, device: Device) -> int:
    """Logic cells of the device for a kernel, about: its operations and loops, and the units of its accesses."""
    return logic_cells(kernel.function, timing, device) + CELLS_FOR_EACH_ACCESS * len(kernel.memory.outside)


def rams_of(kernel: Planned) -> int:
    """Block RAMs of the device for the memories inside a kernel."""
    return sum(memory.rams for memory in kernel.memory.onchip.values())

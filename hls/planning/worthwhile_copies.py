"""How many copies of a kernel that share its iterations are worth their area.

Copies divide what limits a kernel by its schedule. They do not divide what memory moves, nor the start of a launch, in
which the first addresses wait for memory in turn. So the time of some copies is predicted from the plan of the kernel
as a whole, before any copy is planned.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from ..analysis.memory.strides import STAYS, Step, access_patterns
from ..diag import Span
from ..ir import Op, memory_name, walk
from ..ir.accesses import predicate
from ..ir.rewrite import constant
from ..target.board import Board
from ..target.memory import DramTiming
from .copied_buffers import cells_of, rams_of
from .iterate import CompiledKernel
from .memory import Access
from .schedule import KernelPlan, OperatorTiming
from .schedule.interleaving import together
from .schedule.nest_time import assumed_trips, nest_times

__all__ = ["COUNTS", "Outlook", "outlook", "pace"]

#: numbers of copies that are considered
COUNTS = (2, 4)
#: share of the logic cells of the device, and of its block RAMs, that the copies of all kernels take at most
MOST_OF_DEVICE = 1 / 2
#: probability that an access under a condition is made
TAKEN = 1 / 2


@dataclass(frozen=True)
class Outlook:
    """What is predicted of copies of a kernel, or of its two parts: their ``cycles`` by the number of copies (1: no
    copies), in launches with the trip counts that the schedule assumes; of these those for which ``memory`` is busy;
    and the logic ``cells`` of one copy, of so many that there are ``room`` for, and the block RAMs of its arrays,
    likewise."""

    cycles: dict[int, float]
    memory: float
    cells: int
    room: int
    rams: int = 0
    room_of_rams: int = 0

    def best(self, most: float) -> int:
        """The number of copies to make: as long as a number takes at most the share ``most`` of the cycles of the one
        before, and fits; 1 for none."""
        best = 1
        for count in COUNTS:
            if not self._fits(count) or self.cycles[count] > most * self.cycles[best]:
                break
            best = count
        return best

    def _fits(self, count: int) -> bool:
        return count * self.cells <= self.room and count * self.rams <= self.room_of_rams

    def why_not(self, most: float) -> str:
        """Why no copies are made."""
        first = COUNTS[0]
        if self.cycles[first] > most * self.cycles[1]:
            busy = f", as memory is busy for {self.memory:,.0f} of them" if self.memory > self.cycles[1] / 2 else ""
            then, now = self.cycles[first], self.cycles[1]
            return f"{first} copies are predicted to take {then:,.0f} cycles instead of {now:,.0f}{busy}"
        cells = f"{first * self.cells:,} of the {self.room:,} logic cells"
        rams = f"{first * self.rams:,} of the {self.room_of_rams:,} block RAMs"
        needed = cells if first * self.cells > self.room else rams
        return f"{first} copies need {needed} that the copies of a kernel may take"


def outlook(
    kernel: CompiledKernel, parts: Sequence[CompiledKernel], board: Board, timing: OperatorTiming, kernels: int
) -> Outlook:
    """What is predicted of copies of a kernel, which is planned as a whole, in a program of so many: each of them
    consists of these ``parts``, which are planned for one."""
    start, memory, place = _start(kernel, board), _memory(kernel, board), _shared_loop(kernel)
    cycles = {
        count: start + max(memory, *(_time_of_copy(one.plan, place, count) for one in parts)) for count in (1, *COUNTS)
    }
    room, room_of_rams = (
        int(MOST_OF_DEVICE * all_ / kernels) for all_ in (board.device.logic_cells, board.device.rams.count)
    )
    cells = sum(cells_of(one, timing, board.device) for one in parts)
    rams = sum(map(rams_of, parts)) if board.device.rams.count else 0
    return Outlook(cycles, memory, cells, room, rams, room_of_rams)


def pace(kernel: CompiledKernel) -> float:
    """The most cycles between the iterations of an innermost loop, or between those of its invocations that take
    turns."""
    turns = together(kernel.plan)
    around = {one for loop in kernel.plan.loops for one in kernel.plan.loops if loop in one.regions[0].ops}
    return max((region.ii / turns[loop] for loop, region in kernel.plan.loops.items() if loop not in around), default=0)


def _shared_loop(kernel: CompiledKernel) -> Span | None:
    """The place of the outermost loop whose iterations copies share: that which stores, or else the last one."""
    names = {memory_name(op) for op in kernel.memory.outside}
    loops = [op for op in kernel.function.body.ops if op.opcode == "loop"]
    storing = [loop for loop in loops if any(_stores(op, names) for op in walk(loop.regions[0]))]
    return next((loop.span for loop in [*storing, *reversed(loops)]), None)


def _stores(op: Op, names: Collection[str]) -> bool:
    return op.opcode == "store" and memory_name(op) in names


def _time_of_copy(plan: KernelPlan, place: Span | None, count: int) -> float:
    """Cycles of the loops of one of so many copies, by the schedule: of the loop at that place it executes a share, and
    every other one whole, as all copies do."""
    times = nest_times(plan)
    shared = [loop for loop in times if loop.span == place] or list(times)
    return sum(cycles / count if loop in shared else cycles for loop, cycles in times.items())


def _start(kernel: CompiledKernel, board: Board) -> float:
    """Cycles until the first iteration of the innermost loop: a latency of memory for each loop around it, whose bounds
    or conditions are loaded, for the first word itself, and for the last one to be in memory."""
    patterns = access_patterns(kernel.function)
    loads = [pattern for op, pattern in patterns.items() if op in kernel.memory.outside and op.opcode == "load"]
    return float(board.read_latency * (1 + max((len(pattern.steps) for pattern in loads), default=0)))


def _memory(kernel: CompiledKernel, board: Board) -> float:
    """Cycles for which the busiest memory moves the words of a launch."""
    busy: dict[str | None, float] = {}
    patterns = access_patterns(kernel.function)
    for op, access in kernel.memory.outside.items():
        memory = board.memory_named(access.location)
        if memory is None or memory.timing is None:  # on the chip each access has a port of its own
            continue
        rate = memory.peak_bytes_per_ns(board.clock.period_ns)
        if isinstance(memory.timing, DramTiming):
            rate *= memory.timing.in_use
        words = _words(access, patterns[op].steps if op in patterns else ())
        cycles = words * memory.word_bytes / rate / board.clock.period_ns
        busy[access.location] = busy.get(access.location, 0.0) + cycles
    return max(busy.values(), default=0.0)


def _words(access: Access, steps: tuple[tuple[Op, Step], ...]) -> float:
    """Words of memory that an access moves in a launch, with assumed trip counts. What a cache keeps is moved once; a
    word at a time where addresses depend on data and nothing keeps the words. Under a condition, the words of which at
    least one part is accessed."""
    outside = [loop.regions[0] for loop, _ in steps[1:]]
    trips = [assumed_trips(loop, outer) for (loop, _), outer in zip(steps, [*outside, None], strict=False)]
    stays = next((k for k, (_, step) in enumerate(steps) if step != STAYS), len(steps))
    count = prod(trips[stays:])  # in the loops inside, the word in use stays
    if access.unit.keeps_words or stays == len(steps):
        amount: int | None = access.bytes
    else:
        amount = steps[stays][1].amount
    share = 1.0 if amount is None else min(1.0, abs(amount) / access.word_bytes)
    if not share or constant(predicate(access.op)) is not None:
        return count * share
    missed = (1 - TAKEN) ** (1 / share)  # by all accesses of a word
    return count * share * (1 - missed)

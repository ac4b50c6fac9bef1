"""How deep the queues between levels are, and how many invocations a loop keeps.

Too shallow costs rate, never correctness (rule 5 of the hardware model).
"""

from dataclasses import dataclass, replace

from rtl_lib.channel import ChannelReader

from ...analysis.channels.endpoints import is_call
from ...ir import Attr, Op
from ...ir.rewrite import constant
from .levels import Levels, is_exceptional
from .plan import RegionPlan, Row
from .stages import LevelStages

__all__ = [
    "CALL_LATENCY",
    "HAZARD_LATENCY",
    "MOST_LOADING_SLOTS",
    "MOST_SLOTS",
    "MOST_WAITING_SLOTS",
    "QueueSizes",
    "entry_count",
    "level_queues",
    "may_take_turns",
    "pace",
    "slot_count",
]

#: most running invocations of a loop whose recurrence is scheduled, of one that waits for an inner loop, and of one
#: that waits for memory: there the work of each is small, and only many of them together keep the memory busy
MOST_SLOTS, MOST_WAITING_SLOTS, MOST_LOADING_SLOTS = 32, 64, 256
MOST_ENTRIES = 512
#: exit entries per slot where invocations differ in their trips
SPREAD = 12
#: cycles of a comparison with stores on their way that finds none
HAZARD_LATENCY = 4
#: cycles of a call on a channel that does not wait: through the request queue and the channel's end
CALL_LATENCY = 1 + ChannelReader.timing.latency
#: cycles from the coming of a group's last work-item until the first one goes on
MEETING_LATENCY = 4


@dataclass(frozen=True)
class QueueSizes:
    """What depths depend on: the loops inside, a typical memory access in cycles, the fewest cycles between two tokens,
    and whether the region only ever sees one token (a kernel's top)."""

    children: dict[Op, RegionPlan]
    memory_latency: int
    interval: int
    elastic_depth: int
    single: bool
    group_items: int = 1  #: work-items of a group at most, where they meet


def pace(levels: Levels, children: dict[Op, RegionPlan]) -> int:
    """The fewest cycles between two tokens of a region, for what the loops inside that always run take to issue
    theirs."""
    always = [children[op] for op in levels.op if op.opcode == "loop" and constant(op.operands[0])]
    return max([1, *(child.shortest * child.ii // child.slots for child in always)])


def may_take_turns(loop: Op, repeated: bool) -> bool:
    """Whether several invocations of the loop may be under way at once; ``repeated``: a launch enters it more than
    once."""
    return repeated and loop.attrs.get(Attr.INTERLEAVE, True)


def slot_count(static_ii: int, loop: Op | None, repeated: bool, most: int, paced: int = 1) -> int:
    """Slots so that interleaved invocations fill a recurrence of ``static_ii`` cycles, of which the loops inside take
    ``paced`` for each token anyway, and ``most`` at most; one where nothing may interleave."""
    if loop is None or not may_take_turns(loop, repeated):
        return 1
    return min(-(-static_ii // paced), most)


def entry_count(slots: int, latency: int, static_ii: int, repeated: bool, uniform: bool, shortest: int) -> int:
    """Invocations between start and exit: what runs, and what drains behind it (rule 4) while one of ``shortest`` trips
    after the other runs.

    Where trips differ, short invocations that started after a long one wait for their turn: room for several times as
    many as run keeps the slots busy meanwhile.
    """
    if not repeated:
        return 1
    drain = -(-latency * slots // (static_ii * shortest))
    if shortest > 1:
        return min(MOST_ENTRIES, max(2 * slots, slots + drain) + 1)
    spread = 2 * slots if uniform or slots == 1 else SPREAD * slots
    return min(MOST_ENTRIES, max(spread, slots + drain, min(4 * slots, 16)) + 2)


def level_queues(
    sizes: QueueSizes, levels: Levels, stages: LevelStages, k: int, elastic: bool
) -> tuple[tuple[Row, ...], int]:
    """The rows behind level ``k`` and the depth of the queue that goes past them."""
    rows, interval = [], sizes.interval
    for op, level in levels.op.items():
        if level != k or op not in levels.variable:
            continue
        push = stages.start[op]
        # a frozen elastic level must not hold back the bypass of tokens whose requests are already out: room for all
        # between
        depth = stages.depth - push + 2 if elastic else _in_flight(push + 3, interval)
        rows.append(Row(op, push, 1 if sizes.single else depth, op in levels.offering))
    if sizes.single:
        return tuple(rows), 1
    waiting = max((_in_row(sizes, row.op) for row in rows if row.joins), default=0)
    # a call that answers soon must not keep those beside it from having their many tokens on their way
    rows = [
        replace(row, request_depth=row.request_depth + waiting) if row.joins and is_call(row.op) else row
        for row in rows
    ]
    return tuple(rows), (2 if elastic else _in_flight(stages.depth + 2, interval)) + waiting


def _in_flight(cycles: int, interval: int) -> int:
    """Tokens that are on a way of so many cycles, and one that comes."""
    return -(-cycles // interval) + 1


def _in_row(sizes: QueueSizes, op: Op) -> int:
    """Tokens that are inside a variable-latency operation at full rate."""
    if op.opcode == "loop":
        child = sizes.children[op]
        return child.entries + _in_flight(3, sizes.interval)
    if op.opcode == "meet":  # all of a group wait, while some of the one before are still leaving
        return sizes.group_items + 4 + _in_flight(MEETING_LATENCY, sizes.interval)
    if op.opcode == "hazard":
        return 4 + _in_flight(HAZARD_LATENCY, sizes.interval)
    if is_call(op):
        return 4 + _in_flight(CALL_LATENCY, sizes.interval)
    return 4 + (0 if is_exceptional(op) else -(-2 * sizes.memory_latency // sizes.interval))

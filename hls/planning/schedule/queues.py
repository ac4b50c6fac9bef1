"""How deep the queues between levels are, and how many invocations a loop runs.

Too shallow a queue costs throughput, never correctness (rule 5 of the hardware model).
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
    "WORTH_SLOTS",
    "QueueSizes",
    "balanced",
    "entry_count",
    "level_queues",
    "may_take_turns",
    "pace",
    "slot_count",
]

#: most running invocations of a loop whose recurrence is scheduled, of one that waits for an inner loop, and of one
#: that waits for memory: there each does little work, and only many of them together keep the memory busy
MOST_SLOTS, MOST_WAITING_SLOTS, MOST_LOADING_SLOTS = 32, 64, 256
MOST_ENTRIES = 512
#: exit entries per slot where trip counts differ between invocations
SPREAD = 12
#: how many times as long turns without further slots must take
WORTH_SLOTS = 1.03
#: cycles of a comparison with stores in flight that finds no match
HAZARD_LATENCY = 4
#: cycles of a channel call that does not wait: through the request queue and the channel's end
CALL_LATENCY = 1 + ChannelReader.timing.latency
#: cycles from the arrival of a group's last work-item at a barrier until the first one goes on
MEETING_LATENCY = 4


@dataclass(frozen=True)
class QueueSizes:
    """What depths depend on: the inner loops, a typical memory access in cycles, the fewest cycles between two tokens,
    and whether the region only ever holds one token (a kernel's top)."""

    children: dict[Op, RegionPlan]
    memory_latency: int
    interval: int
    elastic_depth: int
    single: bool
    group_items: int = 1  #: most work-items of a group, where they synchronize at barriers


def pace(levels: Levels, children: dict[Op, RegionPlan]) -> int:
    """The fewest cycles between two tokens of a region: the inner loops that always run take that long to issue their
    own tokens."""
    always = [children[op] for op in levels.op if op.opcode == "loop" and constant(op.operands[0])]
    return max([1, *(max(child.shortest, child.shortest * child.ii // child.slots) for child in always)])


def may_take_turns(loop: Op, repeated: bool) -> bool:
    """Whether several invocations of the loop may be in flight at once; ``repeated``: a launch enters it more than
    once."""
    return repeated and loop.attrs.get(Attr.INTERLEAVE, True)


def slot_count(static_ii: int, loop: Op | None, repeated: bool, most: int, paced: int = 1) -> int:
    """Slots that let interleaved invocations fill a recurrence of ``static_ii`` cycles, of which the inner loops take
    ``paced`` for each token anyway; at most ``most``, and one where nothing may interleave."""
    if loop is None or not may_take_turns(loop, repeated):
        return 1
    return min(-(-static_ii // paced), most)


def balanced(ii: int, invocations: int, most: int) -> int:
    """Slots, from ``ii`` to twice as many and at most ``most``, that let ``invocations`` of one trip count share the
    cycles evenly.

    Invocations that take turns end together, ``slots`` at a time. The last of them, if they are fewer than ``ii``,
    leave cycles unused: of 30 with an II of 7, two are left, which take as long as seven would. By tens they leave
    none. More slots than the II need registers, so a few cycles are not worth them.
    """
    if invocations <= ii:
        return ii
    best = min(range(ii, min(2 * ii, most) + 1), key=lambda slots: _turns(slots, ii, invocations))
    return best if _turns(best, ii, invocations) * WORTH_SLOTS <= _turns(ii, ii, invocations) else ii


def _turns(slots: int, ii: int, invocations: int) -> int:
    """Cycles for one iteration of each invocation, where ``slots`` take turns at a time."""
    rounds, left = divmod(invocations, slots)
    return rounds * slots + (max(left, ii) if left else 0)


def entry_count(slots: int, latency: int, static_ii: int, repeated: bool, uniform: bool, shortest: int) -> int:
    """Invocations between start and exit: those that run, and those that drain (rule 4) while one invocation of
    ``shortest`` iterations after the other runs.

    Where trip counts differ, short invocations that started after a long one wait to exit in order: room for several
    times as many as run keeps the slots busy meanwhile.
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
    """The boundary after level ``k`` (its rows) and the depth of the queue that bypasses it."""
    rows, interval = [], sizes.interval
    for op, level in levels.op.items():
        if level != k or op not in levels.variable:
            continue
        push = stages.start[op]
        # a frozen elastic level must not hold back the bypass of tokens whose requests are already made: room for all
        # in between
        depth = stages.depth - push + 2 if elastic else _in_flight(push + 3, interval)
        rows.append(Row(op, push, 1 if sizes.single else depth, op in levels.offering))
    if sizes.single:
        return tuple(rows), 1
    waiting = max((_in_row(sizes, row.op) for row in rows if row.joins), default=0)
    # a call or a comparison that responds fast must not limit the many tokens in flight of the other operations at its
    # boundary
    rows = [_deepened(row, _waiting_requests(sizes, row, waiting)) for row in rows]
    return tuple(rows), (2 if elastic else _in_flight(stages.depth + 2, interval)) + waiting


def _deepened(row: Row, waiting: int) -> Row:
    return replace(row, request_depth=row.request_depth + waiting, waiting=waiting)


def _waiting_requests(sizes: QueueSizes, row: Row, waiting: int) -> int:
    """Requests that wait while the ``waiting`` tokens of the slowest operation of their boundary are in flight.

    A hazard unit must not compare them earlier: the stores that it has seen fill its tables.
    """
    if not row.joins:
        return 0
    if row.op.opcode == "hazard":
        return waiting - _in_row(sizes, row.op)
    return waiting if is_call(row.op) else 0


def _in_flight(cycles: int, interval: int) -> int:
    """Tokens in flight on a path of so many cycles, and one that arrives."""
    return -(-cycles // interval) + 1


def _in_row(sizes: QueueSizes, op: Op) -> int:
    """Tokens inside a variable-latency operation at full rate."""
    if op.opcode == "loop":
        child = sizes.children[op]
        return child.entries + _in_flight(3, sizes.interval)
    if op.opcode == "meet":  # all of a group wait, while some of the group before are still leaving
        return sizes.group_items + 4 + _in_flight(MEETING_LATENCY, sizes.interval)
    if op.opcode == "hazard":
        return 4 + _in_flight(HAZARD_LATENCY, sizes.interval)
    if op.opcode == "rtl_wait":
        return 4 + max(op.attrs[Attr.RTL_WAITS], _in_flight(op.attrs[Attr.RTL_LATENCY], sizes.interval))
    if is_call(op):
        return 4 + _in_flight(CALL_LATENCY, sizes.interval)
    return 4 + (0 if is_exceptional(op) else -(-2 * sizes.memory_latency // sizes.interval))

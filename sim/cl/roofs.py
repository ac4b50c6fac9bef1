"""What the board's memory can move at most for the accesses of a launch, in the order in which they came."""

from collections.abc import Sequence

from hls.profile import model
from hls.target.board import Board, DramTiming
from sim.traffic.bounds import bounds, holder
from sim.traffic.measure import Stream

__all__ = ["memory_roof"]

#: an access whose bursts have fewer words on average is to unrelated addresses
IN_ORDER = 2.0
#: the bound that is the kernel's own
OF_KERNEL = "clock"
#: streams that share the bytes that all accesses moved: the bounds are those of streams of equal rate
STREAMS = 16


def memory_roof(board: Board, accesses: Sequence[model.Access]) -> tuple[float, str] | None:
    """(bytes per ns, what holds it to that) for the accesses to the board's first memory, by :mod:`sim.traffic.bounds`;
    None if that is no DRAM, or nothing was moved."""
    memory = board.memory
    moved = [one for one in accesses if one.bytes_moved and one.memory == memory.name]
    if not moved or not isinstance(memory.timing, DramTiming):
        return None
    streams = [stream for k, one in enumerate(moved) for stream in _streams(one, k, moved)]
    found = {name: rate for name, rate in bounds(board, streams).items() if name != OF_KERNEL}
    held = holder(found)
    return found[held], held


def _streams(access: model.Access, array: int, moved: Sequence[model.Access]) -> list[Stream]:
    """As many streams as the access has shares of the bytes."""
    shares = round(STREAMS * access.bytes_moved / sum(one.bytes_moved for one in moved))
    in_order = (access.average_burst or 0.0) >= IN_ORDER
    return [Stream(access.kind != "load", array, random=not in_order)] * shares

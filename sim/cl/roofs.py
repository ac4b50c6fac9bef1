"""What the board's memory can move at most for the accesses of a launch, in the order in which they came."""

from collections.abc import Sequence

from hls.profile import model
from hls.target.board import Board, DramTiming
from sim.traffic.bounds import bounds, holder
from sim.traffic.measure import Stream

__all__ = ["memory_roof"]

#: an access whose bursts have fewer words on average is to unrelated addresses
IN_ORDER = 2.0
#: the bound that is the kernel's own, and the one of a row for each word to unrelated addresses
OF_KERNEL, OF_ROWS = "clock", "activation"
#: streams that share the bytes that all accesses moved: the bounds are those of streams of equal rate
STREAMS = 16


def memory_roof(
    board: Board, accesses: Sequence[model.Access], banks: Sequence[model.Bank] = ()
) -> tuple[float, str] | None:
    """(bytes per ns, what holds it to that) for the accesses to the board's first memory, by :mod:`sim.traffic.bounds`;
    None if that is no DRAM, or nothing was moved. Addresses may be unrelated and still hit rows that are open, so words
    to such ones open as many rows as the ``banks`` have opened meanwhile."""
    memory = board.memory
    moved = [one for one in accesses if one.bytes_moved and one.memory == memory.name]
    if not moved or not isinstance(memory.timing, DramTiming):
        return None
    streams = [stream for k, one in enumerate(moved) for stream in _streams(one, k, moved)]
    found = {name: rate for name, rate in bounds(board, streams).items() if name != OF_KERNEL}
    if OF_ROWS in found and banks:
        scattered = sum(one.bytes_moved for one in moved if not _in_order(one)) / memory.word_bytes
        opened = sum(one.activates for one in banks if one.memory == memory.name)
        found[OF_ROWS] /= min(1.0, max(opened, 1) / scattered)
    held = holder(found)
    return found[held], held


def _streams(access: model.Access, array: int, moved: Sequence[model.Access]) -> list[Stream]:
    """As many streams as the access has shares of the bytes."""
    shares = round(STREAMS * access.bytes_moved / sum(one.bytes_moved for one in moved))
    return [Stream(access.kind != "load", array, random=not _in_order(access))] * shares


def _in_order(access: model.Access) -> bool:
    return (access.average_burst or 0.0) >= IN_ORDER

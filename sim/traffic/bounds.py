"""Bounds on the rate of a set of streams, from the data of the board alone."""

from collections.abc import Iterable, Sequence

from hls.narrow import instance
from hls.target.board import Board, DramTiming

from .measure import Stream

__all__ = ["bounds", "bus_efficiency", "holder", "random_rate"]


def bounds(board: Board, streams: Sequence[Stream], kernel_mhz: float | None = None) -> dict[str, float]:
    """The rate in GB/s of all streams together that each of these would allow alone. All streams move at the same rate,
    so the slowest one decides.

    - clock: a word of every stream a cycle
    - path: a word a cycle in each direction through the port of a bank
    - bank: the data bus of a bank, less its refresh
    - turnaround: the same, less the time in which the bus changes direction (``batch`` bursts of the more frequent one
      between changes)
    - activation: a row for each random word, four in a window of tFAW and one a bank in tRAS + tRP, less refresh
    """
    timing, mhz = instance(board.memory.timing, DramTiming), kernel_mhz or board.clock.kernel_mhz
    port = board.memory.word_bytes * mhz / 1000
    shares = _shares(board, streams)
    in_use = timing.in_use
    found = {
        "clock": len(streams) * port,
        "path": _least(port, [share for pair in shares for share in pair]),
        "bank": _least(timing.bytes_per_ns * in_use, map(sum, shares)),
        "turnaround": min(
            _least(timing.bytes_per_ns * in_use * bus_efficiency(timing, *pair), [sum(pair)]) for pair in shares
        ),
    }
    scattered = [sum(pair) for pair in _shares(board, [s if s.random else None for s in streams])]
    found["activation"] = _least(random_rate(timing, board.memory.word_bytes) * in_use, scattered)
    return {name: rate for name, rate in found.items() if rate != float("inf")}


def holder(found: dict[str, float]) -> str:
    """The bound that holds: the lowest, and of equal ones the first."""
    return min(found, key=found.__getitem__)


def _least(rate: float, shares: Iterable[float]) -> float:
    return min((rate / share for share in shares if share), default=float("inf"))


def _shares(board: Board, streams: Sequence[Stream | None]) -> list[tuple[float, float]]:
    """For each bank the part of all bytes that is read from it, and that is written to it; None is an ignored
    stream."""
    count, memory = len(board.memory.banks), board.memory
    shares = [[0.0, 0.0] for _ in range(count)]
    for stream in filter(None, streams):
        spread = memory.interleaved
        for bank in range(count) if spread else [stream.array % count]:
            shares[bank][stream.write] += 1 / (count if spread else 1) / len(streams)
    return [(read, written) for read, written in shares]


def bus_efficiency(timing: DramTiming, reads: float, writes: float) -> float:
    """The part of its time in which the data bus transfers data, if it changes direction after a batch; ``reads`` and
    ``writes`` are in any unit."""
    if not reads or not writes:
        return 1.0
    data = timing.batch * (1 + min(reads, writes) / max(reads, writes)) * timing.burst_ticks
    to_write = timing.CL + 2 - timing.CWL
    to_read = timing.CWL + timing.tWTR_S
    return data / (data + to_write + to_read)


def random_rate(timing: DramTiming, word_bytes: int) -> float:
    """GB/s of a bank whose words of ``word_bytes`` each open a row: four in a window of tFAW, one a bank in tRAS + tRP;
    without refresh."""
    return word_bytes / timing.row_ns

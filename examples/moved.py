"""What each run moved over the memory bus, by which units, and which limit of the memory it came close to."""

from collections.abc import Iterator

from hls.target.board import Board, DramTiming
from rich.table import Table
from sim.traffic.bounds import bus_efficiency, random_rate

__all__ = ["limits", "memory_table", "random_cycles"]


def random_cycles(board: Board) -> float:
    """Cycles of the kernel clock for each word that is read at a random address: each opens a row; by all banks, in the
    time that refresh leaves."""
    timing = board.memory.timing
    if not isinstance(timing, DramTiming):
        return 0.0
    word_ns = board.memory.word_bytes / (random_rate(timing, board.memory.word_bytes) * timing.in_use)
    return word_ns / len(board.memory.banks) / board.clock.period_ns


def limits(launch, stats: dict, board: Board, compute: float) -> dict[str, float]:
    """The least cycles of a run that each of these limits alone allows, given the words that it moved; on a board with
    DDR memory.

    - clock: ``compute``, one iteration at a time; work: the arithmetic, as the example states it
    - bank: the words of the busiest bank, in the time that refresh leaves
    - turnaround: the same, and the bus changes direction after each batch, but no more often than there are words of
      the rarer direction
    - activation: a row for each word that is read at a random address
    """
    timing, found = board.memory.timing, {"clock": compute, "work": launch.cycles}
    rate = timing.bytes_per_ns * board.clock.period_ns * timing.in_use
    banks = [pair for pair in _by_bank(launch, stats, len(board.memory.banks)) if any(pair)]
    found["bank"] = max((sum(pair) / rate for pair in banks), default=0.0)
    found["turnaround"] = max((sum(pair) / rate * _slowdown(timing, *pair) for pair in banks if all(pair)), default=0.0)
    found["activation"] = launch.random * random_cycles(board)
    return found


def _slowdown(timing: DramTiming, reads: float, writes: float) -> float:
    """The factor by which changes of direction slow down the transfer of so many bytes, or words."""
    often = min(1.0, timing.batch * min(reads, writes) / max(reads, writes))
    return 1 + often * (1 / bus_efficiency(timing, reads, writes) - 1)


def _by_bank(launch, stats: dict, count: int) -> list[tuple[float, float]]:
    """Bytes read from and written to each bank. An atomic operation does both; concurrent kernels read or write
    ``others``, in unknown proportion."""
    found = [[launch.others / count, 0.0] for _ in range(count)]
    for access in stats["memory"]:
        placed = launch.placed and launch.placed[access["buffer"]]
        for bank in [placed - 1] if placed else range(count):
            share = access["bytes_moved"] / (1 if placed else count)
            found[bank][0] += share * (access["kind"] != "store")
            found[bank][1] += share * (access["kind"] != "load")
    return [tuple(pair) for pair in found]


def memory_table(runs, board: Board) -> Table:
    """A row for each unit of each run that moved bytes, with units of the same kind combined; the figures of the
    whole run are in its first row: the rate, its share of the peak of the banks in use, and of the limit that holds."""
    table = Table(title="What crossed the memory bus", title_justify="left")
    for column in (
        "kernel",
        "case",
        "unit",
        "KB used",
        "moved / used",
        "burst",
        "hits",
        "GB/s",
        "of peak",
        "limit",
        "of it",
    ):
        table.add_column(
            column, justify="left" if column in ("kernel", "case", "unit", "limit") else "right", no_wrap=True
        )
    for run in runs:
        whole = _whole(run, board)
        for unit in _units(run.stats["memory"]):
            table.add_row(*(whole[:2]), *unit, *whole[2:])
            whole = [""] * len(whole)
    return table


def _whole(run, board: Board) -> list[str]:
    """Kernel, case, rate, share of the peak, limit, share of it."""
    moved, cycles = sum(access["bytes_moved"] for access in run.stats["memory"]), run.stats["cycles"]
    count = len(board.memory.banks)
    banks = len(set(run.launch.placed.values())) if run.launch.placed else count
    rate, holds = moved / (cycles * board.clock.period_ns), max(run.limits, key=run.limits.get)
    return [
        run.launch.kernel,
        run.launch.case,
        f"{rate:.2f}",
        f"{rate * count / banks / board.peak_bytes_per_ns:.3f}",
        holds,
        f"{run.limits[holds] / cycles:.3f}",
    ]


def _units(accesses: list[dict]) -> Iterator[tuple[str, ...]]:
    """Unit, bytes used, bytes moved for each of them, words of a burst, hits."""
    groups: dict[str, list[dict]] = {}
    for access in accesses:
        if access["bytes_moved"]:
            groups.setdefault(f"{access['lsu']} {access['kind']}", []).append(access)
    for name, group in groups.items():
        used, moved = (sum(access[key] for access in group) for key in ("bytes_used", "bytes_moved"))
        # atomic units count no bursts
        bursts = sum(access["bytes_moved"] / access["average_burst"] for access in group if access["average_burst"])
        hits = [access["cache_hit"] for access in group if access["cache_hit"] is not None]
        yield (
            f"{len(group)} x {name}" if len(group) > 1 else name,
            f"{used / 1e3:,.1f}",
            f"{moved / used:.2f}" if used else "-",
            f"{moved / bursts:.1f}" if bursts else "-",
            f"{sum(hits) / len(hits):.3f}" if hits else "-",
        )

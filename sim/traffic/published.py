"""Bandwidths that others have measured, or that follow from a data sheet, and streams that reproduce them."""

from dataclasses import dataclass, replace
from typing import Any

from hls.narrow import instance
from hls.target.board import Board, DramTiming, load_board

from .measure import Stream, partitioned

__all__ = ["CASES", "Case", "mix"]

#: DDR4-2400, speed bin 16-16-16 (JEDEC JESD79-4 and the tables of a public 4 Gb x8 data sheet); else as DDR4-2133. In
#: clocks of 0.833 ns.
DDR4_2400: dict[str, Any] = {
    "tck_ns": 1 / 1.2,
    "CL": 16,
    "CWL": 12,
    "tRCD": 16,
    "tRP": 16,
    "tRAS": 39,
    "tFAW": 26,
    "tWR": 18,
    "tRTP": 9,
    "tWTR_L": 9,
    "tREFI": 9360,
    "tRFC": 312,
}
A, B, C, D = range(4)


@dataclass(frozen=True)
class Case:
    """``published`` in GB/s must be matched within 10 %, or, as a ``floor``, be exceeded."""

    name: str
    board: Board
    streams: tuple[Stream, ...]
    published: float
    floor: bool = False

    @property
    def placement(self) -> str:
        """How data lies in the banks: "interleaved" or "by bank"."""
        return "interleaved" if self.board.memory.interleaved else "by bank"

    def holds(self, simulated: float) -> bool:
        """Whether a simulated rate is as expected."""
        return simulated > self.published if self.floor else abs(simulated / self.published - 1) <= 0.1


def mix(reads: int, writes: int) -> tuple[Stream, ...]:
    """A kernel that reads arrays a, b, c and writes d, or c and d."""
    written = {0: (), 1: (D,), 2: (C, D)}[writes]
    return (*(Stream(False, array) for array in range(reads)), *(Stream(True, array) for array in written))


def _mixes(board: Board, rates: dict[tuple[int, int], float], floor: bool = False) -> list[Case]:
    return [
        Case(f"R{reads}W{writes}", board, mix(reads, writes), rate, floor) for (reads, writes), rate in rates.items()
    ]


def _cases() -> tuple[Case, ...]:
    card = load_board("a10pac")  # an Arria 10 card with two banks of DDR4-2133, kernels at 266.67 MHz
    by_bank = {(1, 0): 16.3, (1, 1): 32.6, (2, 1): 23.4, (3, 1): 29.5, (2, 2): 31.2}
    # that vendor's reads share a path; ours do not
    shared_path = {(1, 1): 23.2, (2, 1): 20.8, (3, 1): 15.1, (2, 2): 19.8}
    faster = replace(
        card,
        name="DDR4-2400",
        clock=replace(card.clock, kernel_mhz=300.0),
        memory=replace(card.memory, timing=replace(instance(card.memory.timing, DramTiming), **DDR4_2400)),
    )
    scattered = (Stream(False, A, random=True),)
    return (
        *_mixes(partitioned(card), by_bank),
        *_mixes(card, {(1, 0): 16.8}),
        *_mixes(card, shared_path, floor=True),
        Case("random reads", partitioned(load_board("de5net")), scattered, 6.1),
        Case("random reads", partitioned(faster), scattered, 11.4),
    )


CASES = _cases()

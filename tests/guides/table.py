"""The loops of the vendor's guides: their initiation interval there, as scheduled here, and as measured here.

    python -m tests.guides.table

The guides' figure is that of their report on the same loop; where it says "not pipelined" there is no figure. Every
run is compared with the interpreter byte by byte.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.kernels.system import KernelSystem, Launch

__all__ = ["LOOPS", "GuideLoop", "Measured", "measure", "measure_all"]

SOURCE = Path(__file__).parent / "kernels.cl"
_rng = np.random.default_rng(0)


def _uints(n: int, below: int = 100) -> np.ndarray:
    return _rng.integers(0, below, n).astype(np.uint32)


def _ints(n: int, below: int = 100) -> np.ndarray:
    return _rng.integers(0, below, n).astype(np.int32)


def _floats(n: int, type=np.float32) -> np.ndarray:
    return _rng.uniform(0.5, 1.5, n).astype(type)


@dataclass(frozen=True)
class GuideLoop:
    """One loop of ``kernels.cl``: ``line`` counts from the kernel's first, ``there`` is the guide's II (None: not
    pipelined).

    ``goal`` is how many cycles an iteration may take here. With ``whole`` these are those of the launch over all
    iterations, what lies before and behind the loop included: the header's own rate does not tell what waits for memory
    further down. ``again`` measures the second launch after a reset: the constant cache is emptied by the first 256
    cycles after one, which pass on a board while its host still sets things up.
    """

    kernel: str
    line: int
    there: int | None
    goal: float
    launch: Callable[[], Launch]
    whole: bool = False
    again: bool = False


@dataclass(frozen=True)
class Measured:
    """What became of a loop here."""

    loop: GuideLoop
    static: int
    scheduled: float
    measured: float
    iterations: int
    cycles: int  #: of the whole launch, what is around the loop included

    @property
    def each(self) -> float:
        """Cycles of the launch for each iteration."""
        return self.cycles / self.iterations

    @property
    def met(self) -> bool:
        return (self.each if self.loop.whole else self.measured) <= self.loop.goal


def _shifted() -> Launch:
    zeros = np.zeros(2048, np.int32)
    return Launch({"a": _ints(2048), "b": _ints(2048), "x": zeros, "y": zeros.copy()}, {"n": 2048})


def _square() -> Launch:
    return Launch({"a": _floats(16), "out": np.zeros(16, np.float32)}, {"n": 4})


def _large_square() -> Launch:
    return Launch({"a": _floats(256), "out": np.zeros(256, np.float32)}, {"n": 16})


def _exit() -> Launch:
    a = _uints(256)
    a[40] = 200
    return Launch({"a": a, "result": np.zeros(1, np.uint32)})


def _nine() -> Launch:
    return Launch({"result": np.zeros(1, np.int32)}, {"n": 900})


def _serial() -> Launch:
    return Launch({"in": _uints(64, 20), "out": np.zeros(4, np.uint32)}, {"n": 32})


LOOPS = (
    GuideLoop("exit_by_memory", 5, 1, 1.05, _exit),
    GuideLoop("either_loop", 5, 1, 1.05, lambda: Launch({"even": _uints(128), "odd": _uints(128)}, {"n": 64})),
    GuideLoop(
        "growing_trips", 5, 1, 1.05, lambda: Launch({"a": _uints(128), "result": np.zeros(1, np.uint32)}, {"n": 64})
    ),
    GuideLoop(
        "one_sum", 5, 1, 1.05, lambda: Launch({"a": _ints(128 * 128), "b": _ints(128), "result": np.zeros(1, np.int32)})
    ),
    GuideLoop(
        "sum_for_each_row",
        7,
        1,
        1.05,
        lambda: Launch({"a": _ints(128 * 128), "b": _ints(128), "result": np.zeros(1, np.int32)}),
    ),
    GuideLoop("product", 4, 6, 6.0, lambda: Launch({"a": _floats(128), "result": np.zeros(1, np.float32)})),
    GuideLoop("product_of_eight", 6, 1, 1.05, lambda: Launch({"a": _floats(128), "result": np.zeros(1, np.float32)})),
    GuideLoop("turned_around", 3, 324, 8, lambda: Launch({"a": _ints(129)}), True),
    GuideLoop("turned_on_chip", 6, 2, 1.05, lambda: Launch({"a": _ints(129)})),
    GuideLoop(
        "double_sum", 4, 11, 11.1, lambda: Launch({"a": _floats(256, np.float64), "result": np.zeros(1)}, {"n": 256})
    ),
    GuideLoop(
        "double_sum_shifted",
        6,
        1,
        1.05,
        lambda: Launch({"a": _floats(256, np.float64), "result": np.zeros(1)}, {"n": 256}),
    ),
    GuideLoop("nine_steps", 5, 1, 9.1, _nine),
    GuideLoop("nine_steps_at_two", 6, 2, 2.1, _nine),
    GuideLoop("nine_steps_at_one", 6, 1, 1.05, _nine),
    GuideLoop("shifted_copies", 5, 1, 1.3, _shifted, True),
    GuideLoop("shifted_copies_of_one", 5, 1, 1.3 * 1.3, _shifted, True),
    GuideLoop(
        "private_rows", 5, 1, 1.05, lambda: Launch({"a": _ints(32 * 64), "out": np.zeros(32, np.int32)}, {"n": 32})
    ),
    GuideLoop(
        "filter",
        7,
        1,
        1.05,
        lambda: Launch({"in": _floats(1200), "taps": _floats(1), "out": np.zeros(1200, np.float32)}, {"n": 1200}),
        again=True,
    ),
    GuideLoop("serial_rows", 8, 1, 1.05, _serial),
    GuideLoop(
        "sums_of_blocks",
        7,
        1,
        1.05,
        lambda: Launch({"a": _ints(80), "c": np.zeros(20, np.int32)}, {"size": 4, "count": 20}),
    ),
    GuideLoop(
        "running_sum",
        3,
        1,
        1.3,
        lambda: Launch({"b": _uints(2000), "c": _uints(2000), "out": np.zeros(1, np.uint32)}, {"n": 2000}),
        True,
    ),
    GuideLoop("binomial", 4, 13, 13.1, lambda: Launch({"result": np.zeros(1, np.uint32)}, {"n": 150, "k": 10})),
    GuideLoop("mirror", 3, 285, 2.6, lambda: Launch({"out": _ints(2000)}, {"n": 1000}), True),
    GuideLoop("square", 6, 7, 1.05, _large_square),
    GuideLoop("square_on_chip", 9, 7, 7, _square),
    GuideLoop("square_counted", 14, 7, 7, _square),
    GuideLoop("square_added", 16, 7, 7, _square),
    GuideLoop("square_products", 19, 1, 1.05, _square),
)


def measure(system: KernelSystem, loop: GuideLoop, seeds=(0,)) -> Measured:
    """Run a loop's kernel. Raises :class:`tests.kernels.system.Difference` when a byte is wrong."""
    stats = system.check(loop.kernel, [loop.launch() for _ in range(1 + loop.again)], seeds)[loop.again]
    line = _first_line(system.source, loop.kernel) + loop.line - 1
    found = {each["line"]: each for each in stats["loops"]}[line]
    return Measured(
        loop, found["static_ii"], found["scheduled_ii"], found["measured_ii"], found["iterations"], stats["cycles"]
    )


def _first_line(source: str, kernel: str) -> int:
    return source[: re.search(rf"__kernel void {kernel}\(", source).start()].count("\n") + 1


def measure_all(board: str = "de5net") -> list[Measured]:
    """Every loop of the table, in one simulated system."""
    system = KernelSystem(SOURCE.read_text(), board)
    try:
        return [measure(system, loop) for loop in LOOPS]
    finally:
        system.close()


def rendered(rows: list[Measured]) -> Table:
    """The table as ``make bench`` prints it."""
    table = Table(title="The loops of the vendor's guides: II there and here", title_justify="left")
    for column in (
        "kernel",
        "line",
        "there",
        "static II",
        "scheduled II",
        "measured II",
        "goal",
        "",
        "iterations",
        "cycles of the launch",
        "each",
    ):
        table.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.loop.kernel,
            str(row.loop.line),
            str(row.loop.there),
            str(row.static),
            f"{row.scheduled:.2f}",
            f"{row.measured:.2f}",
            f"{row.loop.goal:g}",
            "met" if row.met else "MISSED",
            f"{row.iterations:,}",
            f"{row.cycles:,}",
            f"{row.each:.2f}",
        )
    return table


def main() -> int:
    """Print the table; returns 1 when a goal is missed."""
    rows = measure_all()
    Console(width=140, highlight=False).print(rendered(rows))
    return int(not all(row.met for row in rows))


if __name__ == "__main__":
    sys.exit(main())

"""The memories of the vendor's guides, and other well-known access patterns: banks, copies and block RAMs here, and
accesses that stall.

    python -m tests.guides.memories

``least`` is the fewest block RAMs (of 20,480 bits, as in the guides' devices) with which all accesses of a cycle
can be made in parallel, for one group of work-items: from the guide, or from the number of ports and bits that the
pattern needs.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hls.driver import CompiledKernel
from hls.ir import walk
from tests.kernels.system import Difference, KernelSystem, Launch, difference

__all__ = ["MEMORIES", "GuideMemory", "Measured", "Planned", "measure", "measure_all"]

SOURCE = Path(__file__).parent / "memories.cl"
PRIME, POINTS, ROOT = 12289, 4096, 11
_rng = np.random.default_rng(2)


def _ints(n: int, below: int = 1 << 20) -> np.ndarray:
    return _rng.integers(0, below, n).astype(np.int32)


@dataclass(frozen=True)
class GuideMemory:
    """A kernel of ``memories.cl``. ``source``: the figure of the optimization guide, 004 for the newer one's text, or
    whose pattern it is.

    ``banks`` and ``copies`` (of banks, in all) of each memory; ``ii`` is 1 where nothing may take turns. ``bound``:
    cycles that the work takes at least, 0 where the launch is too short to be compared with it. Without ``golden`` the
    interpreter says what is right.
    """

    kernel: str
    source: str
    memories: dict[str, tuple[int, int]]
    least: int
    launch: Callable[[], Launch]
    ii: int = 1
    bound: int = 0
    golden: Callable[[Launch], np.ndarray] | None = None


@dataclass(frozen=True)
class Planned:
    """What is planned for a kernel: banks and copies by memory, block RAMs, and the initiation interval of the slowest
    loop that holds no other."""

    memories: dict[str, tuple[int, int]]
    blocks: int  #: of one group of work-items
    all_blocks: int  #: with the parts for groups, or iterations, under way at once
    static: int

    @classmethod
    def of(cls, kernel: CompiledKernel) -> "Planned":
        planned = kernel.memory.onchip
        innermost = [
            plan.ii
            for loop, plan in kernel.plan.loops.items()
            if not any(op.opcode == "loop" for op in walk(loop.regions[0]))
        ]
        return cls(
            {name: (m.map.banks, sum(m.bank_copies)) for name, m in planned.items()},
            sum(m.of_one_group.rams for m in planned.values()),
            sum(m.rams for m in planned.values()),
            max([1, *innermost]),
        )

    def meets(self, row: GuideMemory) -> bool:
        """Whether the banks are those of the row, and no more block RAMs than are known to do."""
        return self.memories == row.memories and self.blocks <= row.least and self.static == row.ii


@dataclass(frozen=True)
class Measured:
    """What became of a kernel here. ``waited``: cycles in which an access to memory on the chip waited for a port."""

    row: GuideMemory
    planned: Planned
    waited: int
    cycles: int

    @property
    def ratio(self) -> float | None:
        return self.cycles / self.row.bound if self.row.bound else None

    @property
    def met(self) -> bool:
        return self.planned.meets(self.row) and self.waited == 0 and (self.ratio or 1.0) <= 1.1


def _groups(size: int) -> Callable[[], Launch]:
    return lambda: Launch({"in": _ints(2 * size), "out": np.zeros(2 * size, np.int32)}, {}, (2 * size,), (size,))


def _task(n: int, size: int) -> Callable[[], Launch]:
    return lambda: Launch({"in": _ints(size), "out": np.zeros(size, np.int32)}, {"n": n})


def _product() -> Launch:
    n = 64
    return Launch(
        {"in": _ints(n * n, 1000), "other": _ints(n * n, 1000), "out": np.zeros(n * n, np.int32)},
        {"n": n},
        (n, n),
        (16, 16),
    )


def _multiplied(launch: Launch) -> np.ndarray:
    n = launch.scalars["n"]
    return (launch.buffers["in"].reshape(n, n) @ launch.buffers["other"].reshape(n, n)).ravel()


def _around(launch: Launch) -> np.ndarray:
    """Eight times each point less its neighbours, a row and a column late."""
    given, n = launch.buffers["in"].astype(np.int64), launch.scalars["n"]
    at = np.arange(2050, n)
    others = sum(given[at - 1024 * row - column] for row in range(3) for column in range(3) if (row, column) != (1, 1))
    found = np.zeros(n, np.int64)
    found[2050:] = 8 * given[at - 1025] - others
    return found.astype(np.int32)


def _transform() -> Launch:
    root = pow(ROOT, (PRIME - 1) // POINTS, PRIME)
    powers = np.array([pow(root, k, PRIME) for k in range(POINTS // 2)], np.int32)
    return Launch({"in": _ints(POINTS, PRIME), "roots": powers, "out": np.zeros(POINTS, np.int32)})


def _transformed(launch: Launch) -> np.ndarray:
    """The sum of its definition, place by place, in natural order."""
    given, root = launch.buffers["in"].astype(np.int64), int(launch.buffers["roots"][1])
    powers = np.array([pow(root, k, PRIME) for k in range(POINTS)], np.int64)
    places = np.arange(POINTS)
    return np.array([(given * powers[k * places % POINTS] % PRIME).sum() % PRIME for k in places], np.int32)


def _tiles() -> Launch:
    return Launch(
        {"in": _ints(64 * 1024, 1 << 16).astype(np.uint16), "out": np.zeros(64 * 1024, np.uint16)},
        {},
        (64, 1024),
        (64, 64),
    )


def _turned(launch: Launch) -> np.ndarray:
    return launch.buffers["in"].reshape(-1, 64, 64).transpose(0, 2, 1).ravel()


def _counted(launch: Launch) -> np.ndarray:
    return np.bincount(launch.buffers["in"] & 255, minlength=256).astype(np.int32)


def _histogram() -> Launch:
    return Launch({"in": _ints(20480), "out": np.zeros(256, np.int32)}, {"n": 20480})


ONE = (1, 1)
MEMORIES = (
    GuideMemory("exchanged", "1-18", {"first": ONE, "second": ONE, "third": ONE}, 6, _groups(1024)),
    GuideMemory("kept_apart", "1-18, split", {"first": ONE, "second": ONE, "third": ONE}, 6, _groups(1024)),
    GuideMemory("one_of_each", "1-19", {"t": ONE}, 1, _groups(128)),
    GuideMemory("banked_rows", "1-20", {"t": (4, 4)}, 8, _groups(1024)),
    GuideMemory("banked_columns", "1-21", {"t": (4, 4)}, 8, _groups(1024)),
    GuideMemory("of_each_row", "1-22", {"t": ONE}, 1, _task(64, 4096), bound=4096),
    GuideMemory("in_block_ram", "1-23", {"t": (1, 2)}, 2, _task(100, 256)),
    GuideMemory("in_block_rom", "1-24", {"squares": (1, 2)}, 2, _groups(64)),
    GuideMemory("down", "1-44", {"t": (8, 2)}, 0, _groups(64)),
    GuideMemory("across", "1-45", {"t": (4, 2)}, 0, _groups(64)),
    GuideMemory("three_single", "1-46", {"t": (1, 3)}, 3, _task(100, 1024)),
    GuideMemory("three_double", "1-47", {"t": ONE}, 1, _task(100, 1024)),
    GuideMemory("eight_double", "004, double pumping", {"t": (1, 3)}, 6, _groups(64)),
    GuideMemory("consecutive", "004, banks", {"t": (4, 4)}, 8, _groups(128)),
    GuideMemory("right_bits", "004, bank_bits", {"t": (4, 4)}, 4, _groups(128)),
    # two of the four stores may be in any bank: the guide's are arbitrated, too
    GuideMemory("wrong_bits", "004, other bits", {"t": (4, 16)}, 16, _groups(128), ii=4),
    # 16 and 64 words of 32 bits a cycle, each from a port
    GuideMemory(
        "tiled_product",
        "tiled matmul",
        {"p": (4, 16), "q": (4, 64)},
        80,
        _product,
        bound=64**3 // 64,
        golden=_multiplied,
    ),
    # two rows of 32,768 bits
    GuideMemory("stencil", "line buffer", {"rows": (2, 2)}, 4, _task(6144, 6144), bound=6144, golden=_around),
    # 262,144 bits for points twice, 65,536 for roots; in place, with banks by parity, it could be half of the former.
    # Roots come beside the points
    GuideMemory(
        "fourier",
        "FFT of 4,096",
        {"points": (2, 2), "powers": ONE},
        18,
        _transform,
        bound=POINTS + 6 * POINTS + POINTS,
        golden=_transformed,
    ),
    # a tile is read when it is full: the last one when all others are written
    GuideMemory(
        "transpose", "transpose", {"t": (16, 16)}, 16, _tiles, bound=64 * 1024 // 16 + 64 * 64 // 16, golden=_turned
    ),
    GuideMemory("histogram", "histogram", {"counts": (4, 4)}, 4, _histogram, bound=256 + 5120 + 256, golden=_counted),
)


def measure(system: KernelSystem, row: GuideMemory, seeds=(0,)) -> Measured:
    """Run a kernel. Raises :class:`tests.kernels.system.Difference` when a byte is wrong."""
    launch = row.launch()
    stats = _run(system, row, launch, seeds)
    built = next(k for k in system.result.kernels if k.plan.name == row.kernel)
    waited = [
        account["cycles"] for account in stats["accounts"] if account["cause"].startswith("waiting for the write port")
    ]
    return Measured(row, Planned.of(built), sum(waited), stats["cycles"])


def _run(system: KernelSystem, row: GuideMemory, launch: Launch, seeds) -> dict:
    """Statistics without random stalls. Short launches are right with those of the other seeds as well."""
    if row.golden is None:
        return system.check(row.kernel, [launch], seeds if not row.bound else seeds[:1])[0]
    stats, buffers = system.run(row.kernel, launch)
    wrong = difference(buffers["out"], row.golden(launch), launch.buffers["out"])
    if wrong:
        raise Difference(f"{row.kernel}: out{wrong}")
    return stats


def measure_all(board: str = "de5net") -> list[Measured]:
    """Every kernel of the table, in one simulated system."""
    system = KernelSystem(SOURCE.read_text(), board)
    try:
        return [measure(system, row) for row in MEMORIES]
    finally:
        system.close()


def rendered(rows: list[Measured]) -> Table:
    """The table as ``make bench`` prints it."""
    table = Table(
        title="Memories on the chip: banks and copies, block RAMs of one group of work-items, and what waits",
        title_justify="left",
    )
    for column in (
        "kernel",
        "after",
        "banks, copies",
        "block RAMs",
        "least",
        "all groups",
        "II",
        "waited",
        "cycles",
        "bound",
        "ratio",
        "",
    ):
        table.add_column(
            column, justify="left" if column in ("kernel", "after", "banks, copies") else "right", no_wrap=True
        )
    for row in rows:
        shapes = "; ".join(f"{name} {banks}, {copies}" for name, (banks, copies) in row.planned.memories.items())
        table.add_row(
            row.row.kernel,
            row.row.source,
            shapes,
            str(row.planned.blocks),
            str(row.row.least),
            str(row.planned.all_blocks),
            str(row.planned.static),
            f"{row.waited:,}",
            f"{row.cycles:,}",
            f"{row.row.bound:,}" if row.row.bound else "-",
            f"{row.ratio:.3f}" if row.ratio else "-",
            "met" if row.met else "MISSED",
        )
    return table


def main() -> int:
    """Print the table; returns 1 when a goal is missed."""
    rows = measure_all()
    Console(width=170, highlight=False).print(rendered(rows))
    return int(not all(row.met for row in rows))


if __name__ == "__main__":
    sys.exit(main())

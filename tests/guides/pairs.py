"""What the vendor's guides advise, before and after: cycles in RTL, II, and area of both kernels of each pair.

    python -m tests.guides.pairs

The guides promise that ``X_after`` of ``pairs.cl`` is faster or smaller than ``X_before``. Either that gain is had
here, or the kernel before is as good already; the table says which.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from hls.driver import Result, compile
from hls.model.area import Resources, estimate
from hls.rtl.system import module_names
from tests.kernels.system import KernelSystem, Launch

__all__ = ["PAIRS", "Advice", "Figures", "Outcome", "areas", "measure"]

SOURCE = Path(__file__).parent / "pairs.cl"
_rng = np.random.default_rng(5)


def _ints(n: int, below: int = 1000) -> np.ndarray:
    return _rng.integers(0, below, n).astype(np.int32)


def _floats(n: int) -> np.ndarray:
    return _rng.uniform(0.5, 1.5, n).astype(np.float32)


@dataclass(frozen=True)
class Advice:
    """One pair. ``cycles``: cycles before divided by cycles after are at least that (None: the guide promises no
    speed). ``logic``: the same for logic cells, RAMs left aside. ``had``: the gain that the guide promises was there
    before: the kernel after is faster by 10 % at most. ``says``: the advice in few words, with its section of the guide."""

    name: str
    says: str
    before: Callable[[], Launch]
    after: Callable[[], Launch]
    cycles: float | None = None
    logic: float | None = None
    had: bool = False


@dataclass(frozen=True)
class Figures:
    """One kernel: cycles of the launch, the slowest scheduled II of its innermost loops, and its resources."""

    cycles: int
    ii: int
    area: Resources


@dataclass(frozen=True)
class Outcome:
    """Both kernels of a pair."""

    advice: Advice
    before: Figures
    after: Figures

    @property
    def faster(self) -> float:
        """Cycles before divided by cycles after."""
        return self.before.cycles / self.after.cycles

    @property
    def smaller(self) -> float:
        """Logic cells before divided by those after."""
        return self.before.area.logic / self.after.area.logic

    @property
    def holds(self) -> bool:
        """Whether the promised gain is had, or was had before."""
        advice = self.advice
        return (
            (advice.cycles is None or self.faster >= advice.cycles)
            and (advice.logic is None or self.smaller >= advice.logic)
            and (not advice.had or self.faster <= 1.1)
        )


def _loop(**more: int) -> Callable[[], Launch]:
    return lambda: Launch({"a": _ints(12100), "out": np.zeros(12100, np.int32)}, {"n": 4000, **more})


def _items(type: str = "int", count: int = 2048, **scalars: int) -> Callable[[], Launch]:
    values = _ints if type == "int" else _floats
    return lambda: Launch({"a": values(count + 16), "out": values(count)}, scalars, (count,), (64,))


def _products() -> Launch:
    return Launch({"a": _floats(1024), "b": _floats(1024), "out": _floats(1024)}, {"n": 32}, (32, 32), (8, 8))


def _table() -> Launch:
    return Launch({"t": _ints(256), "a": _ints(2000), "out": np.zeros(2000, np.int32)}, {"n": 2000})


def _long() -> Launch:
    return Launch({"a": _ints(1000), "b": _ints(1000), "out": np.zeros(1000, np.int64)}, {"n": 1000})


def _records(bytes_each: int) -> Callable[[], Launch]:
    def launch() -> Launch:
        data = _rng.integers(0, 256, 1000 * bytes_each).astype(np.uint8)
        return Launch({"a": data, "out": np.zeros(1000, np.int32)}, {"n": 1000})

    return launch


def _vectors() -> Launch:
    return Launch({"out": _ints(4000)}, {"n": 1000})


def _grid() -> Launch:
    return Launch({"a": _ints(16 * 100), "out": np.zeros(16 * 100, np.int32)}, {"n": 100})


PAIRS = (
    Advice("unroll", "unroll loops", _loop(), _loop(), cycles=4),
    Advice("wide", "vector types for accesses that are neighbours", _loop(), _loop(), cycles=2.5),
    Advice("simd", "num_simd_work_items", _items("float"), _items("float"), cycles=3),
    Advice("units", "num_compute_units", _items(), _items(), cycles=1.8),
    Advice(
        "single_item",
        "a single work-item instead of barriers",
        _items(),
        lambda: Launch({"a": _ints(2048), "out": np.zeros(32, np.int32)}, {"groups": 32}),
        cycles=1.1,
        logic=1.2,
    ),
    Advice("tile", "tiles in local memory", _products, _products, cycles=4),
    Advice("local_copy", "a local copy of what is read again", _table, _table, had=True),
    Advice("restrict", "restrict", _loop(), _loop(), had=True),
    Advice("pointer", "no arithmetic of pointers", _loop(), _loop(), had=True),
    Advice("nest", "one loop instead of a nest", _loop(), _loop(), had=True),
    Advice("division", "no division by variables", _loop(len=7), _loop(len=7), logic=1.5, had=True),
    Advice("mask", "masks for values of few bits", _long, _long, logic=1.02, had=True),
    Advice("constants", "constant coefficients", _loop(c0=3, c1=10, c2=3), _loop(), had=True),
    Advice("struct", "aligned structures", _records(7), _records(8), had=True),
    Advice("vector", "all elements of a vector", _vectors, _vectors, had=True),
    Advice("stride", "consecutive addresses", _grid, _grid, had=True),
    Advice("branch", "no trip count by the id of the work-item", _items(), _items(), cycles=4),
)


def areas(result: Result) -> dict[str, Resources]:
    """What each kernel takes, without what kernels share."""
    parts = estimate(result.verilog, result.top, result.board.device).parts
    modules = module_names([kernel.name for kernel in result.interface.kernels])
    return {name: parts[module] + parts[f"{module}_control"] for name, module in modules.items()}


def measure(system: KernelSystem, area: dict[str, Resources], seeds=(0,)) -> Iterator[Outcome]:
    """All pairs. Raises :class:`tests.kernels.system.Difference` when a byte is wrong."""
    for advice in PAIRS:
        found = []
        for when, launch in (("before", advice.before), ("after", advice.after)):
            kernel = f"{advice.name}_{when}"
            stats = system.check(kernel, [launch()], seeds)[0]
            found.append(Figures(stats["cycles"], _slowest(system, kernel), area[kernel]))
        yield Outcome(advice, *found)


def _slowest(system: KernelSystem, kernel: str) -> int:
    loops = system.plan(kernel).loops
    inner = [region.ii for op, region in loops.items() if not any(one.opcode == "loop" for one in op.regions[0].ops)]
    return max(inner, default=1)


def rendered(rows: list[Outcome]) -> Table:
    """The table as ``make bench`` prints it."""
    table = Table(title="Advice of the vendor's guides, before and after", title_justify="left")
    for column in ("advice", "cycles", "after", "faster", "II", "after", "ALMs", "after", "smaller", ""):
        table.add_column(column, justify="left" if column == "advice" else "right", no_wrap=True)
    for row in rows:
        before, after = row.before, row.after
        table.add_row(
            row.advice.says,
            f"{before.cycles:,}",
            f"{after.cycles:,}",
            f"{row.faster:.2f}",
            str(before.ii),
            str(after.ii),
            f"{before.area.logic:,}",
            f"{after.area.logic:,}",
            f"{row.smaller:.2f}",
            ("had before" if row.advice.had else "met") if row.holds else "MISSED",
        )
    return table


def main() -> int:
    """Print the table; returns 1 when a gain is missed."""
    text = SOURCE.read_text()
    area = areas(compile(text, "de5net"))
    system = KernelSystem(text)
    try:
        rows = list(measure(system, area))
    finally:
        system.close()
    Console(width=140, highlight=False).print(rendered(rows))
    return int(not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main())

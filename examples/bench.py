"""Every example at full size on the simulated board: measured cycles against the lower bound of any such hardware.

The bound of a run is the larger of (innermost iterations x II) and (bytes / peak bandwidth), or what its example adds
to that. The II in it is 1 where invocations of the loop can be interleaved, else the static II of the recurrence. A
second table says what crossed the memory bus, and which limit of the memory (refresh, changes of direction, rows) a run
came close to.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import hls
import sim.cl as cl
from hls.target.board import Board, DramTiming
from rich.console import Console
from rich.table import Table

from common import Job, Launch
from moved import limits, memory_table, random_cycles

HERE = Path(__file__).resolve().parent
EXAMPLES = tuple(sorted(path.parent.name for path in HERE.glob("*/host.py")))

REGULAR, IRREGULAR = 1 / 0.95, 1 / 0.7
#: The most that each run may take, as a multiple of its bound.
GOALS = {
    "vecadd": 1.10,
    "vecadd_ndrange": 1.10,
    "saxpy": 1.10,
    "fir": 1.05,
    "matmul": 1.15,
    "triangular": 1.04,
    "triangular_float": 1.10,
    "divergent": 1.04,
    "divergent_float": 1.10,
    "divergent_skewed": 1.5,
    "conv2d": REGULAR,
    "collect": 1.03,
    "threshold": REGULAR,
    "dot_product": REGULAR,
    "add_1": 1.10,
    "add_2": 1.10,
    "add_4": 1.10,
    "add_8": 1.10,
    "add_16": 1.25,
    "collect_sums": 1 / 0.9,
    "store_spectrum": 1.05,
    "store_sorted": REGULAR,
    "merge": REGULAR,
    "store_pixels": REGULAR,
    "log_packets": REGULAR,
    "stir_1": 1.05,
    "stir_2": REGULAR,
    "stir_4": REGULAR,
    "reduce_32": 1.10,
    "reduce_64": 1.10,
    "reduce_1024": 1.10,
    "prefix_sum": 1.10,
    "bitonic": 1.10,
    "tiled_matmul": 1.10,
    "black_scholes": 1 / 0.9,
    "hotspot": 1 / 0.9,
    "pathfinder": 1 / 0.9,
    "srad_weights": 1 / 0.9,
    "srad_update": 1 / 0.9,
    "kmeans": 1 / 0.9,
    "bfs_visit": IRREGULAR,
    "bfs_advance": IRREGULAR,
    "chase": 1 / 0.8,
    "nw": IRREGULAR,
    "lud": 1 / 0.9,
    "lud_diagonal": IRREGULAR,
    "lud_perimeter": IRREGULAR,
    "lud_internal": IRREGULAR,
    "read_words": 1.05,
    "copy_words": 1 / 0.75,
    "join_two": 1 / 0.75,
    "join_three": 1 / 0.75,
    "copy_floats": 1.05,
    "gather": 1.2,
    "load_steps": 1.10,
    "store_steps": 1.10,
    "regular_1": 1.10,
    "regular_2": 1.10,
    "regular_4": 1.10,
    "regular_8": 1.10,
    "irregular_1": 1 / 0.9,
    "irregular_2": 1 / 0.9,
    "irregular_4": 1 / 0.9,
    "irregular_8": 1 / 0.9,
    "mandelbrot": IRREGULAR,
    "collatz": IRREGULAR,
    "collatz_ndrange": IRREGULAR,
}
#: Cases of a kernel that have a goal of their own.
CASES = {
    ("read_words", "in one bank"): 1 / 0.94,
    ("copy_words", "from bank to bank"): 1 / 0.92,
    ("gather", "anywhere"): 1 / 0.9,
}


@dataclass(frozen=True)
class Run:
    """One measured launch."""

    launch: Launch
    stats: dict  #: from ``event.stats.to_dict()``
    bound: float  #: cycles
    seconds: float  #: wall time of the simulation
    #: cycles, from :func:`moved.limits`; for DDR memory only
    limits: dict[str, float] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        return self.stats["cycles"]


@dataclass(frozen=True)
class Figure:
    """The measurement of one launch, or of all launches that do one piece of work."""

    of: Launch | Job
    runs: list[Run]

    @property
    def cycles(self) -> int:
        return sum(run.cycles for run in self.runs)

    @property
    def bound(self) -> float:
        return sum(run.bound for run in self.runs)

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    @property
    def ratio(self) -> float:
        return self.cycles / self.bound

    @property
    def goal(self) -> float:
        return CASES.get((self.of.kernel, self.of.case), GOALS[self.of.kernel])

    @property
    def met(self) -> bool:
        return self.ratio <= self.goal


def measure(name: str, board: Board) -> list[Figure]:
    """Run one example in this process; its own check ends the program when a result is wrong."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", HERE / name / "host.py")
    host = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(host)
    return [
        Figure(one, [examine(launch, board) for launch in (one.launches if isinstance(one, Job) else [one])])
        for one in host.main([])
    ]


def examine(launch: Launch, board: Board) -> Run:
    """A finished launch, with its lower bound."""
    stats = launch.event.stats.to_dict()
    compute = launch.trips * least_ii(stats["loops"])
    return Run(
        launch,
        stats,
        bound(launch, compute, board),
        launch.event.stats.simulation_seconds,
        limits(launch, stats, board, compute) if isinstance(board.memory.timing, DramTiming) else {},
    )


def bound(launch: Launch, compute: float, board: Board) -> float:
    """The fewest cycles that the board and the hardware's clock allow."""
    banks = len(set(launch.placed.values())) / len(board.memory.banks) if launch.placed else 1
    bus = (launch.bytes + launch.others) / (board.peak_bytes_per_ns * board.clock.period_ns * banks)
    return max(compute, bus, launch.cycles, launch.random * random_cycles(board))


def measure_all(names, board: Board, console: Console) -> tuple[list[Figure], list[str]]:
    """The figures of every example, and the names of those that failed: one wrong result does not hide the others'."""
    found, failed = [], []
    for name in names:
        console.print(f"[bold]{name}[/bold]")
        try:
            found += measure(name, board)
        except SystemExit as stop:  # an example's check ends its program when a byte is wrong
            console.print(f"  {stop.code}", style="red", markup=False)
            failed.append(name)
        except cl.Error as error:
            console.print(f"  {error}", style="red", markup=False)
            failed.append(name)
    return found, failed


def least_ii(loops: list[dict]) -> float:
    """Cycles per iteration of the busiest loop with all of its invocations interleaved."""
    if not loops:
        return 1.0
    loop = max(loops, key=lambda loop: loop["iterations"])
    return loop["static_ii"] / min(loop["static_ii"], max(loop["invocations"], 1))


def cycles_table(figures: list[Figure]) -> Table:
    table = Table(title="Measured cycles against the bound", title_justify="left")
    for column in ("kernel", "case", "cycles", "bound", "ratio", "goal", "", "kcycles/s"):
        table.add_column(column, justify="left" if column in ("kernel", "case") else "right", no_wrap=True)
    for one in figures:
        table.add_row(
            one.of.kernel,
            one.of.case,
            f"{one.cycles:,}",
            f"{one.bound:,.0f}",
            f"{one.ratio:.3f}",
            f"{one.goal:.3f}",
            "met" if one.met else "MISSED",
            f"{one.cycles / one.seconds / 1e3:,.0f}",
        )
    return table


def loops_table(runs: list[Run]) -> Table:
    table = Table(title="Scheduled and measured II of every loop", title_justify="left")
    for column in (
        "kernel",
        "loop",
        "line",
        "static II",
        "interleaved",
        "scheduled II",
        "measured II",
        "iterations",
        "invocations",
    ):
        table.add_column(column, justify="left" if column in ("kernel", "loop") else "right", no_wrap=True)
    for run in runs:
        for loop in run.stats["loops"]:
            measured = "-" if loop["measured_ii"] is None else f"{loop['measured_ii']:.3f}"
            table.add_row(
                run.launch.kernel,
                loop["label"],
                str(loop["line"]),
                str(loop["static_ii"]),
                str(loop["interleaving"]),
                f"{loop['scheduled_ii']:.3f}",
                measured,
                f"{loop['iterations']:,}",
                f"{loop['invocations']:,}",
            )
    return table


def compile_seconds(name: str, board: str, *defines: str) -> tuple[float, int]:
    """Wall time of the command line from .cl to Verilog, and the bytes of Verilog it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "hls.cli",
            "compile",
            str(HERE / name / "kernel.cl"),
            "--board",
            board,
            "-o",
            f"{folder}/out",
            *(f"-D{define}" for define in defines),
        ]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return seconds, sum(path.stat().st_size for path in Path(folder, "out", "rtl").iterdir())


def compile_table(title: str, rows: list[tuple[str, tuple[float, int]]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("kernel file", no_wrap=True)
    for column in ("seconds", "Verilog KB"):
        table.add_column(column, justify="right")
    for name, (seconds, size) in rows:
        table.add_row(name, f"{seconds:.2f}", f"{size / 1e3:,.0f}")
    return table


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", choices=[*EXAMPLES, []], help="default: all of them")
    parser.add_argument("--board", default=os.environ.get("SLUICE_BOARD", "de5net"))
    parser.add_argument("--no-compile-times", action="store_true", help="leave out the tables of compile times")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a goal is missed")
    return parser.parse_args(argv)


def main(argv=None) -> int:
    args = parse_arguments(argv)
    os.environ["SLUICE_BOARD"] = args.board
    board = hls.load_board(args.board)
    names, console = args.examples or EXAMPLES, Console(width=150, highlight=False)
    figures, failed = measure_all(names, board, console)
    runs = [run for one in figures if isinstance(one.of, Launch) for run in one.runs]
    console.print(f"Board {board.name}, {board.clock.kernel_mhz:g} MHz, {board.peak_bytes_per_ns:.1f} GB/s")
    console.print(cycles_table(figures))
    if isinstance(board.memory.timing, DramTiming):
        console.print(memory_table(runs, board))
    console.print(loops_table(runs))
    if not args.no_compile_times and not failed:
        console.print(compile_table(".cl to Verilog", [(name, compile_seconds(name, args.board)) for name in names]))
        factors = [
            (f"fir, {n} of 64 taps side by side", compile_seconds("fir", args.board, "TAPS=64", f"UNROLL={n}"))
            for n in (1, 2, 4, 8, 16, 32, 64)
        ]
        console.print(compile_table("Compile time against the unroll factor", factors))
    missed = [" ".join(filter(None, (one.of.kernel, one.of.case))) for one in figures if not one.met]
    console.print(f"goals missed: {', '.join(missed)}" if missed else "every goal of these runs met")
    if failed:
        console.print(f"failed: {', '.join(failed)}", style="red")
    return 1 if failed or missed and args.strict else 0


if __name__ == "__main__":
    sys.exit(main())

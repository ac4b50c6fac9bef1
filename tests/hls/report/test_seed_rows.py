"""Reports of kernels in ``seeds/``, one for each statement that the programming guides make of optimization and area
reports. ``ROWS`` names the statement, the file, and words that say it; the whole text is compared with a golden."""

import re
from pathlib import Path

import pytest

from hls import Options, compile
from hls.report import text
from hls.report.collect import collect

FOLDER = Path(__file__).with_name("seeds")
SOURCES = ("loops", "dependences", "items", "memories", "system")
#: number of the statement: (what it is about, file, words of the report)
ROWS: dict[int, tuple[str, str, str]] = {
    1: ("legend", "loops", "Legend II: cycles between the starts of two iterations"),
    2: ("lines without an option", "loops", "Loop while (line 16)"),
    3: ("kind of a kernel", "items", "Kernel any (line 2), NDRange kernel: calls get_global_id at line 4"),
    4: ("work-group size", "items", "Work-group size: any, as no operation depends on it"),
    5: ("nesting", "loops", "+ Loop r (line 33): II 1, paced by the inner loop"),
    6: ("names of loops", "loops", "+ Loop last (line 19)"),
    7: ("unrolled by itself", "system", "Fully unrolled by the compiler (#pragma unroll 1 prevents it): 2 copies"),
    8: ("unrolled by a pragma", "loops", "Unrolled by #pragma unroll: 2 copies of the body."),
    9: ("unrolling not possible", "loops", "Unrolling requested but not done: its trip count is not known"),
    10: ("loops that vanish", "loops", "removed: its result is never used"),
    11: ("pipelined well", "loops", "kernel counted: 5 loops, all pipelined"),
    12: ("late exit condition", "loops", "Speculative iterations: "),
    13: ("inner loop in a branch", "loops", "kernel nests: 3 loops, all pipelined"),
    14: ("triangular nest", "loops", "Loop r (line 33): II 1, paced by the inner loop"),
    15: ("every n cycles", "dependences", "Loop k (line 5): II 6, an iteration starts every 6 cycles"),
    16: ("dependence on a variable", "dependences", "II 6: loop-carried dependence on sum (line 6)"),
    17: ("dependence through memory", "dependences", "from the store to t (line 24) to the load of t (line 21)"),
    18: ("critical contributors", "dependences", "83% floating-point add for sum (line 6)"),
    19: ("serial region", "dependences", "Serial region: one iteration of this loop at a time executes loop c (line 22)"),
    20: ("another dependence", "dependences", "Address conflict: load of t (line 25) takes the value from the store (line 24)"),
    21: ("outer loops", "loops", "paced by the inner loop c (line 49): an iteration starts every 40 cycles"),
    22: ("always a cause", "dependences", "3 stores to bins (lines 34, 35, 36) share one write port"),
    23: ("clock given up for the II", "dependences", "warning[W0701]: #pragma ii 1 lowers fmax"),
    24: ("advice", "dependences", "Relax the dependence: shift 7 partial sums of sum"),
    25: ("loops of NDRange kernels", "items", "Work-items (line 8): II 1, paced by the inner loop k (line 15)"),
    26: ("concurrency", "dependences", "at most 19 iterations in flight"),
    27: ("interleaving", "dependences", "Loop c (line 13), 64 iterations: II 7, interleaves 7 invocations"),
    28: ("clock of a loop", "loops", "iterations in flight; fmax "),
    29: ("list of bottlenecks", "dependences", "Bottlenecks 1. table: loop k (line 20)"),
    30: ("one iteration of an outer loop", "dependences", "an iteration starts after at most 463 cycles instead of every 30"),
    31: ("area by parts", "system", "feed: arithmetic # access units #"),
    32: ("board interface", "system", "board interface: ports to the board's memory and to the host"),
    33: ("dispatch", "system", "kernel dispatch: arguments and start of each kernel"),
    34: ("state", "system", "state: values and control between pipeline stages"),
    35: ("feedback", "system", "feedback: values that loops carry from iteration to iteration"),
    36: ("interconnect", "system", "The global interconnect serves # loads and # stores; fewer of them make it smaller."),
    37: ("private cache", "system", "cache of 32,768 bytes, emptied when a launch starts (its hits are in the profile"),
    38: ("constant cache", "system", "not in the constant cache, as one wide load reads each word once"),
    39: ("rating of a memory", "memories", "Local memory copied (line 6): good but replicated."),
    40: ("sizes of a memory", "memories", "Requested 4,096 bytes, implemented 4,096 bytes"),
    41: ("merged memories", "memories", "Merged by width from left"),
    42: ("advice for banks", "dependences", "Index a dimension of bins by compile-time constants"),
    43: ("banks", "memories", "4 banks: "),
    44: ("copies for groups", "items", "4 private copies, one for each work-group in flight"),
    45: ("copies for loads", "memories", "Replicated 3 times: 3 loads can read at once."),
    46: ("one read and one write", "memories", "would need no multiplexers and may raise fmax"),
    47: ("copies for iterations", "memories", "one for each iteration of the loop that declares it in flight"),
    48: ("private array in RAM", "memories", "large (line 30), 19,200 bits: block RAM"),
    49: ("constant table", "memories", "powers (line 2), 192 bits: a table in logic"),
    50: ("registers and variables", "memories", "last (line 33), 3 bits"),
    51: ("shift register", "memories", "shift register of 16"),
    52: ("index that is not constant", "memories", "needs multiplexers, which cost the most area"),
    53: ("channels", "system", "line[1] (line 3): 32 bits wide, 102 deep in block RAM (requested depth 3): instruction scheduling"),
    54: ("a costly operation", "system", "integer remainder in loop k, by a divisor that is not constant: # ALMs"),
}  # fmt: skip


def masked(shown: str) -> str:
    """The text without figures that every change of a hardware part moves."""
    shown = re.sub(r"[\d,]+ ALMs", "# ALMs", shown)
    shown = re.sub(r"[\d.,]+(?= %\s+of\s+(?:the|kernel)\s)", "#", shown)
    start = shown.index("Estimated resources")
    end = start + re.search(r"\n(Warnings and notes|Legend)\n", shown[start:]).start()
    area = re.sub(r"(?<= )[\d,]+(\.\d+%)?(?=[,\s])", "#", shown[start:end])
    return shown[:start] + re.sub(r" +#", " #", area) + shown[end:]


@pytest.fixture(scope="module")
def reports():
    found = {}
    for name in SOURCES:
        file = f"{name}.cl"
        found[name] = collect(compile((FOLDER / file).read_text(), "de5net", Options(copy_bytes=0), file), file)
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_text_is_the_golden(reports, name, request):
    shown, golden = masked(text.render(reports[name])), FOLDER / f"{name}.expect"
    if request.config.getoption("--refresh"):
        golden.write_text(shown)
    assert shown == golden.read_text()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row}: {ROWS[row][0]}")
def test_statement(reports, row):
    _, name, words = ROWS[row]
    assert words in " ".join(masked(text.render(reports[name])).split())


def test_every_statement_has_a_kernel():
    assert list(ROWS) == list(range(1, 55))


def test_every_interval_has_a_cause(reports):
    for report in reports.values():
        for kernel in report.kernels:
            left = list(kernel.loops)
            for loop in left:
                left += loop.children
                assert loop.ii <= 1 or loop.bottleneck is not None or loop.serial, loop.id

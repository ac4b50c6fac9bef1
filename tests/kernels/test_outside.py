"""Kernels like those in public repositories: the interval that an engineer expects of each loop, and the bytes of
the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board
from tests.kernels.system import Launch

SOURCE = (Path(__file__).parent / "outside.cl").read_text()
RNG = np.random.default_rng(5)
TEXT = np.frombuffer(b"  12 3.4e5 -7   x1 9.e 1e2 4e2 55. 3  ", np.int8).copy()


def letters(n: int, kinds: int, type=np.uint8) -> np.ndarray:
    return RNG.integers(0, kinds, n).astype(type)


def graph(n: int, edges: int) -> dict[str, np.ndarray]:
    degrees = RNG.integers(0, edges, n)
    neighbours = [np.sort(RNG.choice(n, k, replace=False)) for k in degrees]
    return {
        "start": np.cumsum([0, *degrees]).astype(np.int32),
        "next": np.concatenate(neighbours).astype(np.int32),
        "count": np.zeros(1, np.int32),
    }


def halves(n: int, middle: int) -> np.ndarray:
    data = RNG.integers(-99, 99, n).astype(np.int32)
    return np.concatenate([np.sort(data[:middle]), np.sort(data[middle:])])


LAUNCHES = {
    "common_subsequence": [
        Launch({"a": letters(16, 4), "b": letters(16, 4), "length": np.zeros(1, np.int32)}, {"n": n, "m": m})
        for n, m in ((16, 13), (1, 1), (0, 5))
    ],
    "merged": [
        Launch({"in": halves(n, middle), "out": np.zeros(n, np.int32)}, {"middle": middle, "n": n})
        for n, middle in ((40, 17), (5, 5), (4, 0))
    ],
    "found_pattern": [
        Launch(
            {"text": letters(90, 2, np.int8), "pattern": np.array(pattern, np.int8), "hits": np.zeros(91, np.int32)},
            {"n": 90, "m": len(pattern)},
        )
        for pattern in ([0, 1, 0, 1], [1, 1, 0], [0, 0, 0, 0, 0, 1])
    ],
    "triangles": [Launch(graph(12, 7), {"n": 12})],
    "nested_sums": [
        Launch({"a": RNG.integers(-9, 30, 40).astype(np.int32), "out": np.zeros(7, np.int32)}, {"n": n, "m": m})
        for n, m in ((5, 8), (3, 1), (4, 0), (0, 4))
    ],
    "run_lengths": [
        Launch(
            {
                "in": np.repeat(letters(30, 3), RNG.integers(1, 12, 30)),
                "out": np.zeros(700, np.uint8),
                "count": np.zeros(1, np.int32),
            },
            {"n": n},
        )
        for n in (30, 1)
    ],
    "alignment": [
        Launch(
            {"query": letters(6, 4, np.int8), "text": letters(60, 4, np.int8), "best": np.zeros(1, np.int16)}, {"n": n}
        )
        for n in (60, 1, 0)
    ],
    "words": [
        Launch({"s": TEXT, "found": np.zeros(80, np.uint16), "count": np.zeros(1, np.int32)}, {"n": n})
        for n in (TEXT.size, 2, 0)
    ],
    "numbers": [Launch({"s": TEXT, "verdict": np.zeros(4, np.int32)}, {"n": n}) for n in (TEXT.size, 16, 1)],
    "flattened": [
        Launch(
            {"a": RNG.integers(-99, 99, 70).astype(np.int32), "out": np.zeros(70, np.int32)},
            {"rows": rows, "cols": cols},
        )
        for rows, cols in ((7, 10), (1, 1), (10, 7), (0, 5), (5, 0))
    ],
    "virtual_counters": [
        Launch({"out": np.zeros(90, np.int32)}, {"n": n, "xs": xs, "ys": ys, "zs": zs})
        for n, xs, ys, zs in ((90, 3, 4, 2), (41, 1, 1, 1), (9, 255, 0, 7), (0, 2, 2, 2))
    ],
    "strips": [
        Launch(
            {"a": RNG.integers(-99, 99, 200).astype(np.int32), "out": np.zeros(200, np.int32)},
            {"cols": 40, "rows": rows},
        )
        for rows in (5, 1, 0)
    ],
    "partial_sums": [
        Launch({"a": RNG.random(64, np.float32), "out": np.zeros(8, np.float32)}, {"n": n}) for n in (8, 1, 0)
    ],
    "window_rows": [
        Launch(
            {"a": RNG.integers(-99, 99, 60).astype(np.int32), "out": np.zeros(60, np.int32)},
            {"rows": rows, "cols": cols},
        )
        for rows, cols in ((6, 10), (1, 1), (10, 6), (0, 5), (5, 0))
    ],
    "positions": [
        Launch(
            {
                "a": RNG.integers(0, 9, 60).astype(np.int32),
                "found": np.zeros(60, np.int32),
                "count": np.zeros(1, np.int32),
            },
            {"rows": rows, "cols": cols},
        )
        for rows, cols in ((6, 10), (1, 1), (0, 5), (5, 0))
    ],
    "outer_products": [
        Launch(
            {"a": RNG.random(24, np.float32), "b": RNG.random(24, np.float32), "c": np.zeros(16, np.float32)}, {"n": n}
        )
        for n in (6, 1, 0)
    ],
    "tile_products": [
        Launch(
            {"a": RNG.random(16, np.float32), "b": RNG.random(16, np.float32), "c": np.zeros(144, np.float32)}, {"n": n}
        )
        for n in (4, 1, 0)
    ],
    "gates": [
        Launch(
            {"w": RNG.random(48, np.float32), "x": RNG.random(12, np.float32), "out": np.zeros(1, np.float32)}, {"n": n}
        )
        for n in (12, 1, 0)
    ],
    "promised": [
        Launch(
            {
                "place": np.concatenate([RNG.permutation(8).astype(np.uint8) + 8 * (k % 2) for k in range(6)]),
                "x": RNG.random(48, np.float32),
                "out": np.zeros(16, np.float32),
            },
            {"n": n},
        )
        for n in (48, 9, 0)
    ],
    "neighbours": [Launch({"a": letters(96, 2), "b": np.zeros(96, np.uint8)}, {"w": 12, "h": 8}, (12, 8), (4, 2))],
}

#: kernel -> label of a loop and the most that its II may be
INTERVALS = {
    "common_subsequence": ("j", 2),  # a comparison and two choices between elements of the row
    "merged": ("k", 4),  # two loads of a block RAM whose addresses the comparison of what they gave decides
    "found_pattern": ("i", 20),  # not the hundred cycles of a load
    "triangles": ("u", 1),
    "run_lengths": ("i", 1),
    "alignment": ("j", 1),
    "numbers": ("i", 2),  # of the counter; the state alone would allow 1
    "neighbours": ("dy", 1),
    "flattened": ("loc", 1),
    "window_rows": ("r", 1),
    "positions": ("i", 1),
    "virtual_counters": ("i", 1),
    "strips": ("do", 1),
    "partial_sums": ("j", 1),
    "outer_products": ("at", 1),
    "tile_products": ("k", 1),  # of its own; 144 in the loop inside
    "gates": ("k", 2),  # an element comes back after four iterations, and takes six cycles
    "promised": ("i", 1),
}


@pytest.fixture(scope="module")
def plans():
    """Without copies of buffers: how long memory takes is the subject."""
    kernels, _ = plan_module(parse_source(SOURCE).module, load_board("de5net"), Options(copy_bytes=0))
    return {kernel.plan.name: kernel.plan for kernel in kernels}


@pytest.mark.parametrize("kernel", INTERVALS)
def test_intervals(plans, kernel):
    label, most = INTERVALS[kernel]
    assert max(plan.ii for loop, plan in plans[kernel].loops.items() if loop.attrs.get("label") == label) <= most


def test_loops_that_the_loop_around_waits_for_issue_ahead(plans):
    """Nothing could take turns with them, so waiting for memory would cost them its latency for every letter."""
    inside = [plan for plan in plans["words"].loops.values() if not any(op.opcode == "loop" for op in plan.region.ops)]
    assert len(inside) == 2 and all(plan.speculative and plan.ii <= 2 for plan in inside)


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", LAUNCHES)
def test_bytes(system, kernel):
    system.check(kernel, LAUNCHES[kernel], (0, 1, 2))


@pytest.mark.verilator
def test_accumulators_that_come_back_late_do_not_wait(system):
    n = 60
    floats = {name: RNG.random(4 * n, np.float32) for name in "ab"}
    (stats,) = system.check("outer_products", [Launch({**floats, "c": np.zeros(16, np.float32)}, {"n": n})])
    loop = max(stats["loops"], key=lambda loop: loop["iterations"])
    assert loop["iterations"] == 16 * n and loop["measured_ii"] <= 1.02, loop

"""Copies of a kernel that share its iterations, with and without memory parts, and loops that are marked, in simulated
hardware: bytes of the interpreter, with random stalls."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from . import test_feed_forward
from .groups import ChannelSystem
from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parents[1] / "feed_forward" / "copies.cl").read_text()
SIZE = 40
SEEDS = (0, 1, 2)


def least(n: int) -> Launch:
    found = test_feed_forward.least(n)
    return replace(found, buffers={**found.buffers, "again": np.zeros(1, np.int32)})


def totals(n: int) -> Launch:
    found = test_feed_forward.least(n)
    v = np.random.default_rng(n + 9).random(SIZE).astype(np.float32)
    of_graph = {name: found.buffers[name] for name in ("row", "value")}
    buffers = of_graph | {
        "v": v,
        "best": np.zeros(1, np.float32),
        "sums": np.zeros(2, np.int32),
        "out": np.zeros(SIZE, np.int32),
    }
    return replace(found, buffers=buffers)


def strided(start: int, n: int) -> Launch:
    return Launch({"a": np.arange(SIZE, dtype=np.int32)}, {"from": start, "n": n})


def test_copies_in_hardware():
    system = ChannelSystem(SOURCE, "de5net", probe=True)
    try:
        parts = {k.name: len(k.layout.parts) for k in system.result.interface.kernels}
        assert parts == {"least": 1, "strided": 2, "rows": 3, "marked": 1, "totals": 3}
        measured, *_ = system.check("least", [least(n) for n in (SIZE, 0, 1, -1, SIZE)], SEEDS)
        for part in (measured, *measured["parts"]):
            assert part["cycles"] == measured["cycles"] == sum(one["cycles"] for one in part["accounts"])
        for name in ("rows", "marked"):
            measured, *_ = system.check(name, [test_feed_forward.least(n) for n in (SIZE, 0, 1)], SEEDS)
            for part in (measured, *measured["parts"]):
                assert part["cycles"] == measured["cycles"] == sum(one["cycles"] for one in part["accounts"])
            waits = {one["cause"] for part in (measured, *measured["parts"]) for one in part["accounts"]}
            assert any(cause.startswith("waiting for load of ") for cause in waits)
            assert not any("channel" in cause for cause in waits)
        measured, *_ = system.check("totals", [totals(n) for n in (SIZE, 1, 0, -1)], SEEDS)
        assert "waiting for sum of totals_copy" in {one["cause"] for one in measured["accounts"]}
        system.check("strided", [strided(2, SIZE - 1), strided(5, 5), strided(9, 8), strided(0, -1)], SEEDS)
    finally:
        system.close()

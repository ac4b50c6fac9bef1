"""Copies of a kernel that share its iterations, with and without memory parts, and loops that are marked, in simulated
hardware: bytes of the interpreter, with random stalls."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hls.driver import plan_text
from hls.options import Options
from hls.planning.memory import LsuKind
from hls.target.board import load_board
from tests.feed_forward.table import replayed

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


def rows(n: int) -> Launch:
    found = test_feed_forward.least(n)
    return replace(found, buffers={**found.buffers, "sums": np.zeros(2, np.int32)})


def marked(n: int) -> Launch:
    found = test_feed_forward.least(n)
    return replace(found, buffers={name: found.buffers[name] for name in ("row", "column", "out")})


def paths(n: int) -> Launch:
    distances = np.random.default_rng(n).integers(1, 99, (n, n)).astype(np.int32)
    np.fill_diagonal(distances, 0)
    return Launch({"d": distances.reshape(-1)}, {"n": n, "k": n // 3})


def strided(start: int, n: int) -> Launch:
    return Launch({"a": np.arange(SIZE, dtype=np.int32)}, {"from": start, "n": n})


def test_copies_in_hardware():
    system = ChannelSystem(SOURCE, "de5net", probe=True)
    try:
        parts = {k.name: len(k.layout.parts) for k in system.result.interface.kernels}
        assert parts == {"least": 1, "strided": 2, "rows": 3, "marked": 1, "paths": 1}
        units = [access for k in system.result.kernels for access in k.memory.accesses.values()]
        sharing = {(one.memory, one.shared.name) for one in units if one.unit is LsuKind.SHARED_LOAD}
        assert sharing == {("value", "least.value.0"), ("value", "rows.value.0")}
        measured, *_ = system.check("least", [least(n) for n in (SIZE, 0, 1, -1, SIZE)], SEEDS)
        for part in (measured, *measured["parts"]):
            assert part["cycles"] == measured["cycles"] == sum(one["cycles"] for one in part["accounts"])
        launch = least(SIZE)
        plan = plan_text(SOURCE, load_board("de5net"), Options(copy_bytes=0), "kernel.cl")
        predicted, _ = replayed(plan, "least", (launch.buffers, launch.scalars))
        assert abs(predicted - measured["cycles"]) < 0.05 * measured["cycles"], (predicted, measured["cycles"])
        waits = {}
        for name, launch in (("rows", rows), ("marked", marked)):
            measured, *_ = system.check(name, [launch(n) for n in (SIZE, 0, 1, -1)], SEEDS)
            for part in (measured, *measured["parts"]):
                assert part["cycles"] == measured["cycles"] == sum(one["cycles"] for one in part["accounts"])
            waits[name] = {one["cause"] for part in (measured, *measured["parts"]) for one in part["accounts"]}
            assert not any("channel" in cause for cause in waits[name])
        assert {"waiting for sum of rows_copy", "waiting for load of value"} <= waits["rows"]
        assert "waiting for load of row" in waits["marked"]
        system.check("paths", [paths(n) for n in (11, 1)], SEEDS)
        system.check("strided", [strided(2, SIZE - 1), strided(5, 5), strided(9, 8), strided(0, -1)], SEEDS)
    finally:
        system.close()

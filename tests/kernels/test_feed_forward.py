"""Kernels of a memory part and a compute part in simulated hardware: bytes of the interpreter, with random stalls, one
launch after the other and beside others, whatever their sizes."""

from pathlib import Path

import numpy as np
import pytest

from hls.profile.text import render

from .groups import ChannelSystem
from .system import Launch

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parents[1] / "feed_forward" / "kernels.cl").read_text()
SIZE = 40
SEEDS = (0, 1, 2)


def least(n: int) -> Launch:
    rng = np.random.default_rng(n + 5)
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 5, SIZE))]).astype(np.int32)
    column = rng.integers(0, 64, row[-1]).astype(np.int32)
    value = rng.integers(0, 1000, 64).astype(np.int32)
    return Launch({"row": row, "column": column, "value": value, "out": np.zeros(SIZE, np.int32)}, {"n": n})


def in_place(n: int) -> Launch:
    rng = np.random.default_rng(n)
    a, at = rng.integers(-1000, 1000, (2, SIZE)).astype(np.int32)
    return Launch({"a": a, "at": at}, {"n": n})


def above(n: int) -> Launch:
    rng = np.random.default_rng(n)
    a, b = rng.integers(-9, 9, (2, 12 * 12)).astype(np.int32)
    return Launch({"a": a, "b": b}, {"n": n})


def sums(n: int) -> Launch:
    rng = np.random.default_rng(n)
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 30, SIZE))]).astype(np.int32)
    v = rng.random(row[-1]).astype(np.float32)
    return Launch({"row": row, "v": v, "out": np.zeros(SIZE, np.float32)}, {"n": n})


def items(size: int, local: int) -> Launch:
    rng = np.random.default_rng(size)
    a, at = rng.integers(-1000, 1000, (2, SIZE)).astype(np.int32)
    buffers = {"a": a, "at": at, "out": np.zeros(SIZE, np.int32)}
    return Launch(buffers, {}, global_size=(size,), local_size=(local,))


def test_split_kernels_in_hardware():
    system = ChannelSystem(SOURCE, "de5net", probe=True)
    try:
        assert {k.name: len(k.layout.parts) for k in system.result.interface.kernels} == {
            "least": 1, "in_place": 1, "items": 1, "sums": 1, "pass_on": 1, "collect": 0, "above": 1
        }  # fmt: skip
        measured, *_ = system.check("least", [least(n) for n in (SIZE, 0, 1, -1, SIZE)], SEEDS)
        _check_statistics(measured)
        system.check("in_place", [in_place(n) for n in (SIZE, 0, 1)], SEEDS)
        system.check("above", [above(n) for n in (12, 1, 2)], SEEDS)
        system.check("items", [items(32, 8), items(1, 1)], SEEDS)
        *_, measured = system.check("sums", [sums(n) for n in (0, 1, SIZE)], (1, 2, 0))
        assert max(one["measured_ii"] for one in measured["loops"] if one["iterations"] > SIZE) < 2  # one takes 7 alone
        values = np.arange(SIZE, dtype=np.int32)
        together = {
            "pass_on": Launch({"a": values}, {"n": SIZE}),
            "collect": Launch({"out": np.zeros(1, np.int32)}, {}),
            "least": least(SIZE),
        }
        system.check_together(together, SEEDS)
    finally:
        system.close()


def _check_statistics(measured: dict) -> None:
    """Waits are told as waits for loads; the accounts of each part sum to the cycles of the launch."""
    (memory,) = measured["parts"]
    assert (measured["kernel"], memory["kernel"]) == ("least", "least_memory")
    for part in (measured, memory):
        assert part["cycles"] == measured["cycles"] == sum(one["cycles"] for one in part["accounts"])
    causes = {one["cause"]: one["line"] for one in measured["accounts"]}
    assert causes["waiting for load of value"] == 12
    assert not any("channel" in cause for cause in causes)
    assert "waiting for room for load of value" in {one["cause"] for one in memory["accounts"]}
    assert {one["buffer"] for one in measured["memory"]} == {"out"}
    assert {one["buffer"] for one in memory["memory"]} == {"row", "column", "value"}
    assert "least_memory: " in render(measured, SOURCE)

"""Nests that are one loop, as their rows would wait for external memory: bytes of the interpreter, with stalls."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "waiting_nests.cl").read_text()


def launch(n: int, seed: int) -> Launch:
    """Rows without an edge, and edges from a node to itself and to the one before it, are among them."""
    rng = np.random.default_rng(seed)
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n))]).astype(np.int32)
    edge = rng.integers(0, n, max(64, row[-1])).astype(np.int32)
    of = np.repeat(np.arange(n), np.diff(row))
    near = rng.random(of.size) < 0.4
    edge[: of.size][near] = np.maximum(of[near] - 1, 0)
    return Launch({"row": row, "edge": edge, "a": rng.permutation(max(8, n) * n).astype(np.int32)}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(n, seed) for n, seed in ((1, 0), (9, 2), (12, 3))], (0, 1))
    (found,) = [one for one in system.result.kernels if one.plan.name == kernel]
    assert [one.how for one in found.merged if one.how == "coalesced"] == ["coalesced"]

"""A nest that gathers what its outer loop stores, as one loop in hardware: bytes of the interpreter, with stalls."""

import numpy as np
import pytest

from tests.benchmarks.suite import CASES

from .system import KernelSystem, Launch

pytestmark = pytest.mark.verilator
(CASE,) = [one for one in CASES if one.kernel == "components"]
NODES = 12


def _launch(seed: int) -> Launch:
    """Rows without an edge, and edges from a node to itself and to the one before it, are among them. One round: more
    would lead to the same labels in any order."""
    rng = np.random.default_rng(seed)
    row = np.concatenate([[0], np.cumsum(rng.integers(0, 4, NODES))]).astype(np.int32)
    edge = rng.integers(0, NODES, max(1, row[-1])).astype(np.int32)
    near = rng.random(edge.size) < 0.4  # the label that the row before stored last
    of = np.repeat(np.arange(NODES), np.diff(row)) if row[-1] else np.zeros(1, int)
    edge[near] = np.maximum(of[near] - 1, 0)
    label = rng.permutation(NODES).astype(np.int32)
    return Launch({"row": row, "edge": edge, "label": label}, {"nodes": NODES, "rounds": 1})


def test_labels_spread_with_stalls():
    source = CASE.source[CASE.source.index("__kernel void components") :]
    system = KernelSystem(source[: source.index("\n}\n") + 3], "ecp5_onchip")
    try:
        (kernel,) = system.result.kernels
        assert [one.how for one in kernel.merged] == ["coalesced"]
        system.check("components", [_launch(seed) for seed in range(6)], seeds=range(4))
    finally:
        system.close()

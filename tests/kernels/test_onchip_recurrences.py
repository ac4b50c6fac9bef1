"""Recurrences of plain kernels on memory on the chip, in hardware: bytes of the interpreter, with stalls. A nest that
gathers what its outer loop stores, as one loop; late choices whose two sides are computed apart; rows whose first
element is stored before them; branches that share the store to an array in registers; triangular systems by columns;
sums in elements that the next iteration may come to again."""

import re

import numpy as np
import pytest

from hls.ir import Attr
from tests.benchmarks.suite import CASES

from .system import KernelSystem, Launch

pytestmark = pytest.mark.verilator
#: kernels of the benchmarks, with the intervals of their loops
INTERVALS = {
    "components": [1, 1],
    "edit_distance": [1, 1, 1],
    "adpcm": [5],
    "interpreter": [5],
    "trisolv": [1, 1, 41],
    "md_grid": [1] * 8,
}
NODES = 12
#: rows of a distance whose terms are added behind the choice
WARPING = """
__kernel void warping(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n)
{
    int row[33];
    for (int j = 0; j <= n; j++)
        row[j] = 1 << 20;
    row[0] = 0;
    for (int i = 0; i < n; i++) {
        int corner = row[0];
        row[0] = 1 << 20;
        for (int j = 1; j <= n; j++) {
            int above = row[j];
            row[j] = abs(a[i] - b[j - 1]) + min(min(above, corner), row[j - 1]);
            corner = above;
        }
    }
    for (int j = 0; j <= n; j++)
        out[j] = row[j];
}
"""
#: an upper triangle from its end, where some terms are left out, in each of a few layers
BACKWARD = """
__kernel void backward(__global const float *restrict u, __global float *restrict y, int n, int layers)
{
    for (int k = 0; k < layers; k++)
        for (int i = n - 1; i >= 0; i--) {
            for (int j = n - 1; j > i; j--)
                if (u[i * n + j] > 0)
                    y[i] -= u[i * n + j] * y[j];
            y[i] = y[i] * 0.75f + k;
        }
}
"""
#: elements that one outer iteration after the other adds sums to: in a buffer, and in an array, where they are clipped;
#: and that it replaces where something is greater
GATHERED = """
__kernel void gathered(__global const int *restrict count, __global const int *restrict a, __global int *restrict out,
                       int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < count[i]; j++)
            for (int k = 0; k < m; k++)
                out[j & 1] += a[i * m + k] * (j + 1);
}
__kernel void clipped(__global const int *restrict count, __global const int *restrict a, __global int *restrict out,
                      int n, int m)
{
    int most[4];
    for (int i = 0; i < 4; i++)
        most[i] = out[i];
    for (int i = 0; i < n; i++) {
        int sum = most[count[i]];
        for (int k = 0; k < m; k++)
            sum -= a[i * m + k];
        most[count[i]] = sum > 99 ? 99 : sum;
    }
    for (int i = 0; i < 4; i++)
        out[i] = most[i];
}
__kernel void greatest(__global const int *restrict count, __global const int *restrict a, __global int *restrict out,
                       int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            if (a[i * m + k] > out[count[i]])
                out[count[i]] = a[i * m + k];
}
"""


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


def _text(name: str) -> str:
    """The kernel of a benchmark, with what its file has for it alone."""
    (case,) = [one for one in CASES if one.kernel == name]
    begin = case.source.index(f"__kernel void {name}(")
    constants = re.findall(r"^__constant .*;$", case.source[:begin], re.MULTILINE)
    return "\n".join([*constants, case.source[begin : case.source.index("\n}\n", begin) + 3]])


def _launches() -> dict[str, list[Launch]]:
    rng, number = np.random.default_rng(4), np.int32
    letters = [rng.integers(0, 3, 32).astype(np.uint8) for _ in range(2)]
    series = [rng.integers(-99, 99, 32).astype(number) for _ in range(2)]
    samples = rng.integers(-(1 << 15), 1 << 15, 60).astype(np.int16)
    sizes = (17, 1, 0)
    (machine,) = [one for one in CASES if one.kernel == "interpreter"]
    program, memory, out, _ = machine.arguments()
    matrix, vectors = rng.normal(size=(17, 17)), [rng.normal(size=17).astype(np.float32) for _ in range(3)]
    of_each, places, forces = (
        rng.integers(0, most, size).astype(number) for most, size in ((4, 8), (16, 32), (99, 32))
    )
    matrix = (matrix + 9 * np.eye(17)).astype(np.float32).reshape(-1)
    return {
        "components": [_launch(seed) for seed in range(6)],
        "edit_distance": [
            Launch({"a": letters[0], "b": letters[1], "out": np.zeros(1, number)}, {"n": n}) for n in sizes
        ],
        "warping": [Launch({"a": series[0], "b": series[1], "out": np.zeros(33, number)}, {"n": n}) for n in sizes],
        "interpreter": [
            Launch({"program": program, "memory": memory, "out": out}, {"most": most}) for most in (120, 1, 0)
        ],
        "adpcm": [Launch({"in": samples, "out": np.zeros(60, np.uint8)}, {"n": n}) for n in (60, 1, 0)],
        "trisolv": [Launch({"l": matrix, "x": vectors[0], "b": vectors[1]}, {"n": n}) for n in sizes],
        **{
            name: [
                Launch({"count": of_each, "a": series[0], "out": series[1][:4].copy()}, {"n": n, "m": m})
                for n, m in ((8, 3), (8, 1), (8, 0), (0, 3))
            ]
            for name in ("gathered", "clipped", "greatest")
        },
        "md_grid": [
            Launch({"count": full, "position": places, "force": forces}, {"side": 2}) for full in (of_each, 0 * of_each)
        ],
        "backward": [Launch({"u": matrix, "y": vectors[2]}, {"n": n, "layers": 2}) for n in sizes],
    }


def test_bytes_with_stalls():
    system = KernelSystem("\n".join([*map(_text, INTERVALS), WARPING, BACKWARD, GATHERED]), "ecp5_onchip")
    try:
        kernels = {one.function.name: one for one in system.result.kernels}
        assert [one.how for one in kernels["components"].merged] == ["coalesced"]
        for name in ("trisolv", "backward"):
            assert any(loop.attrs.get(Attr.INTERCHANGED) for loop in kernels[name].plan.loops)
        for name, expected in INTERVALS.items():
            assert [at.ii for at in kernels[name].plan.loops.values()] == expected
        for name, launches in _launches().items():
            system.check(name, launches, seeds=range(4))
    finally:
        system.close()

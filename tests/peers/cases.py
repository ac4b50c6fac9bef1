"""The kernels of the comparison, their reference results, and the figures of the other compiler."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from hls.driver import Result
from tests.boards.onchip import build

__all__ = ["CASES", "Case", "Peer", "compiled"]

KERNELS = Path(__file__).parent / "kernels"
RNG_SEED = 1


@dataclass(frozen=True)
class Peer:
    """What the other compiler needs: cycles, MHz, LUT4."""

    cycles: int
    mhz: float
    lut4: int

    @property
    def microseconds(self) -> float:
        return self.cycles / self.mhz


@dataclass(frozen=True)
class Case:
    """One kernel at one element type.

    ``lanes`` elements make a word of a buffer's RAM. ``arrays`` makes the inputs and outputs by parameter name,
    ``golden`` the contents of the last of them after the run.
    """

    name: str
    file: str
    type: str
    lanes: int
    peer: Peer
    arrays: Callable[[np.random.Generator, type], dict[str, np.ndarray]]
    golden: Callable[..., np.ndarray]
    options: dict = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.name} {self.type}"

    def inputs(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The arrays of a run, and what the last of them must be after it."""
        rng = np.random.default_rng(RNG_SEED)
        arrays = self.arrays(rng, np.int32 if self.type == "int" else np.float32)
        return arrays, self.golden(*arrays.values())


def compiled(case: Case) -> Result:
    """The case as hardware for the board with memory on the chip, started by wires."""
    source = (KERNELS / case.file).read_text()
    defines = {"T": case.type, "LANES": str(case.lanes)}
    return build(source, defines=defines, include_dirs=(KERNELS,), control="wires", **case.options)


def values(rng, kind, count: int) -> np.ndarray:
    """Small whole numbers: a sum of their products is exact in a float, whatever its order."""
    return rng.integers(-60, 60, count).astype(kind)


def _two(first: int, second: int, out: int):
    def arrays(rng, kind):
        return {"a": values(rng, kind, first), "b": values(rng, kind, second), "c": np.zeros(out, kind)}

    return arrays


def _histogram_arrays(rng, kind):
    return {"a": rng.integers(0, 256, 1024).astype(kind), "c": np.full(256, -1, kind)}


def _sparse(rng, kind):
    first = np.concatenate([[0], np.cumsum(rng.integers(4, 13, 64))]).astype(np.int32)
    elements = int(first[-1])
    return {
        "first": first,
        "column": rng.integers(0, 64, elements).astype(np.int32),
        "value": values(rng, kind, elements),
        "x": values(rng, kind, 64),
        "y": np.zeros(64, kind),
    }


def _dot(a, b, c):
    return np.array([np.sum(a * b)], a.dtype)


def _fir(a, b, c):
    return np.convolve(a, b)[: a.size].astype(a.dtype)


def _matmul(a, b, c):
    return (a.reshape(32, 32) @ b.reshape(32, 32)).reshape(-1)


def _stencil(a, b, c):
    field_, weights, result = a.reshape(64, 64), b.reshape(3, 3), c.reshape(64, 64).copy()
    result[1:63, 1:63] = sum(field_[v : v + 62, u : u + 62] * weights[v, u] for v in range(3) for u in range(3))
    return result.reshape(-1)


def _spmv(first, column, value, x, y):
    products = value * x[column]
    return np.array([products[low:high].sum() for low, high in pairwise(first)], value.dtype)


_VECTOR, _FIR, _MATRIX, _FIELD = (
    _two(1024, 1024, 1024),
    _two(1024, 32, 1024),
    _two(1024, 1024, 1024),
    _two(4096, 9, 4096),
)

#: PandA-bambu 2024.10, the better of plain and tuned, LFE5U-85F grade 6, by the same tools
CASES = (
    Case("vecadd", "vecadd.cl", "int", 8, Peer(1025, 144, 49), _VECTOR, lambda a, b, c: a + b),
    Case("dot", "dot.cl", "int", 8, Peer(1281, 90, 101), _two(1024, 1024, 1), _dot),
    Case("fir", "fir_parallel.cl", "int", 1, Peer(6162, 69, 1442), _FIR, _fir),
    Case("matmul", "matmul.cl", "int", 16, Peer(22081, 61, 1409), _MATRIX, _matmul),
    Case("stencil", "stencil_lines.cl", "int", 1, Peer(38508, 76, 466), _FIELD, _stencil),
    Case(
        "histogram",
        "histogram.cl",
        "int",
        4,
        Peer(3585, 146, 117),
        _histogram_arrays,
        lambda a, c: np.bincount(a, minlength=256).astype(np.int32),
    ),
    Case("spmv", "spmv.cl", "int", 1, Peer(1973, 84, 493), _sparse, _spmv),
    Case("vecadd", "vecadd.cl", "float", 2, Peer(3585, 119, 558), _VECTOR, lambda a, b, c: a + b),
    Case("dot", "dot_in_turn.cl", "float", 1, Peer(9729, 66, 1199), _two(1024, 1024, 1), _dot),
    Case("fir", "fir_blocks.cl", "float", 4, Peer(492545, 84, 3189), _FIR, _fir),
    Case("matmul", "matmul.cl", "float", 8, Peer(269857, 49, 4228), _MATRIX, _matmul),
    Case("stencil", "stencil_rows.cl", "float", 1, Peer(488256, 83, 1609), _FIELD, _stencil),
    Case("spmv", "spmv.cl", "float", 1, Peer(8669, 81, 1450), _sparse, _spmv),
)

"""Vectors and structs in hardware: the right bytes, and one access for each access of the source."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch

SOURCE = (Path(__file__).parent / "vectors.cl").read_text()
POINT = np.dtype([("x", "f4"), ("y", "f4"), ("id", "i4"), ("flags", "u4")])

pytestmark = pytest.mark.verilator


def numbers(kind: str, n: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if np.dtype(kind).kind == "f":
        return rng.standard_normal(n).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max, n, kind, endpoint=True)


def points(n: int) -> np.ndarray:
    data = np.zeros(n, POINT)
    for name in POINT.names:
        data[name] = numbers(POINT[name].str, n)
    return data


def launches() -> dict[str, Launch]:
    n = 40
    return {
        "scale4": Launch(
            {"a": numbers("f4", 4 * n), "out": np.zeros(4 * n, "f4")}, {"by": np.array([2, 0.5, -1, 3], "f4"), "n": n}
        ),
        "unaligned": Launch({"a": numbers("i4", 4 * n + 8), "out": np.zeros(4 * n, "i4")}, {"start": 3, "n": n}),
        "three": Launch({"a": numbers("i2", 4 * n), "out": np.zeros(3 * n, "i2")}, {"n": n}),
        "points": Launch({"in": points(n).view("u4"), "out": np.zeros(4 * n, "u4")}, {"origin": points(1), "n": n}),
        "exact_widths": Launch(
            {"in": numbers("u1", 24 * n), "out": np.zeros(24 * n, "u1"), "small": numbers("u2", n)}, {"n": n, "by": 777}
        ),
        "wide": Launch({"a": numbers("i8", 8 * n), "out": np.zeros(16 * n, "u1")}, {}, (n,)),
    }


@pytest.mark.parametrize("kernel", launches())
def test_same_bytes_as_the_interpreter(system, kernel):
    system.check(kernel, [launches()[kernel]], seeds=(0, 3))


@pytest.mark.parametrize(
    "kernel, sizes",
    [("scale4", [16, 16]), ("points", [16, 16]), ("wide", [16, 64]), ("unaligned", [16, 16, 16]), ("three", [6, 8])],
)
def test_each_access_is_as_wide_as_it_can_be(system, kernel, sizes):
    """``a + start`` of an unknown start is only aligned to its elements, whose accesses are joined; vstore3 writes
    three elements and no fourth; a vector that is read twice is loaded once."""
    memory = next(k.memory for k in system.result.kernels if k.function.name == kernel)
    assert sorted(a.bytes for a in memory.accesses.values()) == sizes
    unaligned = [a for a in memory.accesses.values() if a.lsu == "burst-coalesced non-aligned"]
    assert len(unaligned) == (kernel in ("unaligned", "three"))

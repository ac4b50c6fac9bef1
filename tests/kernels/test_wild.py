"""Some of the kernels in tests/hls/frontend/wild, whose comments say what they test, on the board; there PoCL or a C
compiler confirms their bytes."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import KernelSystem, Launch

WILD = Path(__file__).parents[1] / "hls/frontend/wild"
FILES = ["addresses", "anonymous", "duff", "goto_back", "old_style", "other_pointers", "c/literals"]


def source() -> str:
    """The files as one program, each kernel under its own name."""
    parts = []
    for name in FILES:
        arguments = "__global const int *a, __global const float *f, __global int *o, __global float *g, int n"
        parts.append(
            f"#undef KERNEL\n#define KERNEL __kernel void {Path(name).name}({arguments})\n"
            + (WILD / f"{name}.cl").read_text()
        )
    return "\n".join(parts)


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(source())
    yield system
    system.close()


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", [Path(name).name for name in FILES])
def test_bytes(system, kernel):
    def launch(n: int) -> Launch:
        rng = np.random.default_rng(n)
        return Launch(
            {
                "a": rng.integers(-99, 99, 64, "i4"),
                "f": (rng.integers(-512, 512, 64) / 8).astype("f4"),
                "o": np.full(64, -7, "i4"),
                "g": np.full(64, 0.25, "f4"),
            },
            {"n": n},
        )

    system.check(kernel, [launch(n) for n in (5, 8)], (0, 1))

"""-cl-denorms-are-zero on the simulated board: the same bits as interpreter and emulator, for operands and results
that are subnormal or nearly so."""

import numpy as np
import pytest

from sim.emulator import Emulator
from tests.kernels.system import KernelSystem, Launch
from tests.sim.emulator.both import ONE_ITEM

pytestmark = pytest.mark.verilator
SOURCE = """
__kernel void flushed(__global const float *restrict a, __global float *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    float x = a[2 * i], y = a[2 * i + 1];
    out[8 * i] = x + y;
    out[8 * i + 1] = x - y;
    out[8 * i + 2] = x * y;
    out[8 * i + 3] = x / y;
    out[8 * i + 4] = fma(x, y, a[i]);
    out[8 * i + 5] = sqrt(x);
    out[8 * i + 6] = x * 1.0f;
    out[8 * i + 7] = fmin(x, y);
  }
}
"""
COUNT = 96


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE, flush=True)
    yield system
    system.close()


def launch(n):
    rng = np.random.default_rng(8)
    exponent = rng.choice([0, 0, 1, 2, 63, 64, 103, 127, 190, 254, 255], 2 * COUNT).astype(np.uint32)
    mantissa = rng.choice([0, 1, 0x7FFFFF, 0x7FFFFE, 0x400000], 2 * COUNT).astype(np.uint32)
    mantissa[::3] = rng.integers(0, 1 << 23, len(mantissa[::3]))
    values = (rng.integers(0, 2, 2 * COUNT).astype(np.uint32) << 31 | exponent << 23 | mantissa).view(np.float32)
    return Launch({"a": values, "out": np.full(8 * COUNT, 7, np.float32)}, {"n": n})


def test_bytes(system):
    system.check("flushed", [launch(n) for n in (0, COUNT)], (0, 1))


def test_the_emulator_agrees(system):
    one = launch(COUNT)
    emulated = {name: array.copy() for name, array in one.buffers.items()}
    Emulator(system.result.module).run("flushed", emulated, one.scalars, ONE_ITEM)
    assert emulated["out"].tobytes() == system.expected("flushed", one)["out"].tobytes()


def test_subnormal_numbers_are_gone(system):
    out = system.expected("flushed", launch(COUNT))["out"].reshape(COUNT, 8)[:, :7]
    assert not ((np.abs(out) < np.finfo(np.float32).tiny) & (out != 0)).any() and (out == 0).any()

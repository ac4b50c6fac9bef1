"""-fpc on the simulated board: hardware, emulator and interpreter compute the same bits, under any stalls."""

import numpy as np
import pytest

from hls.ir import walk
from sim.emulator import Emulator
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.kernels.test_arithmetic import operands
from tests.sim.emulator.both import ONE_ITEM

pytestmark = pytest.mark.verilator
SOURCE = """
__kernel void of_float(__global const float *restrict a, __global float *restrict out, int n) {
  float s = 0, t = 1;
  for (int i = 0; i < n; i++) {
    float x = a[i], y = a[i + 1], z = a[n - i];
    out[4 * i] = x * y - z;
    out[4 * i + 1] = x * y + y * z - z * x;
    out[4 * i + 2] = x - y - z + x * 0x1p-20f;
    s += x * z - y * y;
    t = t * 0.5f + x;
    out[4 * i + 3] = s;
  }
  out[4 * n] = t;
}
__kernel void of_half(__global const half *restrict a, __global half *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    half x = a[i], y = a[i + 1], z = a[n - i];
    out[4 * i] = z - x * y;
    out[4 * i + 1] = x * y + y * z + z * x + x;
    out[4 * i + 2] = x - y - z;
  }
}
__kernel void of_double(__global const double *restrict a, __global double *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    double x = a[i], y = a[i + 1], z = a[n - i];
    out[4 * i] = x * y - x * z;
    out[4 * i + 1] = x - y - z;
  }
}
"""
TYPES = {"of_double": np.float64, "of_half": np.float16, "of_float": np.float32}


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE, fpc=True)
    yield system
    system.close()


def launch(kernel, n):
    values = operands(TYPES[kernel])
    return Launch({"a": values, "out": np.full(4 * len(values), 7, values.dtype)}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (0, 1, len(operands(TYPES[kernel])) - 1)], (0, 1))


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_the_emulator_agrees(system, kernel):
    one = launch(kernel, 60)
    emulated = {name: array.copy() for name, array in one.buffers.items()}
    Emulator(system.result.module).run(kernel, emulated, one.scalars, ONE_ITEM)
    expected = system.expected(kernel, one)
    assert emulated["out"].tobytes() == expected["out"].tobytes()


def test_both_operations_are_there(system):
    assert {"fma", "fsum"} <= {op.opcode for kernel in system.result.kernels for op in walk(kernel.function.body)}
